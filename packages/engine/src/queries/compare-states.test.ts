import { chmodSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { inWorkspace } from "../../test/support/temp-workspace.ts";
import type { Diff } from "./answers.ts";

const changes = ({ files }: Diff) => files.map(({ path, type }) => `${type} ${path}`).sort();

describe("comparing", () => {
  test(
    "two checkpoints, in both directions",
    inWorkspace({ same: "0\n", gone: "1\n", changed: "a\nb\n" }, async (temp) => {
      temp.remove("gone");
      temp.write("changed", "a\nc\nd\n");
      temp.write("new", "2\n");
      await temp.workspace.checkpoint();
      const there = await temp.workspace.diff("1", "2");
      const back = await temp.workspace.diff("2", "1");
      expect(changes(there)).toEqual(["added new", "deleted gone", "modified changed"]);
      expect(changes(back)).toEqual(["added gone", "deleted new", "modified changed"]);
      expect(there.summary).toEqual({ added: 1, modified: 1, deleted: 1, linesAdded: 3, linesDeleted: 2 });
      expect(back.summary).toEqual({ added: 1, modified: 1, deleted: 1, linesAdded: 2, linesDeleted: 3 });
    }),
  );

  test(
    "a state with itself, and the disk as it was recorded: nothing",
    inWorkspace({ x: "0\n" }, async ({ workspace }) => {
      for (const diff of [await workspace.diff("@", "@"), await workspace.diff("@")])
        expect(diff).toMatchObject({ files: [], summary: { added: 0, linesAdded: 0 } });
    }),
  );

  test(
    "with the disk, where it says so with null, and records nothing",
    inWorkspace({ x: "0\n" }, async ({ workspace, write }) => {
      write("x", "1\n");
      const diff = await workspace.diff("@");
      expect(diff.to).toBeNull();
      expect(diff.files[0]?.diff).toContain("-0\n+1");
      expect(await workspace.list()).toHaveLength(1);
    }),
  );

  test(
    "from the newest checkpoint unless another is named",
    inWorkspace({ x: "0\n" }, async ({ workspace, write }) => {
      write("x", "1\n");
      const { id } = await workspace.checkpoint();
      write("x", "2\n");
      expect((await workspace.diff({ detail: "names" })).from).toBe(id);
    }),
  );

  test(
    "in as much detail as is asked for",
    inWorkspace({ x: "0\n" }, async ({ workspace, write }) => {
      write("x", "1\n2\n");
      const detail = async (how: "names" | "counts" | "text") =>
        (await workspace.diff({ detail: how })).files[0]!;
      expect(await detail("names")).not.toHaveProperty("diff");
      expect(await detail("counts")).toMatchObject({ linesAdded: 2, linesDeleted: 1 });
      expect((await detail("text")).diff).toContain("+2");
    }),
  );

  test(
    "[R1911] a list does without lines where more than 300 files differ",
    inWorkspace({ x: "0\n" }, async ({ workspace, write }) => {
      const list = () => workspace.diff({ detail: "list" });
      for (let file = 0; file < 300; file += 1) write(`d/f${file}`, "1\n");
      const counted = await list();
      expect(counted.summary).toMatchObject({ added: 300, linesAdded: 300, linesDeleted: 0 });
      expect(counted.files[0]).toMatchObject({ linesAdded: 1 });
      write("d/f300", "1\n");
      const long = await list();
      expect(long.summary).toEqual({
        added: 301,
        modified: 0,
        deleted: 0,
        linesAdded: null,
        linesDeleted: null,
      });
      expect(long.files).toHaveLength(301);
      expect(long.files.every(({ linesAdded }) => linesAdded === null)).toBe(true);
    }),
  );

  test(
    "of chosen paths: files and directories, nothing that only begins like them",
    inWorkspace({ "a/x": "0", "a/y": "0", ab: "0", b: "0" }, async ({ workspace, write }) => {
      for (const path of ["a/x", "a/y", "ab", "b"]) write(path, "1");
      const of = async (...paths: string[]) => changes(await workspace.diff({ paths, detail: "names" }));
      expect(await of("a")).toEqual(["modified a/x", "modified a/y"]);
      expect(await of("a/x", "b")).toEqual(["modified a/x", "modified b"]);
      expect(await of("missing")).toEqual([]);
      expect(await of(".")).toHaveLength(4);
    }),
  );

  test(
    "kinds and modes: what became a link, a directory, a program",
    inWorkspace({ link: "0", directory: "0", program: "0" }, async ({ workspace, root, write }) => {
      rmSync(join(root, "link"));
      symlinkSync("program", join(root, "link"));
      rmSync(join(root, "directory"));
      write("directory/x", "1");
      chmodSync(join(root, "program"), 0o755);
      const paths = (await workspace.diff("@")).files.map(({ path }) => path);
      expect(paths.sort()).toEqual(["directory", "directory/x", "link", "program"]);
    }),
  );

  test(
    "a renamed file is one change with two names",
    inWorkspace({ old: "line\n".repeat(50) }, async ({ workspace, root }) => {
      renameSync(join(root, "old"), join(root, "new"));
      const { files } = await workspace.diff("@");
      expect(files).toMatchObject([{ type: "renamed", path: "new", from: "old" }]);
    }),
  );

  test(
    "binary content has no lines, and a text with a NUL is binary",
    inWorkspace({ x: "0\n" }, async ({ workspace, root }) => {
      writeFileSync(join(root, "x"), Buffer.from([0, 1, 2]));
      const [file] = (await workspace.diff({ detail: "counts" })).files;
      expect(file).toMatchObject({ binary: true });
      expect((await workspace.diff({ detail: "counts" })).summary).toMatchObject({
        linesAdded: 0,
        linesDeleted: 0,
      });
    }),
  );
});
