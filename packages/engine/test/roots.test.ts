/** The list of protected directories for the hook's script: what it says after everything that changes the registry. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findWorkspace, listWorkspaces, openWorkspace, removeWorkspace } from "../src/index.ts";

let base: string;
let home: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "belay-roots-")));
  home = join(base, "home");
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const listed = () =>
  readFileSync(join(home, "roots"), "utf8")
    .split("\0")
    .slice(0, -1)
    .map((line) => [line.slice(0, line.indexOf(" ")), line.slice(line.indexOf(" ") + 1)] as const);

async function protect(name: string): Promise<string> {
  const path = join(base, name);
  mkdirSync(path);
  await (await openWorkspace(path, { home })).close();
  return path;
}

test("[R170] the list of roots follows the registry", async () => {
  const [one, two] = [await protect("one"), await protect("two\nlines ü")];
  const inode = (path: string) => String(statSync(path, { bigint: true }).ino);
  expect(listed()).toEqual([
    [inode(one), one],
    [inode(two), two],
  ]);
  const three = join(base, "three");
  renameSync(one, three);
  await (await findWorkspace(three, { home })).close();
  expect(listed().map(([, path]) => path)).toEqual([three, two]);
  rmSync(join(home, "roots"));
  expect(await listWorkspaces({ home })).toHaveLength(2);
  expect(listed().map(([, path]) => path)).toEqual([three, two]);
  expect(existsSync(join(home, "registry.db"))).toBe(true);
  await removeWorkspace(two, { home, purge: false });
  expect(listed().map(([, path]) => path)).toEqual([three]);
});
