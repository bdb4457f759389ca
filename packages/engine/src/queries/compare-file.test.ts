import { chmodSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { inWorkspace } from "../../test/support/temp-workspace.ts";
import { fileDiff } from "../diff/file-diff.ts";
import { pathFromBytes, pathFromText } from "../model/byte-path.ts";
import type { DiffHunk, DiffLine } from "../model/file-diff.ts";
import type { ObjectHash } from "../model/object-hash.ts";
import type { ObjectSource } from "../store/object-store.ts";

const at = (path: string) => ({ from: "1", path: pathFromText(path) });
const marked = (hunks: readonly DiffHunk[] | undefined) =>
  hunks?.map(({ lines }) => lines.map(({ type, text }) => type + text));

/** Two contents as a comparison finds them in a store. */
function compared(before: string, after: string, options: Parameters<typeof fileDiff>[2] = {}) {
  const contents = new Map([before, after].map((text, side) => [`${side}`, Buffer.from(text)]));
  const objects: ObjectSource = {
    has: (name) => contents.has(name),
    read: (name) => contents.get(name)!,
    pieces: (name) => [contents.get(name)!],
  };
  const entry = (side: number, text: string) =>
    ({
      kind: "file",
      mode: 0o644,
      size: Buffer.byteLength(text),
      hash: `${side}` as unknown as ObjectHash,
    }) as const;
  return fileDiff(objects, { path: pathFromText("x"), from: entry(0, before), to: entry(1, after) }, options);
}

describe("one file of two states", () => {
  test("[R2364] the lines above, in, between and below the hunks are all of the old side", () => {
    const line = fc.constantFrom("a", "b", "c", "d", "e", "f");
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 40 }),
        fc.array(line, { maxLength: 40 }),
        fc.nat(5),
        (old, now, context) => {
          const text = (lines: readonly string[]) => lines.map((each) => `${each}\n`).join("");
          const { hunks, below } = compared(text(old), text(now), { context });
          let seen = 0;
          for (const { oldStart, oldLines } of hunks) {
            const first = oldLines === 0 ? oldStart + 1 : oldStart;
            expect(first - 1).toBeGreaterThanOrEqual(seen);
            seen = first - 1 + oldLines;
          }
          expect(below).toBe(hunks.length === 0 ? 0 : old.length - seen);
          expect(old.slice(old.length - below)).toEqual(below === 0 ? [] : now.slice(now.length - below));
        },
      ),
    );
  });

  test(
    "[R240] as hunks with the numbers of both sides, the function they are in, and the missing newline",
    inWorkspace(
      { x: ["function first() {", ...Array.from({ length: 20 }, (_, n) => `  ${n};`), "}"].join("\n") },
      async ({ workspace, write, read }) => {
        write("x", read("x").replace("  10;\n", "  ten;\n  eleven;\n").replace("\n}", "\n};"));
        const diff = (await workspace.diffFile(at("x")))!;
        expect(diff.file).toMatchObject({ type: "modified", linesAdded: 3, linesDeleted: 2 });
        expect(diff.truncated).toBe(false);
        expect(diff.hunks.map(({ header }) => header)).toEqual([
          "@@ -9,7 +9,8 @@ function first() {",
          "@@ -19,4 +20,4 @@ function first() {",
        ]);
        expect(diff.hunks[0]).toMatchObject({ oldStart: 9, oldLines: 7, newStart: 9, newLines: 8 });
        expect(diff.hunks[0]!.lines.slice(2, 7)).toEqual([
          { type: " ", text: "  9;", old: 11, new: 11 },
          { type: "-", text: "  10;", old: 12, new: null },
          { type: "+", text: "  ten;", old: null, new: 12 },
          { type: "+", text: "  eleven;", old: null, new: 13 },
          { type: " ", text: "  11;", old: 13, new: 14 },
        ]);
        expect(diff.hunks[1]!.lines.slice(3)).toEqual([
          { type: "-", text: "}", old: 22, new: null, noNewline: true },
          { type: "+", text: "};", old: null, new: 23, noNewline: true },
        ]);
        expect((await workspace.diffFile({ ...at("x"), context: 0 }))!.hunks[0]!.lines).toHaveLength(3);
        expect((await workspace.diffFile({ ...at("x"), context: 1000 }))!.hunks).toHaveLength(1);
      },
    ),
  );

  test("[R240] the hunks are what the patch says: old lines and new lines rebuild both files", () => {
    const content = fc.array(fc.constantFrom("a\n", "b\n", " b \n", "c\n", "\n", "\tc"), { maxLength: 12 });
    fc.assert(
      fc.property(content, content, fc.nat(4), (old, now, context) => {
        const [before, after] = [old.join(""), now.join("")];
        const { hunks, file } = compared(before, after, { context });
        const lines = hunks.flatMap((hunk) => hunk.lines);
        const [oldLines, newLines] = [before, after].map((text) => text.match(/[^\n]*\n|[^\n]+$/g) ?? []);
        const textOf = ({ text, noNewline }: DiffLine) => (noNewline === true ? text : `${text}\n`);
        for (const line of lines) {
          if (line.old !== null) expect(textOf(line)).toBe(oldLines![line.old - 1]);
          if (line.new !== null) expect(textOf(line)).toBe(newLines![line.new - 1]);
        }
        const kept = (side: "old" | "new", all: readonly string[]) => {
          const changed = new Set(lines.filter(({ type }) => type !== " ").map((line) => line[side]));
          return all.filter((_, index) => !changed.has(index + 1)).join("");
        };
        expect(kept("old", oldLines!)).toBe(kept("new", newLines!));
        expect(lines.filter(({ type }) => type === "+")).toHaveLength(file.linesAdded!);
        expect(lines.filter(({ type }) => type === "-")).toHaveLength(file.linesDeleted!);
      }),
    );
  });

  test("[R240] without white space: a line that was only indented is the same and reads as it is now", () => {
    const [before, after] = ["if (x) {\n  one();\n}\nlast\n", "if (x)  {\n\tone();\r\n}\nend\n"];
    expect(marked(compared(before, after, { whitespace: "ignore" }).hunks)).toEqual([
      [" if (x)  {", " \tone();\r", " }", "-last", "+end"],
    ]);
    expect(compared(before, after).file).toMatchObject({ linesAdded: 3, linesDeleted: 3 });
    expect(compared("a b\n", "ab\n", { whitespace: "ignore" }).hunks).toEqual([]);
    // 0xA0 is a no-break space in latin1 and part of "à" in UTF-8
    expect(compared("à\n", "á\n", { whitespace: "ignore" }).hunks).toHaveLength(1);
  });

  test("[R240] a long diff ends after 5,000 lines and says so; all of it comes on request", () => {
    const long = (word: string) => Array.from({ length: 9000 }, (_, n) => `${n % 3 ? n : word}\n`).join("");
    const short = compared(long("a"), long("b"), { context: 0 });
    expect(short.truncated).toBe(true);
    expect(short.file).toMatchObject({ linesAdded: 3000, linesDeleted: 3000 });
    expect(short.hunks.flatMap(({ lines }) => lines).length).toBeLessThan(5010);
    const all = compared(long("a"), long("b"), { context: 0, large: true });
    expect(all).toMatchObject({ truncated: false });
    expect(all.hunks).toHaveLength(3000);
  });

  test(
    "[R240] what has no lines is named: binary, too large, moved, mode, link, gap",
    inWorkspace(
      { binary: "\0one", large: "x".repeat(1024 * 1024 + 1), old: "moved\n", mode: "m\n", link: "text\n" },
      async ({ workspace, root, write, remove }) => {
        write("binary", "\0two!");
        write("large", `${"x".repeat(1024 * 1024 + 1)}y`);
        renameSync(join(root, "old"), join(root, "new"));
        chmodSync(join(root, "mode"), 0o755);
        remove("link");
        symlinkSync("mode", join(root, "link"));
        const diff = async (path: string, large = false) =>
          (await workspace.diffFile({ ...at(path), large }))!;
        expect(await diff("binary")).toMatchObject({
          file: { binary: true, linesAdded: null },
          before: { size: 4 },
          after: { size: 5 },
          hunks: [],
        });
        expect(await diff("large")).toMatchObject({ file: { tooLarge: true, binary: false }, hunks: [] });
        expect(await diff("large", true)).toMatchObject({ file: { tooLarge: false, linesAdded: 1 } });
        for (const name of ["new", "old"])
          expect(await diff(name)).toMatchObject({
            file: { type: "renamed", path: "new", from: "old" },
            hunks: [],
          });
        expect(await diff("mode")).toMatchObject({
          file: { type: "mode" },
          before: { mode: 0o644 },
          after: { mode: 0o755 },
        });
        expect(await diff("link")).toMatchObject({
          before: { kind: "file" },
          after: { kind: "symlink", target: "mode" },
        });
        expect(await workspace.diffFile(at("never"))).toBeNull();
        await workspace.upkeep.forget("binary");
        expect(await diff("binary")).toMatchObject({
          file: { gap: "forgotten", linesAdded: null },
          before: { kind: "gap", gap: "forgotten", hash: null },
          hunks: [],
        });
      },
    ),
  );

  test(
    "[R240] an image has its size in pixels; a name that is not UTF-8 is found by its bytes",
    inWorkspace({}, async ({ workspace, root }) => {
      const name = Buffer.from([0x66, 0xff, 0x2e, 0x67, 0x69, 0x66]);
      writeFileSync(
        Buffer.concat([Buffer.from(`${root}/`), name]),
        Buffer.from("GIF89a\x20\0\x10\0\0\0", "latin1"),
      );
      expect(await workspace.diffFile({ from: "1", path: pathFromBytes(name) })).toMatchObject({
        file: { type: "added", binary: true },
        before: null,
        after: { image: { format: "gif", width: 32, height: 16 } },
      });
    }),
  );
});
