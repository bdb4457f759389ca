import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { inWorkspace } from "../../test/support/temp-workspace.ts";
import { pathFromText } from "../model/byte-path.ts";
import { hashBytes } from "../model/object-hash.ts";

const MIB = 1024 * 1024;
const text = (content: { content: Buffer | null } | null) => content?.content?.toString("utf8");

describe("a file's content", () => {
  test(
    "at each checkpoint and on disk is the one of that time",
    inWorkspace({ "a/x": "0" }, async ({ workspace, write }) => {
      const path = pathFromText("a/x");
      write("a/x", "1");
      const { id } = await workspace.checkpoint();
      write("a/x", "2");
      expect(text(await workspace.file("1", path, MIB))).toBe("0");
      expect(text(await workspace.file(id, path, MIB))).toBe("1");
      expect(text(await workspace.file(null, path, MIB))).toBe("2");
    }),
  );

  test(
    "on disk and at a checkpoint of it are described alike: files, links, modes, empty ones",
    inWorkspace({ plain: "text", empty: "", "name ü": "ü" }, async ({ workspace, root }) => {
      writeFileSync(join(root, "run"), "#!/bin/sh\n");
      chmodSync(join(root, "run"), 0o755);
      symlinkSync("plain", join(root, "link"));
      symlinkSync("nowhere", join(root, "dangling"));
      await workspace.checkpoint();
      for (const name of ["plain", "empty", "name ü", "run", "link", "dangling"]) {
        const path = pathFromText(name);
        const recorded = await workspace.file("@", path, MIB);
        expect(recorded, name).not.toBeNull();
        expect(await workspace.file(null, path, MIB), name).toEqual(recorded);
      }
      expect(await workspace.file(null, pathFromText("link"), MIB)).toMatchObject({
        kind: "symlink",
        size: 5,
        content: Buffer.from("plain"),
      });
      expect(await workspace.file(null, pathFromText("run"), MIB)).toMatchObject({ mode: 0o755 });
    }),
  );

  test(
    "beyond the limit is left out; its size is told",
    inWorkspace({ x: "12345" }, async ({ workspace }) => {
      const path = pathFromText("x");
      for (const ref of ["@", null]) {
        expect(await workspace.file(ref, path, 5)).toMatchObject({ size: 5, content: Buffer.from("12345") });
        expect(await workspace.file(ref, path, 4)).toMatchObject({ size: 5, content: null });
        expect(await workspace.file(ref, path, 0)).toMatchObject({ size: 5, content: null });
      }
    }),
  );

  test(
    "in several pieces is put together",
    inWorkspace({}, async ({ workspace, root }) => {
      const bytes = Buffer.alloc(3 * MIB + 7, "0123456789abcdef");
      writeFileSync(join(root, "large"), bytes);
      await workspace.checkpoint();
      const file = await workspace.file("@", pathFromText("large"), 4 * MIB);
      expect(file?.content?.equals(bytes)).toBe(true);
      expect((await workspace.file(null, pathFromText("large"), 4 * MIB))?.hash).toBe(hashBytes(bytes));
    }),
  );
});

describe("no content", () => {
  test(
    "is there for directories, missing files and paths that no file can have",
    inWorkspace({ "a/x": "0" }, async ({ workspace }) => {
      for (const name of ["a", "missing", "a/missing", "a/x/below", "", "..", "../x", "a/../a/x", "a//x"])
        for (const ref of ["@", null])
          expect(await workspace.file(ref, name as ReturnType<typeof pathFromText>, MIB), name).toBeNull();
    }),
  );

  test(
    "is there for a pipe, which is not waited for",
    inWorkspace({ x: "0" }, async ({ workspace, root }) => {
      execFileSync("mkfifo", [join(root, "pipe")]);
      expect(await workspace.file(null, pathFromText("pipe"), MIB)).toBeNull();
      rmSync(join(root, "pipe"));
    }),
  );

  test(
    "comes through a symbolic link: what is behind it may be outside",
    inWorkspace({ "real/x": "mine" }, async ({ workspace, root }) => {
      const outside = join(root, "..", "outside");
      mkdirSync(outside);
      writeFileSync(join(outside, "x"), "secret");
      symlinkSync("../outside", join(root, "away"));
      symlinkSync("real", join(root, "near"));
      await workspace.checkpoint();
      for (const ref of ["@", null]) {
        expect(await workspace.file(ref, pathFromText("away/x"), MIB)).toBeNull();
        expect(await workspace.file(ref, pathFromText("near/x"), MIB)).toBeNull();
        expect(text(await workspace.file(ref, pathFromText("real/x"), MIB))).toBe("mine");
      }
    }),
  );

  test(
    "is there while the directory is gone",
    inWorkspace({ x: "0" }, async ({ workspace, root, write }) => {
      rmSync(root, { recursive: true });
      expect(await workspace.file(null, pathFromText("x"), MIB)).toBeNull();
      expect(text(await workspace.file("@", pathFromText("x"), MIB))).toBe("0");
      write("x", "0");
    }),
  );

  test(
    "an unknown checkpoint is an error",
    inWorkspace({ x: "0" }, async ({ workspace }) => {
      await expect(workspace.file("nope", pathFromText("x"), MIB)).rejects.toMatchObject({
        code: "CHECKPOINT_NOT_FOUND",
      });
    }),
  );
});
