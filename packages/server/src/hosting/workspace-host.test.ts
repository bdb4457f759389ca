import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { attachWorkspace, openWorkspace, type Workspace } from "@belay/engine";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { HostedWorkspace } from "./hosted-workspace.ts";
import { WorkspaceHost } from "./workspace-host.ts";

const MINUTE = 60_000;

let base: string;
let home: string;
let now: number;
let host: WorkspaceHost;
let opened: string[];
const logged: string[] = [];

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "belay-host-")));
  home = join(base, "home");
  now = 1_000_000;
  opened = [];
  logged.length = 0;
  host = newHost();
});
afterEach(async () => {
  await host.close();
  rmSync(base, { recursive: true, force: true });
});

function newHost(
  directory?: string,
  mostWatched?: { readonly copies: number; readonly files: number },
): WorkspaceHost {
  const log = {
    info: (message: string) => void logged.push(message),
    error: (message: string) => void logged.push(message),
  };
  return new WorkspaceHost({
    home,
    directory,
    mostWatched,
    log,
    clock: () => now,
    opened: ({ id }) => void opened.push(id),
  });
}

/** A protected directory with one file; the promise is of its workspace's id. */
async function project(name: string): Promise<{ path: string; id: string }> {
  const path = join(base, name);
  mkdirSync(path);
  writeFileSync(join(path, "a"), "one");
  await using workspace = await openWorkspace(path, { home });
  return { path, id: workspace.id };
}

describe("a workspace is found", () => {
  test("by its id, by its path and by a path in it, and opened once", async () => {
    const { id, path } = await project("p");
    mkdirSync(join(path, "sub"));
    const found = await Promise.all([id, path, join(path, "sub")].map((ref) => host.find(ref)));
    expect(found.map(({ workspace }) => workspace.id)).toEqual([id, id, id]);
    expect(await host.find(id)).toBe(await host.find(path));
    expect((await host.all()).map((each) => [each.id, each.open])).toEqual([[id, true]]);
  });

  test("while it is opened, by a caller that waits, and not by another one", async () => {
    const { id, path } = await project("p");
    expect(await host.findOpen(path, { patienceMs: 0 })).toBeUndefined();
    const found = await host.findOpen(path, { patienceMs: 30_000 });
    expect(found?.workspace.id).toBe(id);
    expect(await host.findOpen(path, { patienceMs: 0 })).toBe(found);
    expect(opened).toEqual([id]);
    expect(await host.findOpen(base, { patienceMs: 30_000 })).toBeUndefined();
  });

  test("by nothing where the process was started in one", async () => {
    const { id, path } = await project("p");
    await expect(host.find(undefined)).rejects.toMatchObject({ code: "WORKSPACE_REQUIRED" });
    await host.close();
    host = newHost(path);
    expect((await host.find(undefined)).workspace.id).toBe(id);
  });

  test("or is not there, which says so", async () => {
    await project("p");
    await expect(host.find("zzzzzzzzzzzzzzzz")).rejects.toMatchObject({
      code: "WORKSPACE_NOT_FOUND",
      details: { facts: { workspace: "zzzzzzzzzzzzzzzz" } },
    });
    await expect(host.find(join(base, "elsewhere"))).rejects.toMatchObject({ code: "WORKSPACE_NOT_FOUND" });
  });

  test("by a thread, in whichever workspace it is", async () => {
    const [first, second] = [await project("p"), await project("q")];
    const thread = await (await host.find(second.id)).workspace.threads.create({ agent: "test" });
    await host.close();
    host = newHost();
    expect((await host.findThread(thread.id)).workspace.id).toBe(second.id);
    await expect(host.findThread("zzzzzzzzzzzzzzzz")).rejects.toMatchObject({
      code: "THREAD_NOT_FOUND",
      details: { facts: { thread: "zzzzzzzzzzzzzzzz", unreadable: [] } },
    });
    expect(opened).toContain(first.id);
  });

  test("where it is now, after its store was attached to another directory", async () => {
    const { id, path } = await project("p");
    await host.find(path);
    const moved = join(base, "moved");
    mkdirSync(moved);
    writeFileSync(join(moved, "a"), "one");
    await (await attachWorkspace(id, moved, { home })).close();
    expect((await host.find(id)).workspace.root).toBe(moved);
    await expect(host.find(path)).rejects.toMatchObject({ code: "WORKSPACE_NOT_FOUND" });
  });
});

