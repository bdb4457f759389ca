/**
 * [R1405] A restore from a store in memory has no journal that outlives its process. So its stage says to which paths the
 * nodes in it belong, and the next process that opens the root puts back what a crash left there. Nothing is overwritten:
 * where something stands at a path, what was taken from it gets a name beside.
 */
import type { Context } from "../capture/context.ts";
import { below } from "../fs/absolute-path.ts";
import { Anchor } from "../fs/anchor.ts";
import { removeFile } from "../fs/durable-file.ts";
import { isErrno } from "../fs/file-stat.ts";
import { HeldDirectory } from "../fs/held-directory.ts";
import { createDirectory, createFile } from "../fs/mutate.ts";
import { readOutsideFile } from "../fs/outside-file.ts";
import { ancestorPaths, displayPath, pathFromBytes, pathToBytes, type BytePath } from "../model/byte-path.ts";
import type { Edit } from "../model/plan.ts";
import type { ProcessIdentity } from "../model/process-identity.ts";
import { isSafeName } from "../model/tree.ts";
import { neverCapturedAt, STAGE_PREFIX } from "../rules/hard-excludes.ts";
import { giveName, NAMES, type Stage } from "./stage.ts";

const LARGEST_BYTES = 64 * 1024 * 1024;

interface LeftNames {
  readonly owner: ProcessIdentity;
  /** By the number of the edit. */
  readonly paths: readonly BytePath[];
}

/** Says in the stage of a store in memory what belongs where. */
export function noteNames({ store, system }: Context, stage: Stage, edits: readonly Edit[]): void {
  if (store.directory !== undefined) return;
  const paths = edits.map(({ path }) => pathToBytes(path).toString("base64"));
  const text = JSON.stringify({ owner: system.owner, paths });
  createFile(stage.at(NAMES), [Buffer.from(text)], { mode: 0o600, sync: true });
}

/** Puts back what the stage of a dead process holds; undefined where it says nothing that can be believed. */
export function putNamesBack(context: Context, operation: string): string[] | undefined {
  const name = `${STAGE_PREFIX}${operation}`;
  using directory = HeldDirectory.open(below(context.workingCopy.root, name));
  const left = directory && readNames(context, directory, name);
  if (directory === undefined || left === undefined) return undefined;
  if (context.system.isAlive(left.owner)) return [];
  using anchor = new Anchor(context.workingCopy.root);
  const told = directory.list().flatMap((node) => {
    const path = left.paths[Number(/^o(\d+)$/.exec(node)?.[1] ?? -1)];
    return path === undefined ? [] : (putBack({ directory, anchor, operation }, node, path) ?? []);
  });
  // what is new in it is a copy of what the dead store had, and never was at its path
  for (const node of directory.list())
    if (/^(n\d+|probe|draft|belay-[0-9a-f]{32})$/.test(node) || node === NAMES)
      removeFile(directory.at(node));
  directory.removeIfEmpty();
  return [
    "A restore whose store was in memory was interrupted. What it had taken away is back in its place.",
    ...told,
  ];
}

interface Place {
  readonly directory: HeldDirectory;
  readonly anchor: Anchor;
  readonly operation: string;
}

function putBack({ directory, anchor, operation }: Place, node: string, path: BytePath): string | undefined {
  for (const above of ancestorPaths(path)) makeIfMissing(anchor, above);
  const beside = `${path}.displaced-${operation}` as BytePath;
  const at = directory.at(node);
  const isBack = giveName(at, anchor.at(path));
  if (isBack || giveName(at, anchor.at(beside))) removeFile(at);
  if (isBack) return undefined;
  return `${displayPath(path)} has already been restored; what was there before is ${displayPath(beside)} now.`;
}

function makeIfMissing(anchor: Anchor, path: BytePath): void {
  try {
    createDirectory(anchor.at(path));
  } catch (error) {
    if (!isErrno(error, "EEXIST")) throw error;
  }
}

/** Only a private directory of this user is believed: a repository that brings one along has another mode. */
function readNames(
  { system, workingCopy }: Context,
  { stat }: HeldDirectory,
  name: string,
): LeftNames | undefined {
  const isOwn = system.userId === undefined || Number(stat.uid) === system.userId;
  if (!isOwn || (stat.mode & 0o077n) !== 0n) return undefined;
  const read = readOutsideFile(below(workingCopy.root, `${name}/${NAMES}`), LARGEST_BYTES);
  if (read === undefined || typeof read === "string") return undefined;
  try {
    const { owner, paths } = JSON.parse(read.bytes.toString()) as { owner: ProcessIdentity; paths: string[] };
    const known = paths.map((path) => pathFromBytes(Buffer.from(path, "base64")));
    const areSafe = known.every(
      (path) => path.split("/").every(isSafeName) && neverCapturedAt(path) === undefined,
    );
    return areSafe ? { owner, paths: known } : undefined;
  } catch {
    return undefined;
  }
}
