/**
 * The gitignore layer against git itself: random trees with random nested ignore files, every path of
 * which must get the same answer, by the same line of the same file, as from `git check-ignore`.
 * BELAY_FUZZ_RUNS asks for more trees than the default.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import {
  displayPath,
  joinPath,
  pathFromText,
  pathToBytes,
  ROOT_PATH,
  type BytePath,
} from "../src/model/byte-path.ts";
import type { IgnoreLayer, RecordedIgnoreFile } from "../src/model/rules.ts";
import { createRules, type DirectoryRules } from "../src/rules/ignore-rules.ts";

const RUNS = Number(process.env["BELAY_FUZZ_RUNS"] ?? 100);
/** The version of the rules by which what git ignores is left out: its verdicts are git's. */
const GIT_EXCLUDES = 1;
const LIMIT_MS = 600_000;

const NAMES = [
  "a",
  "b",
  "ab",
  "aab",
  "a.b",
  "b.c",
  ".a",
  "c d",
  "a ",
  "#a",
  "!a",
  "[a]",
  "a*b",
  "a\\b",
  "\xff\xe9",
  "Ab-1",
];

const patternPiece = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom("a", "b", "c", "ab", ".", "/", "d") },
  { weight: 5, arbitrary: fc.constantFrom("*", "**", "?", "/", "***", "**/", "/**", "/**/", "*.") },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      "[ab]",
      "[!a]",
      "[^b]",
      "[a-c]",
      "[]a]",
      "[[:alpha:]]",
      "[[:punct:]b]",
      "[\\]a]",
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(" ", "\\ ", "\\", "\\a", "\\/", "\\*", "\\[", "#", "!", "-", "\t", "\r"),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "[",
      "]",
      "[a",
      "[:a",
      "[c-a]",
      "[[:x:]]",
      "[!-a]",
      "[a-",
      "\xff",
      "\xe9",
      "\0",
      "[/a]",
    ),
  },
  { weight: 2, arbitrary: fc.constantFrom(...NAMES) },
);
const wildPattern = fc
  .tuple(
    fc.constantFrom("", "", "", "!", "!", "/", "!/", "#", "\\!"),
    fc.array(patternPiece, { minLength: 1, maxLength: 5 }),
    fc.constantFrom("", "", "", "/", " ", "\r", "/ "),
  )
  .map(([start, pieces, end]) => start + pieces.join("") + end);
/** What people write. */
const plainSegment = fc.constantFrom(
  "a",
  "b",
  "ab",
  "a.b",
  ".a",
  "*",
  "**",
  "*b",
  "a*",
  "?b",
  "*.b",
  "a*b",
  "[ab]*",
);
const plainPattern = fc
  .tuple(
    fc.constantFrom("", "", "!", "/", "!/"),
    fc.array(plainSegment, { minLength: 1, maxLength: 4 }),
    fc.constantFrom("", "", "/"),
  )
  .map(([start, segments, end]) => start + segments.join("/") + end);
const pattern = fc.oneof(wildPattern, plainPattern);
const ignoreFile = fc
  .tuple(
    fc.constantFrom("", "", "", "\xef\xbb\xbf"),
    fc.array(pattern, { minLength: 1, maxLength: 6 }),
    fc.constantFrom("", "\n"),
  )
  .map(([mark, lines, end]) => mark + lines.join("\n") + end);

interface Folder {
  readonly ignore: string | undefined;
  readonly files: readonly string[];
  readonly folders: Readonly<Record<string, Folder>>;
}
const name = fc.constantFrom(...NAMES);
const { folder } = fc.letrec<{ folder: Folder }>((tie) => ({
  folder: fc.record({
    ignore: fc.option(ignoreFile, { nil: undefined, freq: 2 }),
    files: fc.uniqueArray(name, { maxLength: 5 }),
    folders: fc.option(fc.dictionary(name, tie("folder"), { maxKeys: 4 }), {
      nil: {},
      maxDepth: 4,
      depthSize: "large",
    }),
  }),
}));
const tree = fc.record({ root: folder, exclude: ignoreFile });

