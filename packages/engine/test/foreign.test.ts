/** What does not belong to the workspace any more: directories that became something else, a store that was moved away. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findWorkspace, openWorkspace, type KeptReason } from "../src/index.ts";
import { inWorkspace, type TempWorkspace } from "./support/temp-workspace.ts";

const git = (root: string, ...words: string[]) =>
  execFileSync("git", ["-C", root, "-c", "user.name=t", "-c", "user.email=t@t", ...words]);

/** True where this user may mount; the directory is then a mount point. */
function mount(path: string): boolean {
  return spawnSync("mount", ["-t", "tmpfs", "none", path], { stdio: "ignore" }).status === 0;
}

const WAYS: readonly {
  becomes: string;
  reason: KeptReason;
  make: (temp: TempWorkspace) => Promise<boolean>;
}[] = [
  {
    becomes: "a workspace of its own",
    reason: "it is a workspace of its own",
    async make({ root, home }) {
      await (await openWorkspace(join(root, "sub"), { home, nested: true })).close();
      return true;
    },
  },
  {
    becomes: "a linked git worktree",
    reason: "it is a linked git worktree",
    async make({ root }) {
      git(root, "init", "-q");
      git(root, "commit", "-q", "--allow-empty", "-m", "x");
      rmSync(join(root, "sub"), { recursive: true });
      git(root, "worktree", "add", "-q", "sub");
      return true;
    },
  },
  {
    becomes: "a mount point",
    reason: "it is a mount point",
    make: async ({ root }) => mount(join(root, "sub")),
  },
];

test.each(WAYS)(
  "[R115] a directory that became $becomes stays as it is, whatever the target has there, and the preview says why",
  ({ reason, make }) =>
    inWorkspace({ a: "1\n", "sub/x": "1\n", "sub/deep/y": "1\n" }, async (temp) => {
      temp.write("a", "2\n");
      if (!(await make(temp))) return;
      writeFileSync(join(temp.root, "sub/theirs"), "theirs\n");
      try {
        const plan = await temp.workspace.planRestore("1");
        expect(plan.edits.map(({ path }) => path)).toEqual(["a"]);
        expect(plan.kept).toEqual([{ path: "sub", reason }]);
        expect(await temp.workspace.restore(plan)).toMatchObject({ outcome: "applied", modified: 1 });
        expect(temp.read("sub/theirs")).toBe("theirs\n");
        expect(existsSync(join(temp.root, "sub/deep"))).toBe(reason === "it is a workspace of its own");
      } finally {
        spawnSync("umount", [join(temp.root, "sub")], { stdio: "ignore" });
      }
    })(),
);

test("[R115] a directory above one is kept for the true reason", () =>
  inWorkspace({ a: "1\n" }, async (temp) => {
    mkdirSync(join(temp.root, "new/sub"), { recursive: true });
    await (await openWorkspace(join(temp.root, "new/sub"), { home: temp.home, nested: true })).close();
    const { kept } = await temp.workspace.planRestore("1");
    expect(kept).toEqual([{ path: "new", reason: "it holds a workspace of its own" }]);
  })());

test("[R116] a store that was moved away is not made again by a process that watches, and can be put back", () =>
  inWorkspace({ a: "1\n" }, async (temp) => {
    const { store } = temp.workspace;
    await temp.workspace.watch();
    renameSync(store, `${store}-away`);
    temp.write("a", "2\n");
    await expect(temp.workspace.checkpoint()).rejects.toMatchObject({ name: "EngineError" });
    expect(existsSync(store)).toBe(false);
    renameSync(`${store}-away`, store);
    await temp.reopen();
    expect(await temp.workspace.checkpoint()).toMatchObject({ unchanged: false });
  })());

test("[R116] a root that is gone is said when the workspace is opened", () =>
  inWorkspace({ a: "1\n" }, async (temp) => {
    const notices = async () => {
      await using found = await findWorkspace(temp.root, { home: temp.home });
      return found.notices;
    };
    expect(await notices()).toEqual([]);
    renameSync(temp.root, `${temp.root}-away`);
    expect(await notices()).toEqual([expect.stringMatching(/^The directory no longer exists/)]);
    renameSync(`${temp.root}-away`, temp.root);
  })());
