/**
 * Ghosts: checkpoints that the user's git repository has as commits below `refs/belay/ghost/`. The store stays the
 * truth; a ghost is for looking with git's own tools. Only objects and those refs are written, never an index, HEAD,
 * setting or reflog, and no hook or filter runs. Where no ghost can be made there is a reason instead.
 */
import type { Context } from "../capture/context.ts";
import { lookNow } from "../capture/look-now.ts";
import { below, type AbsolutePath } from "../fs/absolute-path.ts";
import { removeFile } from "../fs/durable-file.ts";
import { statNode } from "../fs/file-stat.ts";
import { listDirectory } from "../fs/list-directory.ts";
import { commitDirectly } from "../git/direct-commit.ts";
import {
  addGhostRef,
  cleanUp,
  commitEntries,
  dropGhostRefs,
  importCommit,
  isWhole,
  listGhostRefs,
  obstacle,
  type CommitEntry,
  type GhostRef,
  type ImportedCommit,
} from "../git/git-ghosts.ts";
import { readHead } from "../git/git-head.ts";
import { indexKey, readGitIndex, type GitIndex } from "../git/git-index.ts";
import { findRepository, type Repository } from "../git/git-repository.ts";
import { addAlias } from "../history/aliases.ts";
import { keptCheckpoint } from "../history/checkpoints.ts";
import { pathFromText, type BytePath } from "../model/byte-path.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import type { Ghost } from "../model/ghost.ts";
import type { ObjectHash } from "../model/object-hash.ts";
import { directCommit, writeStream, type GhostCommit } from "./ghost-stream.ts";
import { forgetLast, readLast, writeLast, type LastGhost } from "./last-ghost.ts";
import { changesFromGhost, changesFromHead, type GhostChanges, type GhostFacts } from "./ghost-tree.ts";

/** Why there is no ghost. */
export interface MissingGhost {
  readonly missing: string;
}

/** A request for one ghost. */
export interface GhostRequest {
  readonly checkpoint: Checkpoint;
  readonly description?: string | undefined;
  /** Beyond this many the oldest go. */
  readonly keep: number;
  /** The checkpoint was taken a moment ago, so the disk is what it has. */
  readonly isPresent?: boolean;
}

/** The input of an import, until git has read it. */
const STREAM = "ghost-stream-";
const STREAM_AGE_MS = 60 * 60_000;
const MOST_LEFT_OUT = 5000;
const DESCRIPTION_LENGTH = 200;

/** Where ghosts can be made. */
interface Place {
  readonly repository: Repository;
  readonly directory: AbsolutePath;
}

/** The repository that ghosts go to, or why there is none. */
export function ghostPlace(context: Context): Place | MissingGhost {
  const { workingCopy, store, system } = context;
  const repository = findRepository(workingCopy.root);
  if (repository === undefined)
    return { missing: "the directory is not in a git repository with a working tree" };
  if (store.directory === undefined) return { missing: "the store is in memory" };
  const missing = obstacle(repository, system.userId, gitOptions(context));
  return missing === undefined ? { repository, directory: store.directory } : { missing };
}

/** Makes the ghost of a checkpoint, or returns the one that it has. What the user's clean-up took is made once more. */
export function makeGhost(context: Context, request: GhostRequest): Ghost | MissingGhost {
  const made = tryGhost(context, request) ?? tryGhost(context, request);
  return made ?? { missing: "git took away what was written, because it cleans up the repository" };
}

