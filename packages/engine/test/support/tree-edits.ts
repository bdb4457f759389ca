/**
 * Edits that programs make, drawn at random and correlated: most concern something that is there, new things get
 * one of a few names, so that a file becomes a directory, a directory a link, and what was moved lands where
 * something else stood. An edit that is not possible does nothing.
 */
import {
  appendFileSync,
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import fc from "fast-check";
import { readTreeMap } from "./tree-map.ts";

/** Bytes, one character each: not UTF-8, with a line break, as long as a name can be. */
const NAMES = ["a", "a", "b", "b", "c.txt", "\xff\xfe", "new\nline", "\xc3\xa9", "x".repeat(255)];
const TARGETS = ["a", "../b", "/nonexistent/x", "\xff", ".", "b/a"];
const FILE_MODES = [0o644, 0o600, 0o755, 0o444];
const DIRECTORY_MODES = [0o755, 0o700, 0o750, 0o711];
const DEEPEST = 3;
/** A time that can be put back exactly. */
const WHOLE_SECONDS = 1_700_000_000;

type At = (path: Buffer, edit: TreeEdit) => void;

/** What can be done to each kind of node; `undefined` is done where nothing is. */
const OPERATIONS = {
  write: { on: ["file", undefined], run: write },
  append: { on: ["file"], run: (path, { content }) => appendFileSync(path, Buffer.from(content, "latin1")) },
  truncate: { on: ["file"], run: (path) => truncateSync(path, Math.floor(statSync(path).size / 2)) },
  "same-size edit": { on: ["file"], run: editUnseen },
  "change mode": { on: ["file", "directory"], run: changeMode },
  "make directory": { on: [undefined], run: makeDirectory },
  "make link": { on: [undefined], run: makeLink },
  remove: { on: ["file", "directory", "symlink"], run: remove },
  "to file": { on: ["directory", "symlink"], run: replaceBy(write) },
  "to directory": { on: ["file", "symlink"], run: replaceBy(makeDirectory) },
  "to link": { on: ["file", "directory"], run: replaceBy(makeLink) },
} as const satisfies Record<string, { on: readonly (NodeKind | undefined)[]; run: At }>;

/** These have a second place. */
const MOVES = { rename: renameSync, "hard link": linkSync };

type NodeKind = "file" | "directory" | "symlink";

/** One edit; `node` and `place` are numbers of any size by which something that exists is chosen. */
export interface TreeEdit {
  readonly operation: keyof typeof OPERATIONS | keyof typeof MOVES;
  readonly node: number;
  readonly place: number;
  readonly name: string;
  readonly content: string;
  readonly mode: number;
  readonly oldTime: boolean;
}

const lines = fc
  .array(fc.constantFrom("one\n", "two\n", "three\n", "four\n"), { maxLength: 6 })
  .map((parts) => parts.join(""));
/** The same forty lines, some of them changed: two such contents differ in several places. */
const manyLines = fc
  .uniqueArray(fc.nat(39), { maxLength: 6 })
  .map((changed) =>
    Array.from({ length: 40 }, (_, at) => (changed.includes(at) ? `${at} changed\n` : `${at}\n`)).join(""),
  );
const content = fc.oneof(
  { weight: 12, arbitrary: lines },
  { weight: 6, arbitrary: manyLines },
  { weight: 3, arbitrary: fc.constantFrom("", "no line end", "\0\x01binary\xff", "\0\x02binary\xff") },
  { weight: 1, arbitrary: fc.constantFrom("1", "2").map((text) => text.repeat(70_000)) },
);

const OPERATION_NAMES = [...Object.keys(OPERATIONS), ...Object.keys(MOVES)] as TreeEdit["operation"][];

export const treeEdit: fc.Arbitrary<TreeEdit> = fc.record({
  operation: fc.constantFrom(
    ...OPERATION_NAMES,
    "write",
    "write",
    "make directory",
    "hard link",
    "change mode",
  ),
  node: fc.nat(60),
  place: fc.nat(12),
  name: fc.constantFrom(...NAMES),
  content,
  mode: fc.nat(3),
  oldTime: fc.boolean(),
});

/** Makes an edit below `root` and tells what it did. */
export function makeEdit(root: string, edit: TreeEdit): string {
  const tree = [...readTreeMap(root)].map(([path, node]) => ({ path, kind: node.split(" ")[0] as NodeKind }));
  const directories = ["", ...tree.filter(({ kind }) => kind === "directory").map(({ path }) => path)];
  const shallow = directories.filter((path) => path === "" || path.split("/").length < DEEPEST);
  const free = `${shallow[edit.place % shallow.length]}/${edit.name}`.replace(/^\//, "");
  const isFree = tree.every(({ path }) => path !== free);
  const choose = (kinds: readonly (NodeKind | undefined)[]) => {
    const chosen = tree.filter(({ kind }) => kinds.includes(kind)).map(({ path }) => path);
    if (kinds.includes(undefined) && isFree) chosen.push(free);
    return chosen[edit.node % chosen.length];
  };
  const absolute = (path: string) => Buffer.from(`${root}/${path}`, "latin1");
  if (edit.operation === "rename" || edit.operation === "hard link") {
    const from = choose(edit.operation === "rename" ? ["file", "directory", "symlink"] : ["file"]);
    if (from === undefined || `${free}/`.startsWith(`${from}/`) || !canTake(free)) return "nothing";
    MOVES[edit.operation](absolute(from), absolute(free));
    return `${edit.operation} ${from} → ${free}`;
  }
  const path = choose(OPERATIONS[edit.operation].on);
  if (path === undefined) return "nothing";
  OPERATIONS[edit.operation].run(absolute(path), edit);
  return `${edit.operation} ${path} ${edit.mode} ${edit.content.slice(0, 20)}(${edit.content.length})`;

  function canTake(place: string): boolean {
    const there = tree.find(({ path: other }) => other === place)?.kind;
    const moving = tree.find(({ path: other }) => other === choose(["file", "directory", "symlink"]))?.kind;
    if (there === undefined) return true;
    return edit.operation === "rename" && there !== "directory" && moving !== "directory";
  }
}

function write(path: Buffer, { content: text, mode, oldTime }: TreeEdit): void {
  writeFileSync(path, Buffer.from(text, "latin1"));
  chmodSync(path, FILE_MODES[mode]!);
  if (oldTime) utimesSync(path, WHOLE_SECONDS, WHOLE_SECONDS);
}

/** Another content of the same length, and the time as it was: only the change time tells. */
function editUnseen(path: Buffer): void {
  const bytes = readFileSync(path);
  if (bytes.length === 0) return;
  const { mtimeMs } = statSync(path);
  bytes[bytes.length - 1]! ^= 1;
  writeFileSync(path, bytes);
  utimesSync(path, mtimeMs / 1000, mtimeMs / 1000);
}

function changeMode(path: Buffer, { mode }: TreeEdit): void {
  chmodSync(path, (lstatSync(path).isDirectory() ? DIRECTORY_MODES : FILE_MODES)[mode]!);
}

function makeDirectory(path: Buffer, { mode }: TreeEdit): void {
  mkdirSync(path);
  chmodSync(path, DIRECTORY_MODES[mode]!);
}

function makeLink(path: Buffer, { content: text }: TreeEdit): void {
  symlinkSync(Buffer.from(TARGETS[text.length % TARGETS.length]!, "latin1"), path);
}

function remove(path: Buffer): void {
  rmSync(path, { recursive: true });
}

function replaceBy(make: At): At {
  return (path, edit) => {
    remove(path);
    make(path, edit);
  };
}