const repository = mkdtempSync(join(tmpdir(), "belay-ignore-"));
afterAll(() => rmSync(repository, { recursive: true, force: true }));

/** By path: the file and line that ignores it, "" when it is not ignored. */
type Verdicts = Map<BytePath, string>;

test("[A42] [A48] every path gets git's verdict, by the same rule", { timeout: LIMIT_MS }, () => {
  execFileSync("git", ["init", "-q", repository]);
  const seen = { paths: 0, ignored: 0 };
  fc.assert(
    fc.property(tree, ({ root, exclude }) => {
      clear();
      plant(root, exclude);
      expectSameVerdicts(root, exclude, seen);
    }),
    { numRuns: RUNS },
  );
  console.log(`random trees: ${seen.paths} paths in ${RUNS} trees, ${seen.ignored} of them ignored`);
  expect(seen.ignored).toBeGreaterThan(RUNS / 2);
});

test("[A48] globs: every path over a small alphabet gets git's verdict", { timeout: LIMIT_MS }, () => {
  execFileSync("git", ["init", "-q", repository]);
  clear();
  const seen = { paths: 0, ignored: 0 };
  const globs = fc.array(pattern, { minLength: 1, maxLength: 4 }).map((lines) => lines.join("\n"));
  fc.assert(
    fc.property(globs, globs, (ofRoot, ofFolder) => {
      const root = { ...everyPath(3), ignore: ofRoot };
      const planted = {
        ...root,
        folders: { ...root.folders, a: { ...root.folders["a"]!, ignore: ofFolder } },
      };
      if (seen.paths === 0) plant(planted, "");
      writeFileSync(onDisk(".gitignore"), ofRoot, "latin1");
      writeFileSync(onDisk("a/.gitignore"), ofFolder, "latin1");
      expectSameVerdicts(planted, "", seen);
    }),
    { numRuns: RUNS * 8 },
  );
  console.log(
    `one tree: ${seen.paths} paths under ${RUNS * 8} sets of rules, ${seen.ignored} of them ignored`,
  );
  expect(seen.ignored).toBeGreaterThan(RUNS);
});

const CLASSES = [
  ...[
    "alnum",
    "alpha",
    "blank",
    "cntrl",
    "digit",
    "graph",
    "lower",
    "print",
    "punct",
    "space",
    "upper",
    "xdigit",
  ].map((kind) => `[[:${kind}:]]`),
  "[!-/]",
  "[^a-z]",
  "[\x80-\xff]",
  "[a\\-z]",
  "[--0]",
  "[]-a]",
  "[[:alpha:]-z]",
  "[\\a-\\c]",
  "?",
];

test.each(CLASSES)("[A48] %s holds the bytes that it holds for git", (characters) => {
  execFileSync("git", ["init", "-q", repository]);
  clear();
  const bytes = Array.from({ length: 255 }, (_, at) => String.fromCharCode(at + 1)).filter(
    (byte) => byte !== "/",
  );
  const root: Folder = { ignore: `x${characters}`, files: bytes.map((byte) => `x${byte}`), folders: {} };
  plant(root, "");
  expectSameVerdicts(root, "", { paths: 0, ignored: 0 });
});

function everyPath(depth: number): Folder {
  const names = ["a", "b", "ab", "a.b"];
  if (depth === 0) return { ignore: undefined, files: names, folders: {} };
  return {
    ignore: undefined,
    files: ["b", "aab"],
    folders: Object.fromEntries(["a", "ab", ".a"].map((each) => [each, everyPath(depth - 1)])),
  };
}