/** Undefined where objects of it went in the meantime. */
function tryGhost(context: Context, request: GhostRequest): Ghost | MissingGhost | undefined {
  const place = ghostPlace(context);
  if ("missing" in place) return place;
  const { repository, directory } = place;
  const git = gitOptions(context);
  const isCleaned = () => cleanUp(repository, context.system.now());
  const cleaning = isCleaned();
  if (cleaning !== undefined) return { missing: cleaning };
  const head = readHead(repository, git);
  const index = indexOf(repository, git);
  if (head === undefined || index === null) return { missing: "HEAD or the index cannot be read" };
  const { checkpoint } = request;
  const present = request.isPresent === true ? inStore(context, checkpoint) : lookNow(context);
  const last = soundLast(context, place);
  const facts: GhostFacts = { repository, index, checkpoint, present };
  const made =
    startFromLast(context, facts, { last, head: head.commit, request, directory }) ??
    startFromHead(context, facts, { head: head.commit, request, directory });
  if ("missing" in made) return made;
  const failed = addGhostRef(repository, { id: checkpoint.id, commit: made.commit }, git);
  if (failed !== undefined) return existing(context, place, checkpoint) ?? { missing: failed };
  const { commit, written } = made;
  if (isCleaned() !== undefined || !isWhole(repository, { commit, parent: head.commit, written }, git)) {
    takeBack(context, place, { id: checkpoint.id, commit });
    return undefined;
  }
  if (made.commit !== head.commit)
    // the ref itself tells, should a power cut take the alias away
    context.store.db.fleetingTransaction(() =>
      addAlias(context.store.db, checkpoint, { origin: "ghost", name: made.commit }),
    );
  const count = dropOldest(context, place, request.keep, last);
  const { tree, headTree, leftOut } = made;
  if (head.commit !== null && headTree !== null && leftOut.length <= MOST_LEFT_OUT) {
    const id = checkpoint.id;
    const own = { id, commit, written: written ?? null, head: head.commit, headTree, tree, count };
    writeLast(directory, { ...own, checkpoint, leftOut });
  }
  return {
    id: checkpoint.id,
    commit: made.commit,
    description: describe(request),
    createdAt: checkpoint.createdAt,
    turn: checkpoint.messageId ?? null,
    checkpoint: checkpoint.id,
    leftOut: leftOut.length,
  };
}

/** [R2433] The last ghost. One that the user's clean-up took parts of keeps their own `gc` from working, and goes. */
function soundLast(context: Context, place: Place): LastGhost | undefined {
  const last = readLast(place.directory);
  if (last === undefined) return undefined;
  const { commit, head: parent, written } = last;
  const options = { commit, parent, written: written ?? undefined };
  if (isWhole(place.repository, options, gitOptions(context))) return last;
  takeBack(context, place, last);
  return undefined;
}

function takeBack(context: Context, place: Place, { id, commit }: { id: string; commit: string }): void {
  const ref = { id, commit, committedAt: 0, message: "" };
  dropGhostRefs(place.repository, [ref], gitOptions(context));
  forgetLast(place.directory);
}

/** The index that was last read: between two turns it is mostly the same. Git never writes one in place. */
let lastRead: { readonly place: string; readonly index: GitIndex } | undefined;

/** Decoding 20,000 entries takes ten milliseconds, a third of what a ghost costs. */
function indexOf(repository: Repository, git: ReturnType<typeof gitOptions>): GitIndex | null {
  const { gitDir, prefix } = repository;
  const place = `${gitDir}\0${prefix}`;
  if (lastRead?.place === place && lastRead.index.key === indexKey(repository)) return lastRead.index;
  const index = readGitIndex(repository, git);
  lastRead = index === null ? undefined : { place, index };
  return index;
}

/** The ghosts of this workspace, newest first; also those whose checkpoints the store no longer has. */
export function listGhosts(context: Context): Ghost[] | MissingGhost {
  const place = ghostPlace(context);
  if ("missing" in place) return place;
  const refs = refsHere(context, place);
  return "failed" in refs ? { missing: refs.failed } : refs.map((ref) => asGhost(context, ref));
}

/** Takes ghosts away, those named or all of this workspace; returns how many. The checkpoints stay. */
export function dropGhosts(context: Context, ids: readonly string[] | "all"): number | MissingGhost {
  const place = ghostPlace(context);
  if ("missing" in place) return place;
  const refs = refsHere(context, place);
  if ("failed" in refs) return { missing: refs.failed };
  const wanted = ids === "all" ? refs : refs.filter(({ id }) => ids.includes(id));
  const failed =
    wanted.length === 0 ? undefined : dropGhostRefs(place.repository, wanted, gitOptions(context));
  forgetLast(place.directory);
  return failed === undefined ? wanted.length : { missing: failed };
}

