/** A socket is used only where no other user can have put it. */
import { chmodSync, lchownSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { RunDirectory } from "../src/resident.ts";

const isRoot = process.getuid?.() === 0;
const STRANGER = 54_321;
const CLOSERS: (() => void)[] = [];

afterEach(() => {
  for (const close of CLOSERS.splice(0)) close();
});

/** A run directory with a socket that a process of this user listens on. */
async function listening(): Promise<{ home: string; run: RunDirectory }> {
  const home = mkdtempSync(join(tmpdir(), "belay-run-"));
  CLOSERS.push(() => rmSync(home, { recursive: true, force: true }));
  const run = new RunDirectory(home);
  run.create();
  await listen(run.socket);
  return { home, run };
}

async function listen(path: string): Promise<void> {
  const server: Server = createServer();
  CLOSERS.push(() => server.close());
  await new Promise<void>((done) => server.listen(path, done));
}

describe("[R142] a socket is taken for the resident process's own", () => {
  test("where the user alone can have made it", async () => {
    const { run } = await listening();
    expect(run.hasPrivateSocket).toBe(true);
  });

  test("not in a directory that others may enter", async () => {
    const { run } = await listening();
    chmodSync(run.path, 0o711);
    expect(run.hasPrivateSocket).toBe(false);
  });

  test("not behind a link", async () => {
    const { home, run } = await listening();
    const other = new RunDirectory(mkdtempSync(join(home, "other-")));
    symlinkSync(run.path, other.path);
    expect(other.hasPrivateSocket).toBe(false);
    expect(() => other.create()).toThrow(/not this user's own directory/);
  });

  test("not where others may put another directory in its place", async () => {
    const { home, run } = await listening();
    chmodSync(home, 0o777);
    expect(run.hasPrivateSocket).toBe(false);
    chmodSync(home, 0o1777);
    expect(run.hasPrivateSocket).toBe(true);
  });

  test.skipIf(!isRoot)("not when the directory or the socket is another user's", async () => {
    const { run } = await listening();
    lchownSync(run.socket, STRANGER, STRANGER);
    expect(run.hasPrivateSocket).toBe(false);
    lchownSync(run.socket, 0, 0);
    lchownSync(run.path, STRANGER, STRANGER);
    expect(run.hasPrivateSocket).toBe(false);
    expect(() => run.create()).toThrow(/not this user's own directory/);
  });

  test("nor in the shared temporary directory, when its name there was taken", async () => {
    const { home } = await listening();
    const temporary = join(home, "tmp");
    mkdirSync(temporary, { mode: 0o1777 });
    const before = process.env["TMPDIR"];
    process.env["TMPDIR"] = temporary;
    CLOSERS.push(() =>
      before === undefined ? delete process.env["TMPDIR"] : (process.env["TMPDIR"] = before),
    );
    const far = new RunDirectory(join(home, "x".repeat(120)));
    const directory = join(far.socket, "..");
    expect(directory.startsWith(temporary)).toBe(true);
    const elsewhere = join(home, "elsewhere");
    mkdirSync(elsewhere, { mode: 0o700 });
    symlinkSync(elsewhere, directory);
    expect(() => far.create()).toThrow(/not this user's own directory/);
    rmSync(directory);
    far.create();
    await listen(far.socket);
    expect(far.hasPrivateSocket).toBe(true);
    chmodSync(directory, 0o777);
    expect(far.hasPrivateSocket).toBe(false);
  });
});

test("[R146] its directories are the user's alone, whatever the umask", () => {
  const home = mkdtempSync(join(tmpdir(), "belay-run-"));
  CLOSERS.push(() => rmSync(home, { recursive: true, force: true }));
  const umask = process.umask(0o777);
  CLOSERS.push(() => process.umask(umask));
  const run = new RunDirectory(home);
  run.create();
  expect(statSync(run.path).mode & 0o777).toBe(0o700);
});