function expectSameVerdicts(root: Folder, exclude: string, seen: { paths: number; ignored: number }): void {
  const ours: Verdicts = new Map();
  const rules = createRules({ defaultsVersion: GIT_EXCLUDES, ignoreFiles: rootIgnoreFiles(root, exclude) });
  judge(root, { path: ROOT_PATH, rules, ignoredBy: "" }, ours);
  const theirs = askGit([...ours.keys()]);
  seen.paths += ours.size;
  for (const verdict of ours.values()) if (verdict !== "") seen.ignored += 1;
  expect(Object.fromEntries(ours)).toEqual(Object.fromEntries(theirs));
}

function clear(): void {
  for (const left of readdirSync(repository, "latin1")) {
    if (left !== ".git") rmSync(onDisk(left), { recursive: true });
  }
}

function plant(root: Folder, exclude: string): void {
  writeFileSync(join(repository, ".git/info/exclude"), exclude, "latin1");
  plantFolder(root, ROOT_PATH);
}

function plantFolder(folder: Folder, path: BytePath): void {
  mkdirSync(onDisk(path), { recursive: true });
  if (folder.ignore !== undefined)
    writeFileSync(onDisk(joinPath(path, ".gitignore")), folder.ignore, "latin1");
  for (const file of filesOf(folder)) writeFileSync(onDisk(joinPath(path, file)), "");
  for (const [name, child] of Object.entries(folder.folders)) plantFolder(child, joinPath(path, name));
}

function onDisk(path: string): Buffer {
  return Buffer.from(`${repository}/${path}`, "latin1");
}

function filesOf(folder: Folder): string[] {
  return folder.files.filter((name) => !Object.hasOwn(folder.folders, name));
}

function rootIgnoreFiles(root: Folder, exclude: string): RecordedIgnoreFile[] {
  const file = (path: string, layer: IgnoreLayer, text: string) => ({
    path: pathFromText(path),
    layer,
    content: Buffer.from(text, "latin1"),
  });
  const own = root.ignore === undefined ? [] : [file(".gitignore", "gitignore", root.ignore)];
  return [file(".git/info/exclude", "exclude", exclude), ...own];
}

/** Asks about everything in a folder; in an ignored one everything is ignored by the rule that ignores it. */
function judge(
  folder: Folder,
  at: { path: BytePath; rules: DirectoryRules; ignoredBy: string },
  into: Verdicts,
): void {
  const ask = (name: string, isDirectory: boolean) => {
    const verdict = at.rules.verdict(name, isDirectory);
    const ignoredBy = at.ignoredBy || (typeof verdict === "object" ? verdict.excludedBy : "");
    into.set(joinPath(at.path, name), ignoredBy);
    return ignoredBy;
  };
  for (const name of filesOf(folder)) ask(name, false);
  for (const [name, child] of Object.entries(folder.folders)) {
    const ignoredBy = ask(name, true);
    const gitignore = child.ignore === undefined ? undefined : Buffer.from(child.ignore, "latin1");
    judge(
      child,
      { path: joinPath(at.path, name), rules: at.rules.child(name, { gitignore }), ignoredBy },
      into,
    );
  }
}

function askGit(paths: readonly BytePath[]): Verdicts {
  const asked = spawnSync("git", ["check-ignore", "--no-index", "--stdin", "-z", "-v", "-n"], {
    cwd: repository,
    input: Buffer.concat(paths.map((path) => Buffer.concat([pathToBytes(path), Buffer.from([0])]))),
    env: { PATH: process.env["PATH"], HOME: repository, GIT_CONFIG_NOSYSTEM: "1" },
    maxBuffer: 1 << 28,
  });
  const fields = asked.stdout.toString("latin1").split("\0");
  const verdicts: Verdicts = new Map();
  for (let at = 0; at + 4 < fields.length + 1 && fields[at + 3] !== undefined; at += 4) {
    const [source, line, pattern, path] = fields.slice(at, at + 4) as [string, string, string, string];
    const isIgnored = source !== "" && !pattern.startsWith("!");
    verdicts.set(path as BytePath, isIgnored ? `${displayPath(source as BytePath)}:${line}` : "");
  }
  return verdicts;
}
