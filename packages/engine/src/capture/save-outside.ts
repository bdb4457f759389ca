/**
 * Files outside the workspace that a tool names, or that a restore is about to write. What is refused is refused with a
 * reason: the system's own trees, other users' files, git's data, Belay's, and what another workspace captures.
 */
import {
  absolutePath,
  displayAbsolute,
  isInside,
  realPathAsFarAsPossible,
  type AbsolutePath,
} from "../fs/absolute-path.ts";
import { readOutsideFile } from "../fs/outside-file.ts";
import { insertOutside } from "../history/outside-files.ts";
import { isUtf8Path, type BytePath } from "../model/byte-path.ts";
import { MODE_BITS } from "../model/entry.ts";
import { hashBytes } from "../model/object-hash.ts";
import type { OutsideFile } from "../model/outside.ts";
import { hardExclude } from "../rules/hard-excludes.ts";
import { releaseQuietly } from "../store/lease.ts";
import { ObjectWriter } from "../store/object-writer.ts";
import type { Context } from "./context.ts";
import { roomFor } from "./with-capture.ts";

const MIB = 1024 * 1024;
/** The largest file that a tool's naming of it captures. */
const NAMED_BYTES = 10 * MIB;
/** The largest file that a restore saves before it replaces it. */
const SAVED_BYTES = 64 * MIB;
const MOST_FILES = 100;
const SYSTEM_TREES = ["/proc", "/sys", "/dev"].map(absolutePath);

/** A file outside, or why it is left alone. */
type Seen = { readonly file: OutsideFile; readonly bytes: Buffer | undefined } | { readonly reason: string };

/** Files outside that are on their way into a checkpoint, and a warning for each that is not. */
export interface SavedOutside {
  readonly files: readonly OutsideFile[];
  readonly warnings: readonly string[];
  /** Adds the files to a checkpoint, in the transaction that records it. */
  record(seq: number): void;
}

const NOTHING: SavedOutside = { files: [], warnings: [], record: () => undefined };

/** Stores the files that a tool named outside the workspace, and records them with the checkpoint that `work` takes. */
export function withNamedOutside<Result>(
  context: Context,
  texts: readonly string[],
  work: (saved: SavedOutside) => Result,
): Result {
  if (texts.length === 0) return work(NOTHING);
  if (!context.outside.isCaptured) return work({ ...NOTHING, warnings: texts.map(notCaptured) });
  const paths = texts.map((text) => ({ text, path: outsidePath(context, text) }));
  return withSaved(context, { paths, limitBytes: NAMED_BYTES, limitFiles: MOST_FILES }, work);
}

/** Saves files outside that are about to be replaced. */
export function withSavedOutside<Result>(
  context: Context,
  paths: readonly string[],
  work: (saved: SavedOutside) => Result,
): Result {
  const wanted = paths.map((text) => ({ text, path: absolutePath(text) }));
  return withSaved(context, { paths: wanted, limitBytes: SAVED_BYTES, limitFiles: Infinity }, work);
}

/** A file outside as it is now, with the same reasons that a capture of it has; nothing is stored. */
export function lookOutside(context: Context, text: string): OutsideFile | { readonly reason: string } {
  const seen = look(context, absolutePath(text), SAVED_BYTES);
  return "file" in seen ? seen.file : seen;
}

interface Wanted {
  readonly paths: readonly { readonly text: string; readonly path: AbsolutePath }[];
  readonly limitBytes: number;
  readonly limitFiles: number;
}

function withSaved<Result>(
  context: Context,
  { paths, limitBytes, limitFiles }: Wanted,
  work: (saved: SavedOutside) => Result,
): Result {
  const { store, system } = context;
  const writer = new ObjectWriter(store.db, store.objects, system.owner);
  const files = new Map<string, OutsideFile>();
  const warnings: string[] = [];
  let room = roomFor(context);
  try {
    for (const { text, path } of paths) {
      // what the name leads to is in the workspace: the tree has it
      if (isInside(path, context.workingCopy.root)) continue;
      const seen = files.size < limitFiles ? look(context, path, limitBytes) : { reason: TOO_MANY };
      room -= "file" in seen ? (seen.bytes?.length ?? 0) : 0;
      const reason = "reason" in seen ? seen.reason : room < 0 ? "the store has no room for it" : undefined;
      if (reason !== undefined)
        warnings.push(`${text} is outside the workspace and not captured: ${reason}.`);
      else if ("file" in seen) {
        if (seen.bytes !== undefined) writer.put(seen.bytes);
        files.set(seen.file.path, seen.file);
      }
    }
    writer.flush();
    const record = (seq: number) => recordFiles(context, seq, [...files.values()]);
    return work({ files: [...files.values()], warnings, record });
  } finally {
    releaseQuietly(() => writer.abandon());
  }
}

const TOO_MANY = `a checkpoint holds at most ${MOST_FILES} of them`;

/** [R3] `gc` may have freed content that was there before: what is not in the store is not recorded. */
function recordFiles({ store: { db, objects } }: Context, seq: number, files: readonly OutsideFile[]): void {
  const isThere = ({ entry }: OutsideFile) =>
    entry === undefined || [entry.hash, ...objects.pieceNames(entry.hash)].every((name) => objects.has(name));
  db.transaction(() => insertOutside(db, seq, files.filter(isThere)));
}

function outsidePath({ workingCopy: { root } }: Context, text: string): AbsolutePath {
  const whole = text.startsWith("/") ? text : `${displayAbsolute(root)}/${text}`;
  return realPathAsFarAsPossible(absolutePath(whole));
}

function look(context: Context, path: AbsolutePath, limit: number): Seen {
  const refused = whyRefused(context, path);
  if (refused !== undefined) return { reason: refused };
  const name = displayAbsolute(path);
  const read = readOutsideFile(path, limit);
  if (read === undefined) return { file: { path: name, entry: undefined }, bytes: undefined };
  if (typeof read === "string") return { reason: read };
  const { userId } = context.system;
  if (userId !== undefined && read.userId !== userId) return { reason: "it belongs to another user" };
  const { bytes, mode } = read;
  const entry = { kind: "file" as const, mode: mode & MODE_BITS, size: bytes.length, hash: hashBytes(bytes) };
  return { file: { path: name, entry }, bytes };
}

function whyRefused({ outside, workingCopy }: Context, path: AbsolutePath): string | undefined {
  if (!isUtf8Path(path as string as BytePath)) return "its name is not UTF-8";
  if (realPathAsFarAsPossible(path) !== path) return "a link is on the way to it";
  if (path.split("/").some((name) => hardExclude(name) !== undefined))
    return "it belongs to a git repository";
  if (outside.home !== undefined && isInside(path, realPathAsFarAsPossible(outside.home)))
    return "it belongs to Belay";
  if (isInside(path, workingCopy.root)) return "it is in the workspace";
  const other = outside.otherRoots().find((root) => isInside(path, root));
  if (other !== undefined) return `it belongs to the workspace ${displayAbsolute(other)}`;
  return SYSTEM_TREES.some((tree) => isInside(path, tree)) ? "it belongs to the system" : undefined;
}

function notCaptured(path: string): string {
  return `${path} is outside the workspace: what happens to it is not captured.`;
}
