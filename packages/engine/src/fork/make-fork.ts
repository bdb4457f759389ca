/**
 * Makes a fork: rows that say so, files in `.making-<id>`, one sync, then the final name. Until the fork is ready nothing
 * but Belay was in it, so what a crash leaves is removed by the next command (`recover-forks.ts`).
 */
import { assertBranchFree } from "../branch/change-branches.ts";
import { assertBranchName } from "../branch/branch-name.ts";
import type { Context } from "../capture/context.ts";
import { withCapture } from "../capture/with-capture.ts";
import { below, displayAbsolute, parentOf, type AbsolutePath } from "../fs/absolute-path.ts";
import { removeTree } from "../fs/remove-tree.ts";
import { makePrivateDirectory, syncDirectory, syncFileSystem } from "../fs/durable-file.ts";
import { readFileClock } from "../fs/file-clock.ts";
import { fileSystemKind } from "../fs/file-system-kind.ts";
import { freePortBlock } from "../fs/free-ports.ts";
import { createDirectory, move } from "../fs/mutate.ts";
import { explainSystemError } from "../fs/system-error.ts";
import { insertBranch, namedBranch } from "../history/branches.ts";
import {
  deleteFork,
  insertFork,
  isForkNamed,
  listForks,
  listSpareForks,
  setForkFacts,
  setForkPlace,
  type ForkRow,
} from "../history/forks.ts";
import { resolveState } from "../history/references.ts";
import { baseName, displayPath, parentPath, ROOT_PATH } from "../model/byte-path.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import { EngineError } from "../model/errors.ts";
import type { ForkRequest } from "../model/fork.ts";
import { decodeExcluded } from "../rules/excluded-list.ts";
import { isMapped } from "../scan/database-names.ts";
import type { FileTable } from "../scan/file-table.ts";
import { RACY } from "../scan/stat-columns.ts";
import { writeStatCache } from "../scan/stat-cache.ts";
import { rootIdentity, type RootIdentity } from "../store/registry.ts";
import { statCacheName } from "../store/store.ts";
import { copyAdditions, findAdditions, type Addition, type CopiedAdditions } from "./dependencies.ts";
import { freeDirectory } from "./fork-place.ts";
import { forksPlace, sharesBlocksWith } from "./forks-place.ts";
import { isForkThere, withRegistry, type Forking } from "./forking.ts";
import { handedOver, NOT_KNOWN } from "./hand-over-rules.ts";
import { makeFiles, type MadeFiles } from "./make-files.ts";
import { paused } from "./paused.ts";
import { refuseTooMuch } from "./preflight.ts";
import { makePrivateRepository } from "./private-repository.ts";
import { clearAway } from "./remove-fork.ts";
import { takeSpare } from "./spare-fork.ts";

/** A fork whose files are in place and which is not ready yet. */
export interface PlacedFork {
  readonly row: ForkRow;
  readonly warnings: readonly string[];
}

/** What is decided before anything is written. */
interface Draft {
  readonly name: string;
  readonly source: Checkpoint;
  /** The present was captured for this fork. */
  readonly isPresent: boolean;
  readonly place: AbsolutePath;
  readonly clone: boolean;
  readonly additions: readonly Addition[];
  readonly git: boolean;
  readonly port: number | null;
  readonly started: number;
}

/** Makes the files of a fork at their final place. */
export async function placeFork(
  context: Context,
  forking: Forking,
  { name: given, request }: { name: string | undefined; request: ForkRequest },
): Promise<PlacedFork> {
  const { db } = context.store;
  const started = context.system.elapsed();
  const name = given ?? freeName(context);
  assertBranchName(name);
  assertNameFree(context, name);
  const source =
    request.from === undefined ? capturePresent(context, name) : resolveState(context, request.from);
  const draft = await prepare(context, forking, { name, source, request, started });
  const workingCopy = db.transaction(() => begin(context, forking, draft));
  try {
    const warnings = await build(context, forking, { draft, workingCopy });
    return { row: listForks(db).find((row) => row.workingCopy === workingCopy)!, warnings };
  } catch (error) {
    takeBack(context, forking, workingCopy);
    const path = displayAbsolute(draft.place);
    throw explainSystemError(error, {
      what: `The fork "${name}" could not be made`,
      path,
      operation: "fork",
    });
  }
}

/** Removes everything of a fork that never became ready. */
export function takeBack(context: Context, forking: Forking, workingCopy: number): void {
  const { db, directory } = context.store;
  const row = listForks(db).find((each) => each.workingCopy === workingCopy);
  withRegistry(context, forking, (registry) => registry.removeFork({ id: forking.id, workingCopy }));
  if (row !== undefined) {
    // the row may name the place it was about to get
    drain(removeTree(makingPath(parentOf(row.root), forking, workingCopy)));
    if (isForkThere(row)) drain(removeTree(row.root));
  }
  if (directory !== undefined) drain(removeTree(below(directory, statCacheName(workingCopy))));
  db.transaction(() => deleteFork(db, workingCopy));
}