/** A ghost of this workspace as its ref tells it, with its checkpoint where the store has it. */
export interface FoundGhost {
  readonly id: string;
  readonly commit: string;
  readonly committedAt: number;
  readonly description: string;
  readonly leftOut: number;
  readonly known: Checkpoint | undefined;
}

/** The ghosts of this workspace and how to ask git about them, or why there are none. */
export function findGhosts(
  context: Context,
):
  | { repository: Repository; git: ReturnType<typeof gitOptions>; ghosts: readonly FoundGhost[] }
  | MissingGhost {
  const place = ghostPlace(context);
  if ("missing" in place) return place;
  const refs = refsHere(context, place);
  if ("failed" in refs) return { missing: refs.failed };
  const ghosts = refs.map((ref) => {
    const { description, leftOut } = asGhost(context, ref);
    const { id, commit, committedAt } = ref;
    return { id, commit, committedAt, description, leftOut, known: checkpointOf(context, id) };
  });
  return { repository: place.repository, git: gitOptions(context), ghosts };
}

function gitOptions({ system }: Context): { commandPath: string; home: string } {
  return { commandPath: system.commandPath, home: system.homeDirectory };
}

function inStore({ store }: Context, { snapshot }: Checkpoint): GhostFacts["present"] {
  return { snapshot, objects: store.objects };
}

interface Start {
  readonly head: string | null;
  readonly request: GhostRequest;
  readonly directory: AbsolutePath;
}

interface Made {
  readonly commit: string;
  readonly tree: string;
  readonly written: readonly string[] | undefined;
  readonly headTree: string | null;
  readonly leftOut: readonly BytePath[];
}

/** From the tree of the last ghost, if HEAD and the rules are still the same; undefined when that cannot be. */
function startFromLast(
  context: Context,
  facts: GhostFacts,
  start: Start & { last: LastGhost | undefined },
): Made | undefined {
  const { last, head } = start;
  if (last === undefined || last.head !== head || last.rules !== facts.checkpoint.rules) return undefined;
  const changes = changesFromGhost(context, facts, {
    snapshot: last.snapshot as ObjectHash,
    leftOut: last.leftOut.map((path) => pathFromText(path)),
  });
  if (changes === undefined) return undefined;
  const made = makeCommit(context, facts, { ...start, changes, last });
  // the user's gc may have taken the tree away
  return "missing" in made ? undefined : made;
}

function startFromHead(context: Context, facts: GhostFacts, start: Start): Made | MissingGhost {
  const { head } = start;
  const entries =
    head === null
      ? new Map<BytePath, CommitEntry>()
      : commitEntries(facts.repository, head, gitOptions(context));
  if ("failed" in entries) return { missing: entries.failed };
  const changes = changesFromHead(context, facts, entries);
  return makeCommit(context, facts, { ...start, changes });
}

/** Where nothing differs from HEAD the commit is HEAD. */
function makeCommit(
  context: Context,
  { repository, checkpoint }: GhostFacts,
  { head, request, directory, changes, last }: Start & { changes: GhostChanges; last?: LastGhost },
): Made | MissingGhost {
  removeOldStreams(context, directory);
  const ghost: GhostCommit = {
    ...changes,
    id: checkpoint.id,
    message: messageOf(context, request, changes.leftOut.length),
    time: Math.floor(context.system.now() / 1000),
    parent: head,
    parentTree: last?.headTree,
    tree: last?.tree,
    prefix: repository.prefix,
  };
  const made =
    commitDirectly(repository, directCommit(context.store.objects, ghost), gitOptions(context)) ??
    importStream(context, repository, directory, ghost);
  if ("failed" in made) return { missing: made.failed };
  const { tree, parentTree, written } = made;
  const commit = head !== null && tree === parentTree ? head : made.commit;
  return { commit, tree, written, headTree: parentTree, leftOut: changes.leftOut };
}

function importStream(
  context: Context,
  repository: Repository,
  directory: AbsolutePath,
  ghost: GhostCommit,
): ImportedCommit | { failed: string } {
  const { id, parent } = ghost;
  const stream = below(directory, `${STREAM}${id}`);
  try {
    writeStream(stream, context.store.objects, ghost);
    const place = below(directory, "ghost.git");
    return importCommit(repository, { place, stream, id, parent }, gitOptions(context));
  } finally {
    removeFile(stream);
  }
}

