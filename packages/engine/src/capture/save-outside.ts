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
import { readOutsideFile, type ReadOutside } from "../fs/outside-file.ts";
import { insertOutside } from "../history/outside-files.ts";
import { isUtf8Path, type BytePath } from "../model/byte-path.ts";
import type { Deadline } from "../model/deadline.ts";
import { MODE_BITS } from "../model/entry.ts";
import { hashBytes } from "../model/object-hash.ts";
import type { OutsideFile } from "../model/outside.ts";
import { hardExclude } from "../rules/hard-excludes.ts";
import { releaseQuietly } from "../store/lease.ts";
import { ObjectWriter } from "../store/object-writer.ts";
import type { Context } from "./context.ts";
import { changedAfter } from "./late-view.ts";
import { roomFor } from "./with-capture.ts";

const MIB = 1024 * 1024;
/** The largest file that a tool's naming of it captures. */
const NAMED_BYTES = 10 * MIB;
/** The largest file that a restore saves before it replaces it. */
const SAVED_BYTES = 64 * MIB;
const MOST_FILES = 100;
const SYSTEM_TREES = ["/proc", "/sys", "/dev"].map(absolutePath);

/** A file outside, or why it is left alone. */
type Seen = SeenFile | { readonly reason: string };

/** A file outside as it is now. */
export interface SeenFile {
  readonly file: OutsideFile;
  /** undefined: nothing has this name. */
  readonly read: ReadOutside | undefined;
}

/** Files outside that are on their way into a checkpoint, and a warning for each that is not. */
export interface SavedOutside {
  readonly warnings: readonly string[];
  /** Adds the files to a checkpoint; returns those that it has now. */
  record(seq: number): readonly OutsideFile[];
}

const NOTHING: SavedOutside = { warnings: [], record: () => [] };

/** What a tool or a caller named. */
export interface NamedOutside {
  readonly paths: readonly string[];
  /** When the caller stopped waiting. */
  readonly deadline?: Deadline | undefined;
}

/** Stores the files that a tool named outside the workspace, and records them with the checkpoint that `work` takes. */
export function withNamedOutside<Result>(
  context: Context,
  { paths: texts, deadline }: NamedOutside,
  work: (saved: SavedOutside) => Result,
): Result {
  if (texts.length === 0) return work(NOTHING);
  if (!context.outside.isCaptured) return work({ ...NOTHING, warnings: texts.map(notCaptured) });
  const paths = texts.map((text) => ({ text, path: outsidePath(context, text) }));
  return withSaved(context, { paths, limitBytes: NAMED_BYTES, limitFiles: MOST_FILES, deadline }, work);
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
export function lookOutside(context: Context, text: string): Seen {
  return look(context, absolutePath(text), SAVED_BYTES);
}

interface Wanted {
  readonly paths: readonly { readonly text: string; readonly path: AbsolutePath }[];
  readonly limitBytes: number;
  readonly limitFiles: number;
  readonly deadline?: Deadline | undefined;
}

function withSaved<Result>(
  context: Context,
  { paths, limitBytes, limitFiles, deadline }: Wanted,
  work: (saved: SavedOutside) => Result,
): Result {
  const { store, system } = context;
  const writer = new ObjectWriter(store.db, store.objects, system.owner);
  const files = new Map<string, OutsideFile>();
  const warnings: string[] = [];
  const warn = (text: string, reason: string) =>
    warnings.push(`${text} is outside the workspace and not captured: ${reason}.`);
  let room = roomFor(context);
  try {
    for (const { text, path } of paths) {
      // what the name leads to is in the workspace: the tree has it
      if (isInside(path, context.workingCopy.root)) continue;
      const seen =
        files.size < limitFiles
          ? inTime(context, look(context, path, limitBytes), deadline)
          : { reason: TOO_MANY };
      room -= "file" in seen ? (seen.read?.bytes.length ?? 0) : 0;
      if ("reason" in seen) warn(text, seen.reason);
      else if (room < 0) warn(text, "the store has no room for it");
      else {
        if (seen.read !== undefined) writer.put(seen.read.bytes);
        files.set(seen.file.path, seen.file);
      }
    }
    writer.flush();
    const record = (seq: number) => recordFiles(context, seq, { files: [...files.values()], warn });
    return work({ warnings, record });
  } finally {
    releaseQuietly(() => writer.abandon());
  }
}

const TOO_MANY = `a checkpoint holds at most ${MOST_FILES} of them`;

/** [R1402] Read after the deadline, only what has not changed since is what the agent was shown to leave behind. */
function inTime({ system }: Context, seen: Seen, deadline: Deadline | undefined): Seen {
  if (deadline === undefined || "reason" in seen || system.now() < deadline.at) return seen;
  const isKnown = seen.read !== undefined && !changedAfter(deadline, seen.read.stat.ctimeNs);
  return isKnown ? seen : { reason: "it was read late, and may have changed since the agent went on" };
}

/** [R3] `gc` may have freed content that was there before: what is not in the store is not recorded, and is reported. */
function recordFiles(
  { store: { db, objects } }: Context,
  seq: number,
  { files, warn }: { files: readonly OutsideFile[]; warn(path: string, reason: string): void },
): OutsideFile[] {
  const isThere = ({ entry }: OutsideFile) =>
    entry === undefined ||
    (objects.has(entry.hash) && objects.pieceNames(entry.hash).every((name) => objects.has(name)));
  return db.transaction(() => {
    const recorded = files.filter(isThere);
    for (const { path } of files)
      if (!recorded.some((file) => file.path === path)) warn(path, "the store freed its content meanwhile");
    insertOutside(db, seq, recorded);
    return recorded;
  });
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
  if (read === undefined) return { file: { path: name, entry: undefined }, read };
  if (typeof read === "string") return { reason: read };
  const { userId } = context.system;
  if (userId !== undefined && Number(read.stat.uid) !== userId)
    return { reason: "it belongs to another user" };
  return { file: { path: name, entry: entryOf(read) }, read };
}

/** A file that was read, as checkpoints name it. */
export function entryOf({ bytes, stat }: ReadOutside): NonNullable<OutsideFile["entry"]> {
  const mode = Number(stat.mode) & MODE_BITS;
  return { kind: "file", mode, size: bytes.length, hash: hashBytes(bytes) };
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