function drain(work: Iterable<void>): void {
  for (const _ of work);
}

function freeName({ store: { db } }: Context): string {
  for (let number = 1; ; number += 1)
    if (namedBranch(db, `fork-${number}`) === undefined && !isForkNamed(db, `fork-${number}`))
      return `fork-${number}`;
}

/** A fork keeps its name when its branch gets another one: both kinds of names count. */
function assertNameFree(context: Context, name: string): void {
  assertBranchFree(context, name);
  if (!isForkNamed(context.store.db, name)) return;
  const message = `A fork has the name "${name}" already. Nothing was changed.`;
  throw new EngineError("BRANCH_TAKEN", message, { branch: name, deleted: false });
}

function capturePresent(context: Context, name: string): Checkpoint {
  return withCapture(context, {}, (capture) => {
    const request = { kind: "safety" as const };
    return capture.record({ request, description: `Before fork ${name}` }).checkpoint;
  });
}

async function prepare(
  context: Context,
  forking: Forking,
  { name, source, request, started }: Pick<Draft, "name" | "source" | "started"> & { request: ForkRequest },
): Promise<Draft> {
  const { settings } = forking;
  const { store, workingCopy } = context;
  const place = forksPlace(context, forking);
  makePlace(place);
  const clone = sharesBlocksWith(context, place);
  const excluded = decodeExcluded(store.objects.read(source.excluded), source.excluded);
  const additions =
    (request.dependencies ?? settings.dependencies) === "none"
      ? []
      : findAdditions({ root: workingCopy.root, excluded, clone, limitBytes: settings.copyLimitBytes });
  const taken = withRegistry(context, forking, (registry) => registry.forkPorts());
  return {
    name,
    source,
    isPresent: request.from === undefined,
    place,
    clone,
    additions,
    git: (request.git ?? settings.git) === "private",
    port: await freePortBlock(taken),
    started,
  };
}

function makePlace(place: AbsolutePath): void {
  const path = displayAbsolute(place);
  try {
    makePrivateDirectory(place);
  } catch (error) {
    throw explainSystemError(error, { what: `Forks cannot be made in ${path}`, path, operation: "fork" });
  }
}

function begin(context: Context, forking: Forking, draft: Draft): number {
  const { store, system } = context;
  const { db } = store;
  const { name, source, place, clone, additions, port } = draft;
  assertNameFree(context, name);
  const wanted = {
    files: source.files + additions.reduce((sum, { files }) => sum + files, 0),
    bytes: source.bytes + additions.reduce((sum, { bytes }) => sum + bytes, 0),
    clone,
  };
  const forks = [...listForks(db), ...listSpareForks(db)];
  refuseTooMuch(place, { wanted, forks, settings: forking.settings });
  const now = system.now();
  const branch = insertBranch(db, { name, base: source.seq, description: null, now });
  const facts = { name, files: 0, bytesOnDisk: 0, dependencies: [], git: "none", durationMs: 0 } as const;
  const workingCopy = insertFork(db, { branch, facts, port, owner: system.owner, now });
  const root = makingPath(place, forking, workingCopy);
  setForkPlace(db, workingCopy, { root, dev: "", ino: "", birth: "" });
  return workingCopy;
}

function makingPath(place: AbsolutePath, { copyId }: Forking, workingCopy: number): AbsolutePath {
  return below(place, `.making-${copyId(workingCopy)}`);
}

