/**
 * Edits that programs make, drawn at random and correlated: few names, so that a file becomes a directory, a
 * directory a link, and what was moved lands where something else stood. An edit whose precondition does not hold
 * does nothing.
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

/** Bytes, one character each: not UTF-8, with a line break, as long as a name can be. */
const NAMES = ["a", "b", "c.txt", "\xff\xfe", "new\nline", "\xc3\xa9", "x".repeat(255)];
const TARGETS = ["a", "../b", "/nonexistent/x", "\xff", ".", "b/a"];
const FILE_MODES = [0o644, 0o600, 0o755, 0o444, 0o640];
const DIRECTORY_MODES = [0o755, 0o700, 0o750, 0o711];
/** A time that can be put back exactly. */
const WHOLE_SECONDS = 1_700_000_000;

const OPERATIONS = [
  "write",
  "append",
  "truncate",
  "same-size edit",
  "rename",
  "make directory",
  "remove",
  "to file",
  "to directory",
  "to symlink",
  "hard link",
  "change mode",
] as const;

/** One edit; which of its parts count depends on the operation. */
export interface TreeEdit {
  readonly operation: (typeof OPERATIONS)[number];
  readonly path: string;
  readonly other: string;
  readonly content: string;
  readonly mode: number;
  readonly oldTime: boolean;
}

const name = fc.oneof({ weight: 3, arbitrary: fc.constantFrom("a", "b") }, fc.constantFrom(...NAMES));
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join("/"));
const lines = fc
  .array(fc.constantFrom("one\n", "two\n", "three\n", "four\n"), { maxLength: 6 })
  .map((parts) => parts.join(""));
const content = fc.oneof(
  { weight: 8, arbitrary: lines },
  { weight: 2, arbitrary: fc.constantFrom("", "no line end", "\0\x01binary\xff", "\0\x02binary\xff") },
  { weight: 1, arbitrary: fc.constantFrom("1", "2").map((text) => text.repeat(70_000)) },
);

export const treeEdit: fc.Arbitrary<TreeEdit> = fc.record({
  operation: fc.constantFrom(...OPERATIONS),
  path,
  other: path,
  content,
  mode: fc.nat(4),
  oldTime: fc.boolean(),
});

/** A path that can be written as text. */
export const textPath: fc.Arbitrary<string> = path.filter((bytes) => !bytes.includes("\xff")).map(fromBytes);

function fromBytes(bytes: string): string {
  return Buffer.from(bytes, "latin1").toString("utf8");
}

/** Makes an edit below `root`. */
export function makeEdit(root: string, edit: TreeEdit): void {
  const at = nodeAt(root, edit.path);
  const other = nodeAt(root, edit.other);
  const bytes = Buffer.from(edit.content, "latin1");
  if (!isDirectory(parentOf(at.path))) return;
  switch (edit.operation) {
    case "write":
      return at.kind === undefined || at.kind === "file" ? write(at.path, bytes, edit) : undefined;
    case "append":
      return at.kind === "file" ? appendFileSync(at.path, bytes) : undefined;
    case "truncate":
      return at.kind === "file" ? truncateSync(at.path, Math.floor(statSync(at.path).size / 2)) : undefined;
    case "same-size edit":
      return at.kind === "file" ? editUnseen(at.path) : undefined;
    case "rename":
      return rename(at, other);
    case "make directory":
      return at.kind === undefined ? makeDirectory(at.path, edit) : undefined;
    case "remove":
      return rmSync(at.path, { recursive: true, force: true });
    case "to file":
    case "to directory":
    case "to symlink":
      rmSync(at.path, { recursive: true, force: true });
      if (edit.operation === "to file") return write(at.path, bytes, edit);
      if (edit.operation === "to directory") return makeDirectory(at.path, edit);
      return symlinkSync(Buffer.from(TARGETS[edit.content.length % TARGETS.length]!, "latin1"), at.path);
    case "hard link":
      return at.kind === "file" && other.kind === undefined && isDirectory(parentOf(other.path))
        ? linkSync(at.path, other.path)
        : undefined;
    case "change mode":
      if (at.kind === "file") chmodSync(at.path, FILE_MODES[edit.mode]!);
      else if (at.kind === "directory") chmodSync(at.path, DIRECTORY_MODES[edit.mode % 4]!);
  }
}

interface NodeAt {
  readonly path: Buffer;
  readonly kind: "file" | "directory" | "symlink" | undefined;
}

function nodeAt(root: string, below: string): NodeAt {
  const bytes = Buffer.from(`${root}/${below}`, "latin1");
  if (!isDirectory(parentOf(bytes))) return { path: bytes, kind: undefined };
  const stat = lstatSync(bytes, { throwIfNoEntry: false });
  const kind = stat?.isDirectory() ? "directory" : stat?.isSymbolicLink() ? "symlink" : stat && "file";
  return { path: bytes, kind };
}

function parentOf(bytes: Buffer): Buffer {
  return bytes.subarray(0, bytes.lastIndexOf("/"));
}

/** True for a directory that is reached without a symbolic link below the temporary root. */
function isDirectory(bytes: Buffer): boolean {
  try {
    const stat = lstatSync(bytes, { throwIfNoEntry: false });
    return stat?.isDirectory() === true && !passesLink(bytes);
  } catch {
    return false;
  }
}

function passesLink(bytes: Buffer): boolean {
  for (let end = bytes.indexOf("/", 1); end >= 0; end = bytes.indexOf("/", end + 1)) {
    if (lstatSync(bytes.subarray(0, end)).isSymbolicLink()) return true;
  }
  return false;
}

function write(file: Buffer, bytes: Buffer, { mode, oldTime }: TreeEdit): void {
  writeFileSync(file, bytes);
  chmodSync(file, FILE_MODES[mode]!);
  if (oldTime) utimesSync(file, WHOLE_SECONDS, WHOLE_SECONDS);
}

function makeDirectory(directory: Buffer, { mode }: TreeEdit): void {
  mkdirSync(directory);
  chmodSync(directory, DIRECTORY_MODES[mode % 4]!);
}

/** Another content of the same length, and the time as it was: only the change time tells. */
function editUnseen(file: Buffer): void {
  const bytes = readFileSync(file);
  if (bytes.length === 0) return;
  const { mtimeMs } = statSync(file);
  bytes[bytes.length - 1]! ^= 1;
  writeFileSync(file, bytes);
  utimesSync(file, mtimeMs / 1000, mtimeMs / 1000);
}

function rename(from: NodeAt, to: NodeAt): void {
  const isInside = to.path.subarray(0, from.path.length + 1).equals(Buffer.concat([from.path, Buffer.from("/")]));
  if (from.kind === undefined || isInside || from.path.equals(to.path) || !isDirectory(parentOf(to.path))) return;
  if (to.kind === undefined || (to.kind !== "directory" && from.kind !== "directory")) renameSync(from.path, to.path);
}
