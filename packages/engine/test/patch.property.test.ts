/**
 * Patches against the program that has to take them: two random trees, the difference between their checkpoints as a
 * patch, and git itself to apply it. Names, modes, links, moved, empty, binary and large files are all among them.
 * BELAY_FUZZ_RUNS asks for more cases than the default.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, rmdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Workspace } from "../src/index.ts";
import { copyTree } from "./support/copy-tree.ts";
import { inWorkspace, type TempWorkspace } from "./support/temp-workspace.ts";
import { makeEdit, treeEdit, type TreeEdit } from "./support/tree-edits.ts";
import { readTreeMap } from "./support/tree-map.ts";

const RUNS = Number(process.env["BELAY_FUZZ_RUNS"] ?? 40);
const LIMIT_MS = 600_000;

const edits = fc.array(treeEdit, { minLength: 1, maxLength: 12 });

test(
  "[R180] git apply turns one tree into the other, and -R turns it back",
  { timeout: LIMIT_MS },
  async () => {
    await fc.assert(
      fc.asyncProperty(edits, edits, async (before, after) => {
        await inWorkspace({}, (temp) => expectApplicable(temp, before, after))();
      }),
      { numRuns: RUNS },
    );
  },
);

async function expectApplicable(temp: TempWorkspace, before: TreeEdit[], after: TreeEdit[]): Promise<void> {
  for (const edit of before) makeEdit(temp.root, edit);
  const old = await temp.workspace.checkpoint();
  const copy = join(dirname(temp.root), "copy");
  mkdirSync(copy);
  copyTree(temp.root, copy);
  removeEmptyDirectories(copy);
  for (const edit of after) makeEdit(temp.root, edit);
  const now = await temp.workspace.checkpoint();
  const patch = await patchBetween(temp.workspace, old.id, now.id);
  const [then, wanted] = [asGitSees(copy), asGitSees(temp.root)];
  if (patch.length === 0) return expect(then).toEqual(wanted);
  const own = gitsOwnPatch(copy, temp.root);
  for (const [direction, result] of [
    [[], wanted],
    [["-R"], then],
  ] as const) {
    // a link to itself that became a directory is more than git apply can take, also of git's own making
    if (tryApply(copy, own, [...direction, "--check"]) !== "") return;
    apply(copy, patch, [...direction, "--check"]);
    apply(copy, patch, direction);
    expect(asGitSees(copy)).toEqual(result);
  }
}

test(
  "[R180] what random trees seldom have: CRLF, large files, names with spaces, links that become files",
  inWorkspace({ "a b/c": "x\r\ny\r\n", gone: "", "to link": "text\n", moved: "same\n" }, async (temp) => {
    const { root, workspace } = temp;
    const at = (path: string) => join(root, path);
    writeFileSync(at("big.bin"), Buffer.alloc(3 << 20, "\0ab"));
    writeFileSync(at("big.txt"), "line\n".repeat(400_000));
    symlinkSync("moved", at("link"));
    const old = await workspace.checkpoint();
    const copy = join(dirname(root), "copy");
    mkdirSync(copy);
    copyTree(root, copy);
    temp.write("a b/c", "x\r\nz\r\n");
    temp.write("a b b/a b", "");
    temp.write(" leading and trailing ", "no newline");
    temp.write('q"uo\\te\ttab', "1\n");
    temp.remove("gone");
    temp.remove("to link");
    symlinkSync("nowhere at all", at("to link"));
    temp.remove("link");
    temp.write("link", "a file now\n");
    temp.remove("moved");
    mkdirSync(at("moved"));
    temp.write("moved/here", "same\n");
    chmodSync(at("moved/here"), 0o755);
    writeFileSync(at("big.bin"), Buffer.alloc(2 << 20, "\0cd"));
    temp.write("big.txt", `${"line\n".repeat(400_000)}one more\n`);
    const now = await workspace.checkpoint();
    for (const to of [now.id, undefined]) {
      const target = `${copy}-${to}`;
      mkdirSync(target);
      copyTree(copy, target);
      const patch = await patchBetween(workspace, old.id, to);
      apply(target, patch, ["--check"]);
      apply(target, patch, []);
      expect(asGitSees(target)).toEqual(asGitSees(root));
    }
  }),
);

test(
  "[R180] what a patch cannot hold is said in words",
  inWorkspace({ "a.txt": "a\n", "b.txt": "b\n" }, async ({ root, workspace, write }) => {
    await workspace.checkpoint();
    chmodSync(join(root, "a.txt"), 0o600);
    write("b.txt", "c\n");
    const { files } = await workspace.diff({ detail: "text" });
    expect(files.map(({ path, notInPatch }) => [path, notInPatch])).toEqual([
      ["a.txt", "permissions 644 → 600: git knows only whether a file is executable"],
      ["b.txt", undefined],
    ]);
    expect(files[0]!.patch!()).toHaveLength(0);
  }),
);

async function patchBetween(workspace: Workspace, from: string, to: string | undefined): Promise<Buffer> {
  const { files } = await workspace.diff({ from, ...(to === undefined ? {} : { to }), detail: "text" });
  return Buffer.concat(files.map(({ patch }) => patch!()));
}

function apply(cwd: string, patch: Buffer, options: readonly string[]): void {
  expect(tryApply(cwd, patch, options), patch.toString("latin1").slice(0, 4000)).toBe("");
}

/** What git says against a patch. */
function tryApply(cwd: string, patch: Buffer, options: readonly string[]): string {
  const { stdout, stderr, status } = git(cwd, ["apply", "--whitespace=nowarn", ...options], patch);
  const said = stdout.toString() + stderr.toString();
  return status === 0 ? said : said || `exit ${status}`;
}

function gitsOwnPatch(before: string, after: string): Buffer {
  const repository = `${before}.git`;
  git(dirname(before), ["init", "--quiet", "--bare", repository]);
  const [old, now] = [before, after].map((tree) => {
    const place = ["--git-dir", repository, "--work-tree", tree];
    git(tree, [...place, "add", "--all", "."]);
    return git(tree, [...place, "write-tree"])
      .stdout.toString()
      .trim();
  });
  const options = ["diff-tree", "-r", "-p", "--binary", "--full-index", "-M100%", old!, now!];
  return git(repository, options).stdout;
}

function git(cwd: string, args: readonly string[], input: Buffer = Buffer.alloc(0)) {
  const env = {
    ...process.env,
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CEILING_DIRECTORIES: dirname(cwd),
  };
  return spawnSync("git", args, { cwd, input, env });
}

/** No checkout of git has any: it cannot put a file where one stands. */
function removeEmptyDirectories(root: string): void {
  const directories = [...readTreeMap(root)].filter(([, node]) => node.startsWith("directory"));
  for (const [path] of directories.toReversed()) {
    const directory = Buffer.from(`${root}/${path}`, "latin1");
    if (readdirSync(directory).length === 0) rmdirSync(directory);
  }
}

/** Directories do not exist for git, and of permissions it knows one bit. */
function asGitSees(root: string): ReadonlyMap<string, string> {
  const tree = [...readTreeMap(root)].filter(([, node]) => !node.startsWith("directory"));
  return new Map(
    tree.map(([path, node]) => [
      path,
      node.replace(/^file (\d+)/, (_, mode: string) => (parseInt(mode, 8) & 0o100 ? "file x" : "file -")),
    ]),
  );
}