test("[R1455] so many working copies are watched and no more, a small one beside them; one that is not used makes room", async () => {
  const ids = [await project("p"), await project("q"), await project("r")].map(({ id }) => id);
  await host.close();
  host = newHost(undefined, { copies: 1, files: 2 });
  const states = async () => (await host.all()).map(({ watching }) => watching?.state ?? "closed").toSorted();
  for (const id of ids) await host.find(id);
  expect(await states()).toEqual(["cold", "live", "live"]);
  // a capture in one that is not watched is a whole one
  const { workspace } = await host.find(ids[2]);
  writeFileSync(join(workspace.root, "a"), "two");
  expect((await workspace.checkpoint()).checkpoint.changes).toMatchObject({ modified: 1 });
  now += 2 * MINUTE;
  await host.find(ids[1]);
  await host.find(ids[2]);
  await host.release();
  expect(await states()).toEqual(["closed", "live", "live"]);
  expect((await host.find(ids[0])).workspace.watching.state).toBe("cold");
});

describe("an idle workspace", () => {
  test("is closed after a while, and opened again by the next request", async () => {
    const { id } = await project("p");
    await host.find(id);
    now += 9 * MINUTE;
    await host.release();
    expect((await host.all())[0]!.open).toBe(true);
    now += 2 * MINUTE;
    await host.release();
    expect((await host.all())[0]).toMatchObject({ open: false, watching: null });
    await host.find(id);
    expect(opened).toEqual([id, id]);
  });

  test("is kept while it is busy", async () => {
    const { id } = await project("p");
    const hosted = await host.find(id);
    const { promise, resolve } = Promise.withResolvers<void>();
    const work = hosted.inTurn(() => promise);
    now += 60 * MINUTE;
    await host.release();
    expect((await host.all())[0]!.open).toBe(true);
    resolve();
    await work;
  });

  test("still knows its plans when it is opened again", async () => {
    const { id, path } = await project("p");
    const before = (await host.find(id)).workspace;
    writeFileSync(join(path, "a"), "two");
    const plan = await before.planRestore("1");
    now += 60 * MINUTE;
    await host.release();
    const after = (await host.find(id)).workspace;
    expect(after).not.toBe(before);
    expect((await after.restore(after.plans.find(after.copyId, plan.id))).outcome).toBe("applied");
    expect(readFileSync(join(path, "a"), "utf8")).toBe("one");
  });

  test("does not give its plans to another", async () => {
    const [first, second] = [await project("p"), await project("q")];
    writeFileSync(join(first.path, "a"), "two");
    const plan = await (await host.find(first.id)).workspace.planRestore("1");
    const { workspace } = await host.find(second.id);
    expect(() => workspace.plans.find(workspace.copyId, plan.id)).toThrow(
      expect.objectContaining({ code: "PLAN_STALE" }),
    );
    await expect(workspace.restore(plan)).rejects.toMatchObject({ code: "PLAN_STALE" });
  });
});

test("work on a workspace is done one after the other, and a failure ends only its own", async () => {
  const hosted = new HostedWorkspace({} as Workspace, 0);
  const order: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const first = hosted.inTurn(async () => {
    await promise;
    order.push("first");
  });
  const second = hosted.inTurn(async () => {
    order.push("second");
    throw new Error("no");
  });
  const third = hosted.inTurn(async () => void order.push("third"));
  expect(hosted.isBusy).toBe(true);
  resolve();
  await first;
  await expect(second).rejects.toThrow("no");
  await third;
  expect(order).toEqual(["first", "second", "third"]);
  expect(hosted.isBusy).toBe(false);
});
