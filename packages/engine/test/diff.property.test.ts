/**
 * Line diffs against their definition, and patches against the programs that have to apply them: random contents
 * with CRLF, lines that look like patch syntax, no line break at the end and bytes that are not UTF-8.
 * BELAY_FUZZ_RUNS asks for more cases than the default.
 */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { diffLines, joinLines, splitLines, type LineChange, type Lines } from "../src/diff/lines.ts";
import { countLines, unifiedDiff, type FileChange, type PatchMode } from "../src/diff/unified.ts";
import { pathFromText, pathToBytes, type BytePath } from "../src/model/byte-path.ts";

const RUNS = Number(process.env["BELAY_FUZZ_RUNS"] ?? 300);
const LIMIT_MS = 600_000;

const folder = mkdtempSync(join(tmpdir(), "belay-diff-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const fewLines = fc.array(fc.constantFrom("a\n", "b\n", "c\n", "d\n"), { maxLength: 40 });

test("a diff leads from one content to the other and is the smallest that does", () => {
  fc.assert(
    fc.property(fewLines, fewLines, (a, b) => {
      const changes = diffLines(a, b);
      expect(applyChanges(a, b, changes)).toEqual(b);
      expectSeparated(changes);
      expect(sumLengths(changes)).toBe(a.length + b.length - 2 * longestCommon(a, b));
    }),
    { numRuns: 10 * RUNS },
  );
});

test("a diff beyond the cost limit is still right", () => {
  fc.assert(
    fc.property(fewLines, fewLines, fc.nat(60), (a, b, costLimit) => {
      const changes = diffLines(a, b, costLimit);
      expect(applyChanges(a, b, changes)).toEqual(b);
      expectSeparated(changes);
    }),
    { numRuns: 10 * RUNS },
  );
});

const oddLine = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom("a", "b", "}", "") },
  { weight: 2, arbitrary: fc.constantFrom("a\r", "\r", "\t x ", "é", "日本", "\xff\xfe", "\xc3") },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "--- a/x",
      "+++ b/x",
      "@@ -1 +1 @@",
      "\\ No newline at end of file",
      "diff --git a/x b/x",
    ),
  },
);
const oddLines = fc.array(oddLine, { maxLength: 25 });
const ending = fc.constantFrom("\n", "\n", "");

function toContent(lines: readonly string[], end: string): Buffer {
  return lines.length === 0 ? Buffer.alloc(0) : Buffer.from(lines.join("\n") + end, "latin1");
}

const contents = fc
  .tuple(
    oddLines,
    fc.array(fc.tuple(fc.nat(25), fc.nat(3), fc.array(oddLine, { maxLength: 3 })), { maxLength: 4 }),
    ending,
    ending,
  )
  .map(([lines, edits, oldEnd, newEnd]) => {
    const edited = edits.reduce((now, [at, deleted, added]) => now.toSpliced(at, deleted, ...added), lines);
    return { oldContent: toContent(lines, oldEnd), newContent: toContent(edited, newEnd) };
  });

const NAMES = [
  "x",
  "sub/dir/x.ts",
  "with space",
  "größe",
  "\xff\xfe",
  'quo"te',
  "back\\slash",
  "tab\there",
  "line\nbreak",
  "-x",
];
const path = fc
  .constantFrom(...NAMES)
  .map((name) => (name === "\xff\xfe" ? (name as BytePath) : pathFromText(name)));
const mode = fc.constantFrom<PatchMode>("100644", "100755");
const context = fc.constantFrom(1, 3, 10);
const nothing = Buffer.alloc(0);

const change: fc.Arbitrary<FileChange> = fc.oneof(
  fc
    .record({ oldPath: path, contents, oldMode: mode, newMode: mode, context })
    .map(({ contents, ...rest }) => ({
      ...rest,
      ...contents,
      newPath: rest.oldPath,
    })),
  fc.record({ oldPath: path, contents, context }).map(({ contents, ...rest }) => ({
    ...rest,
    ...contents,
    newPath: pathFromText("renamed/y"),
  })),
  fc.record({ newPath: path, contents, newMode: mode }).map(({ contents, ...rest }) => ({
    ...rest,
    oldPath: null,
    oldContent: nothing,
    newContent: contents.newContent,
  })),
  fc.record({ oldPath: path, contents, oldMode: mode }).map(({ contents, ...rest }) => ({
    ...rest,
    newPath: null,
    oldContent: contents.oldContent,
    newContent: nothing,
  })),
);