async function build(
  context: Context,
  forking: Forking,
  { draft, workingCopy }: { draft: Draft; workingCopy: number },
): Promise<string[]> {
  const { store, system } = context;
  const { db } = store;
  const { place, source, clone } = draft;
  const making = makingPath(place, forking, workingCopy);
  makePlace(place);
  const spare = takeSpare(context, making);
  if (spare === undefined) createDirectory(making);
  else clearAway(context, spare.row);
  const identity = rootIdentity(making)!;
  db.transaction(() => setForkPlace(db, workingCopy, { root: making, ...identity }));
  const final = freeDirectory(place, draft.name);
  const made = await paused(
    makeFiles({
      objects: store.objects,
      snapshot: source.snapshot,
      original: { root: context.workingCopy.root, table: context.workingCopy.lastScan?.table },
      ...(spare && { spare: spare.table }),
      target: making,
      clone,
      withGaps: draft.isPresent,
    }),
  );
  const repository = draft.git
    ? makePrivateRepository(context.workingCopy.root, making, {
        original: context.workingCopy.lastScan?.table,
        fork: made.table,
      })
    : { git: "none" as const };
  const { dependencies, torn } = await paused(
    copyAdditions(draft.additions, { root: context.workingCopy.root, making, final, clone }),
  );
  syncFileSystem(making);
  settle(made.table, readFileClock() - fileSystemKind(making).granularityNs, draft.additions);
  const facts = {
    name: draft.name,
    files: made.files,
    bytesOnDisk: bytesOnDisk(made, draft),
    dependencies,
    git: repository.git,
    durationMs: Math.round(system.elapsed() - draft.started),
  };
  db.transaction(() => {
    const method = made.takenOver > 0 ? "spare" : clone ? "clone" : "copy";
    setForkFacts(db, workingCopy, { method, bytes: made.bytes, facts });
    setForkPlace(db, workingCopy, { root: final, ...identity });
  });
  move(making, final);
  syncDirectory(place);
  // [R1951] what has the name now may be no directory of ours
  if (!isForkThere({ root: final, ...identity })) throw swapped(final);
  withRegistry(context, forking, (registry) => {
    const registered = registry.list().find(({ id }) => id === forking.id)!;
    registry.addFork(
      { ...registered, ...identity, path: final, workingCopy, createdAt: system.now() },
      draft.port,
    );
  });
  keepScan(context, { workingCopy, identity, source, table: made.table, root: final });
  const reason = "reason" in repository && repository.reason !== undefined ? [repository.reason] : [];
  const added = { dependencies, torn: [...made.torn, ...torn] };
  return [...reason, ...warningsOf(made, added, draft)];
}

function swapped(final: AbsolutePath): EngineError<"FILE_SYSTEM"> {
  const path = displayAbsolute(final);
  const message = `Another program put something in the place of the fork while it was made: ${path} is left as it is. Your files are untouched.`;
  return new EngineError("FILE_SYSTEM", message, { path, operation: "fork" });
}

/**
 * [R90] What was written a moment ago could be written again without another time: the first capture reads it. It lists
 * directories that additions are in, which the table does not have.
 */
function settle(table: FileTable, racySinceNs: bigint, additions: readonly Addition[]): void {
  for (let index = 0; index < table.length; index += 1)
    if (
      table.mtimeNs[index]! >= racySinceNs ||
      table.ctimeNs[index]! >= racySinceNs ||
      isMapped(table.names[index]!)
    )
      table.flags[index] = RACY;
  for (const { path } of additions)
    for (let at = parentPath(path); at !== ROOT_PATH; at = parentPath(at)) {
      const parent = table.directories.indexOf(parentPath(at));
      const index = parent < 0 ? -1 : table.find(parent, baseName(at));
      if (index >= 0) table.flags[index] = RACY;
    }
}

function bytesOnDisk({ files, written }: MadeFiles, { clone, additions }: Draft): number {
  const added = additions.reduce((sum, each) => sum + (clone ? each.files * CLONED_BYTES : each.bytes), 0);
  return written + (clone ? files * CLONED_BYTES : 0) + added;
}

/** What a file takes whose blocks are shared: its inode, its name, its extents. */
const CLONED_BYTES = 1024;

/** The first capture in the fork compares with what was just written, and reads only what changed since. */
function keepScan(
  context: Context,
  made: {
    workingCopy: number;
    identity: RootIdentity;
    source: Checkpoint;
    table: FileTable;
    root: AbsolutePath;
  },
): void {
  const { store, workingCopy } = context;
  if (store.directory === undefined) return;
  const { source, table } = made;
  const { dev, ino, birth } = made.identity;
  const last = workingCopy.lastScan;
  const isSame = last?.facts.snapshot === source.snapshot;
  if (isSame) table.ignoredRoots = new Set(last.table.ignoredRoots);
  writeStatCache(below(store.directory, statCacheName(made.workingCopy)), {
    table,
    facts: {
      checkpoint: source.id,
      snapshot: source.snapshot,
      root: `${store.id} ${dev} ${ino} ${birth}`,
      ...(isSame ? handedOver(workingCopy.root, made.root, last.facts) : NOT_KNOWN),
    },
  });
}

function warningsOf(
  { gaps, linksBack }: MadeFiles,
  { dependencies, torn }: CopiedAdditions,
  { isPresent, source }: Draft,
): string[] {
  const skipped = dependencies.filter(({ how }) => how === "skipped");
  const missing = isPresent ? 0 : source.gapsTotal;
  return [
    ...gaps.map(
      (path) => `${displayPath(path)} was copied, but no checkpoint can hold it: it is not protected.`,
    ),
    ...torn.map(
      (path) =>
        `${displayPath(path)} was written while it was copied: the copy may hold a mixture. Copy it again.`,
    ),
    ...(missing > 0 ? [`${missing} paths are not in the fork: the checkpoint could not hold them.`] : []),
    ...linksBack.map(
      (path) =>
        `The link ${displayPath(path)} leads to the original: what is written through it is written there.`,
    ),
    ...skipped.map(({ path, reason }) => `${path} is not in the fork: ${reason}.`),
  ];
}
