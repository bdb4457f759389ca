import { expect, test } from "vitest";
import { pathFromBytes, pathFromText } from "../model/byte-path.ts";
import { countLines, unifiedDiff, type FileChange } from "./unified.ts";

const PATH = pathFromText("src/x.ts");

function patchOf(oldContent: string, newContent: string, change: Partial<FileChange> = {}): string {
  return unifiedDiff({
    oldPath: PATH,
    newPath: PATH,
    oldContent: Buffer.from(oldContent),
    newContent: Buffer.from(newContent),
    ...change,
  }).text;
}

const numbered = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => `${from + at}\n`).join("");

test("a change is shown with three lines around it", () => {
  expect(patchOf(numbered(1, 9), numbered(1, 9).replace("5\n", "five\n"))).toBe(
    [
      "diff --git a/src/x.ts b/src/x.ts",
      "--- a/src/x.ts",
      "+++ b/src/x.ts",
      "@@ -2,7 +2,7 @@",
      " 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n",
    ].join("\n"),
  );
});

test("changes share a hunk when their context touches", () => {
  const hunks = (distance: number) => {
    const old = numbered(1, 20);
    return patchOf(old, old.replace("\n3\n", "\nA\n").replace(`\n${3 + distance}\n`, "\nB\n")).match(
      /^@@.*$/gm,
    );
  };
  expect(hunks(7)).toEqual(["@@ -1,13 +1,13 @@"]);
  expect(hunks(8)).toEqual(["@@ -1,6 +1,6 @@", "@@ -8,7 +8,7 @@"]);
});

test("a missing line break at the end is said on the side that lacks it", () => {
  expect(patchOf("a\nb", "a\nb\n")).toContain(
    "\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n",
  );
  expect(patchOf("a\nb\n", "a\nb")).toContain(
    "\n@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline at end of file\n",
  );
});

test("added and deleted files have /dev/null on the other side", () => {
  expect(patchOf("", "a\n", { oldPath: null, newMode: "100755" })).toBe(
    "diff --git a/src/x.ts b/src/x.ts\nnew file mode 100755\n--- /dev/null\n+++ b/src/x.ts\n@@ -0,0 +1 @@\n+a\n",
  );
  expect(patchOf("a\n", "", { newPath: null })).toBe(
    "diff --git a/src/x.ts b/src/x.ts\ndeleted file mode 100644\n--- a/src/x.ts\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n",
  );
});

test("an empty file, a rename and a changed mode have no hunks", () => {
  expect(patchOf("", "", { oldPath: null })).toBe(
    "diff --git a/src/x.ts b/src/x.ts\nnew file mode 100644\nindex 0000000..e69de29\n",
  );
  expect(patchOf("a\n", "a\n", { newPath: pathFromText("y") })).toBe(
    "diff --git a/src/x.ts b/y\nrename from src/x.ts\nrename to y\n",
  );
  expect(patchOf("a\n", "a\n", { newMode: "100755" })).toBe(
    "diff --git a/src/x.ts b/src/x.ts\nold mode 100644\nnew mode 100755\n",
  );
});

test("nothing changed is no patch", () => {
  expect(patchOf("a\n", "a\n")).toBe("");
});

test.each([
  ["plain", "a/plain"],
  ["größe", "a/größe"],
  ["with space", "a/with space\t"],
  ['say "hi"', '"a/say \\"hi\\""\t'],
  ["tab\there\\", '"a/tab\\there\\\\"'],
  ["line\nbreak\x01\x7f", '"a/line\\nbreak\\001\\177"'],
])("the name %j is written as git writes it", (name, label) => {
  expect(patchOf("a\n", "b\n", { oldPath: pathFromText(name) })).toContain(`\n--- ${label}\n`);
});

test("a name that is not UTF-8 is written in octal", () => {
  const oldPath = pathFromBytes(Buffer.from([0x61, 0xff]));
  expect(patchOf("a\n", "b\n", { oldPath })).toContain('\n--- "a/a\\377"\n');
});

test("bytes that are not UTF-8 are exact in the patch and replaced in the text", () => {
  const newContent = Buffer.from([0xff, 0x0a]);
  const patch = unifiedDiff({ oldPath: null, newPath: PATH, oldContent: Buffer.alloc(0), newContent });
  expect(patch.bytes.subarray(-3)).toEqual(Buffer.from([0x2b, 0xff, 0x0a]));
  expect(patch.text.endsWith("+\ufffd\n")).toBe(true);
});

test("lines are counted", () => {
  expect(countLines(Buffer.from("a\nb\nc\n"), Buffer.from("a\nX\nY\nc\nd"))).toEqual({
    linesAdded: 3,
    linesDeleted: 1,
  });
});