test.each([
  ["git apply", "git", ["apply", "--whitespace=nowarn"]],
  ["patch", "patch", ["-p1", "--binary", "--silent", "--no-backup-if-mismatch"]],
])("%s turns the old file into the new one", { timeout: LIMIT_MS }, (_, program, options) => {
  fc.assert(
    fc.property(change, (change) => {
      const patch = unifiedDiff(change);
      const { linesAdded, linesDeleted } = patch;
      expect({ linesAdded, linesDeleted }).toEqual(countLines(change.oldContent, change.newContent));
      // patch cannot read names with spaces from "diff --git", git's own patches included
      fc.pre(
        program === "git" ||
          linesAdded + linesDeleted > 0 ||
          ![change.oldPath, change.newPath].some((path) => path?.includes(" ")),
      );
      if (patch.bytes.length > 0) expectApplied(change, () => run(program, options, patch.bytes));
    }),
    { numRuns: RUNS },
  );
});

function run(program: string, options: string[], patch: Buffer): void {
  const env = {
    ...process.env,
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CEILING_DIRECTORIES: tmpdir(),
  };
  const result = spawnSync(program, options, { cwd: join(folder, "work"), input: patch, env });
  expect(result.stdout.toString() + result.stderr.toString()).toBe("");
  expect(result.status).toBe(0);
}

/** Writes the old file, lets a patch be applied, and looks for the new one. */
function expectApplied(
  { oldPath, newPath, oldContent, newContent, oldMode, newMode }: FileChange,
  apply: () => void,
): void {
  const place = (at: BytePath) => Buffer.concat([Buffer.from(join(folder, "work/")), pathToBytes(at)]);
  rmSync(join(folder, "work"), { recursive: true, force: true });
  mkdirSync(join(folder, "work"));
  if (oldPath !== null) {
    mkdirSync(dirname(place(oldPath).toString("latin1")), { recursive: true });
    writeFileSync(place(oldPath), oldContent);
    chmodSync(place(oldPath), oldMode === "100755" ? 0o755 : 0o644);
  }
  apply();
  expect(oldPath !== null && oldPath !== newPath && existsSync(place(oldPath))).toBe(false);
  if (newPath === null) return;
  expect(readFileSync(place(newPath))).toEqual(newContent);
  expect((statSync(place(newPath)).mode & 0o100) !== 0).toBe(newMode === "100755");
}

function applyChanges(a: Lines, b: Lines, changes: readonly LineChange[]): Lines {
  const result: string[] = [];
  let at = 0;
  for (const [aStart, aEnd, bStart, bEnd] of changes) {
    result.push(...a.slice(at, aStart), ...b.slice(bStart, bEnd));
    at = aEnd;
  }
  return splitLines(joinLines([...result, ...a.slice(at)]));
}

function expectSeparated(changes: readonly LineChange[]): void {
  for (const [at, [aStart, aEnd, bStart, bEnd]] of changes.entries()) {
    expect(aEnd - aStart + bEnd - bStart).toBeGreaterThan(0);
    expect(aStart).toBeGreaterThan(changes[at - 1]?.[1] ?? -1);
  }
}

function sumLengths(changes: readonly LineChange[]): number {
  return changes.reduce((sum, [aStart, aEnd, bStart, bEnd]) => sum + aEnd - aStart + bEnd - bStart, 0);
}

function longestCommon(a: Lines, b: Lines): number {
  let above = Array.from({ length: b.length + 1 }, () => 0);
  for (const line of a) {
    const row = [0];
    for (let j = 0; j < b.length; j++)
      row.push(line === b[j] ? above[j]! + 1 : Math.max(above[j + 1]!, row[j]!));
    above = row;
  }
  return above[b.length]!;
}