/** What a process left behind that was killed while git read it. */
function removeOldStreams({ system }: Context, directory: AbsolutePath): void {
  for (const name of listDirectory(directory)) {
    if (!name.startsWith(STREAM)) continue;
    const path = below(directory, name);
    const stat = statNode(path);
    if (stat !== undefined && system.now() - Number(stat.mtimeMs) > STREAM_AGE_MS) removeFile(path);
  }
}

function describe({ checkpoint, description }: GhostRequest): string {
  const text = description ?? checkpoint.name ?? checkpoint.description;
  const plain = text.replaceAll(/\p{Cc}+/gu, " ").trim();
  return plain.slice(0, DESCRIPTION_LENGTH).toWellFormed();
}

function messageOf({ store }: Context, request: GhostRequest, leftOut: number): string {
  const { checkpoint } = request;
  const facts = {
    "Belay-Checkpoint": checkpoint.id,
    "Belay-Snapshot": checkpoint.snapshot,
    "Belay-Workspace": store.id,
    ...(checkpoint.messageId === null || /\p{Cc}/u.test(checkpoint.messageId)
      ? {}
      : { "Belay-Turn": checkpoint.messageId }),
    "Belay-Left-Out": leftOut,
  };
  const trailers = Object.entries(facts).map(([key, value]) => `${key}: ${value}\n`);
  return `[ghost] ${describe(request)}\n\n${trailers.join("")}`;
}

/** The refs of this workspace, newest first: of one that leads to HEAD only its checkpoint tells whose it is. */
function refsHere(context: Context, { repository }: Place): GhostRef[] | { failed: string } {
  const refs = listGhostRefs(repository, gitOptions(context));
  if ("failed" in refs) return refs;
  return refs
    .filter(
      ({ id, message }) =>
        trailer(message, "Workspace") === context.store.id ||
        (trailer(message, "Workspace") === undefined && checkpointOf(context, id) !== undefined),
    )
    .map((ref) => ({ ref, seq: checkpointOf(context, ref.id)?.seq ?? 0 }))
    .toSorted((a, b) => b.seq - a.seq || b.ref.committedAt - a.ref.committedAt)
    .map(({ ref }) => ref);
}

function checkpointOf({ store }: Context, id: string): Checkpoint | undefined {
  return keptCheckpoint(store.db, id);
}

function asGhost(context: Context, ref: GhostRef): Ghost {
  const checkpoint = checkpointOf(context, ref.id);
  const isOwn = trailer(ref.message, "Workspace") !== undefined;
  const subject = /^\[ghost\] (.*)/.exec(ref.message)?.[1] ?? "";
  return {
    id: ref.id,
    commit: ref.commit,
    description: isOwn || checkpoint === undefined ? subject : describe({ checkpoint, keep: 0 }),
    createdAt: checkpoint?.createdAt ?? ref.committedAt,
    turn: checkpoint === undefined ? (trailer(ref.message, "Turn") ?? null) : (checkpoint.messageId ?? null),
    checkpoint: checkpoint?.id ?? null,
    leftOut: Number(trailer(ref.message, "Left-Out") ?? 0),
  };
}

function trailer(message: string, name: string): string | undefined {
  if (!message.startsWith("[ghost] ")) return undefined;
  return new RegExp(`^Belay-${name}: (.*)$`, "m").exec(message)?.[1];
}

/** A checkpoint has one ghost. */
function existing(context: Context, place: Place, { id }: Checkpoint): Ghost | undefined {
  const refs = refsHere(context, place);
  const ref = "failed" in refs ? undefined : refs.find((one) => one.id === id);
  return ref && asGhost(context, ref);
}

/** Takes the oldest beyond `keep` away; returns how many there are now. */
function dropOldest(context: Context, place: Place, keep: number, last: LastGhost | undefined): number {
  if (last !== undefined && last.count < keep) return last.count + 1;
  const refs = refsHere(context, place);
  if ("failed" in refs) return keep;
  const old = refs.slice(keep);
  // what cannot be dropped now goes with the next one
  if (old.length > 0) dropGhostRefs(place.repository, old, gitOptions(context));
  return refs.length - old.length;
}
