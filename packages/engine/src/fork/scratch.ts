/**
 * A scratch copy: a state that is in no working copy yet, as files in a directory of its own, with the dependencies of the
 * workspace, so that a program can try it. It has no row, no branch and no git repository, and nothing in it is ever
 * captured. Its name says which process made it; one of a process that died is removed when the next is made.
 */
import type { Context } from "../capture/context.ts";
import { below, displayAbsolute, parentOf, type AbsolutePath } from "../fs/absolute-path.ts";
import { removeTree } from "../fs/remove-tree.ts";
import { makePrivateDirectory } from "../fs/durable-file.ts";
import { listDirectory } from "../fs/list-directory.ts";
import { createDirectory, removeEmptyDirectory } from "../fs/mutate.ts";
import { explainSystemError, isSystemError } from "../fs/system-error.ts";
import type { ExcludedRoot } from "../model/checkpoint.ts";
import type { ObjectHash } from "../model/object-hash.ts";
import type { ProcessIdentity } from "../model/process-identity.ts";
import type { System } from "../model/system.ts";
import type { ObjectSource } from "../store/object-store.ts";
import { copyAdditions, findAdditions } from "./dependencies.ts";
import { FORKS_NAME } from "./fork-place.ts";
import { forksPlace, sharesBlocksWith } from "./forks-place.ts";
import type { Forking } from "./forking.ts";
import { makeFiles } from "./make-files.ts";
import { paused } from "./paused.ts";

/** The state that a scratch copy holds. */
export interface ScratchState {
  readonly snapshot: ObjectHash;
  readonly objects: ObjectSource;
  /** What the rules left out of it, dependencies among it. */
  readonly excluded: readonly ExcludedRoot[];
}

/** A copy to try something in. */
export interface Scratch {
  /** The directory of its files. */
  readonly path: string;
  /** Removes it. */
  close(): Promise<void>;
}

const PREFIX = ".scratch-";

/** Writes a state into a scratch copy. */
export async function makeScratch(
  context: Context,
  forking: Forking,
  { snapshot, objects, excluded }: ScratchState,
): Promise<Scratch> {
  const { system, workingCopy } = context;
  const { root } = workingCopy;
  const place = forksPlace(context, forking);
  const outer = below(place, `${PREFIX}${system.newId()}-${ownerName(system.owner)}`);
  // a program may look at the name of the directory it runs in
  const tree = below(outer, root.slice(root.lastIndexOf("/") + 1) || "root");
  try {
    makePrivateDirectory(place);
    createDirectory(outer);
    createDirectory(tree);
    await removeAbandoned(place, system);
    const clone = sharesBlocksWith(context, place);
    const original = { root, table: workingCopy.lastScan?.table };
    await paused(makeFiles({ objects, snapshot, original, target: tree, clone, withGaps: true }));
    const { copyLimitBytes, dependencies } = forking.settings;
    const limits = { root, excluded, clone, limitBytes: copyLimitBytes };
    const additions = dependencies === "none" ? [] : findAdditions(limits);
    await paused(copyAdditions(additions, { root, making: tree, final: tree, clone }));
  } catch (error) {
    await clear(outer);
    const path = displayAbsolute(place);
    throw explainSystemError(error, { what: "A scratch copy could not be made", path, operation: "fork" });
  }
  return { path: displayAbsolute(tree), close: () => clear(outer) };
}

function ownerName({ pid, started, boot }: ProcessIdentity): string {
  return Buffer.from(JSON.stringify([pid, started, boot])).toString("base64url");
}

function ownerOf(name: string): ProcessIdentity | undefined {
  try {
    const written = name.slice(name.indexOf("-", PREFIX.length) + 1);
    const text = Buffer.from(written, "base64url").toString("utf8");
    const [pid, started, boot] = JSON.parse(text) as [number, string, string];
    return { pid, started, boot };
  } catch {
    return undefined;
  }
}

async function removeAbandoned(place: AbsolutePath, system: System): Promise<void> {
  for (const name of listDirectory(place)) {
    // what this process has just made is its own, whatever is known of the process
    const isOthers = name.startsWith(PREFIX) && !name.endsWith(`-${ownerName(system.owner)}`);
    const owner = isOthers ? ownerOf(name) : undefined;
    if (owner !== undefined && !system.isAlive(owner)) await clear(below(place, name));
  }
}

/** The directories of forks go with the last thing in them. What cannot be removed goes when this process is gone and another makes one. */
async function clear(outer: AbsolutePath): Promise<void> {
  try {
    await paused(removeTree(outer));
    const place = parentOf(outer);
    if (removeEmptyDirectory(place) && parentOf(place).endsWith(`/${FORKS_NAME}`))
      removeEmptyDirectory(parentOf(place));
  } catch (error) {
    if (!isSystemError(error)) throw error;
  }
}
