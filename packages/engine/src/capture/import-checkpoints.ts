/**
 * Takes checkpoints that were captured elsewhere into the store. Content goes in as a capture's does, under a lease and
 * in small transactions; then one transaction adds all rows. A checkpoint whose alias is there already is not read.
 */
import { compareTrees } from "../diff/compare-trees.ts";
import { countChanges } from "../diff/count-changes.ts";
import { displayAbsolute } from "../fs/absolute-path.ts";
import { addAlias, aliasedSeq } from "../history/aliases.ts";
import { assertTagFree } from "../history/annotations.ts";
import { reviveCheckpoint } from "../history/arrivals.ts";
import { checkpointAt, seqOf } from "../history/checkpoints.ts";
import { insertGaps } from "../history/gaps-and-doubts.ts";
import { insertArrival, type NewCheckpoint } from "../history/insert-checkpoint.ts";
import { appendEvent } from "../history/events.ts";
import { appendOperation } from "../history/operations.ts";
import { assertName } from "../history/references.ts";
import { assertThread } from "../history/threads.ts";
import type { Imported, ImportedFile, ImportRequest } from "../model/arrival.ts";
import type { BytePath } from "../model/byte-path.ts";
import { CARRIED_LIMIT, type Checkpoint, type Gap } from "../model/checkpoint.ts";
import { MODE_BITS, type Entry } from "../model/entry.ts";
import { EngineError, isEngineError } from "../model/errors.ts";
import type { CheckpointId, OperationId } from "../model/ids.ts";
import type { ObjectHash } from "../model/object-hash.ts";
import { encodeRules, rulesOfNamed } from "../model/rules.ts";
import { encodeTree, isSafeName } from "../model/tree.ts";
import { encodeExcluded } from "../rules/excluded-list.ts";
import { hardExclude } from "../rules/hard-excludes.ts";
import { releaseQuietly } from "../store/lease.ts";
import { ObjectWriter } from "../store/object-writer.ts";
import type { Context } from "./context.ts";
import { isComplete, roomFor } from "./with-capture.ts";

/** Why a path cannot be imported; undefined for one that can. */
export function whyNotImported(path: BytePath): string | undefined {
  const names = path.split("/");
  if (!names.every(isSafeName)) return "it leads out of the workspace";
  return names.map((name) => hardExclude(name)).find((each) => each !== undefined)?.excludedBy;
}

/** What is done in the transaction that adds the rows. */
export interface ImportRows {
  /** Before them: what they refer to. */
  begin?(): void;
  /** After them. */
  end?(imported: Imported): void;
}

/** Imports checkpoints; all of them are recorded, or none. */
export function importCheckpoints(
  context: Context,
  requests: Iterable<ImportRequest>,
  { begin, end }: ImportRows = {},
): Imported {
  const { store, system } = context;
  const writer = new ObjectWriter(store.db, store.objects, system.owner, roomFor(context));
  let isCommitted = false;
  try {
    const content = new ContentTaker(writer);
    const prepared = [...requests].map((request) => prepare(context, content, request));
    const imported = writer.commit(() => {
      writer.storeNow();
      assertComplete(context, prepared, writer);
      begin?.();
      const rows = new RowWriter(context);
      const checkpoints = prepared.map((each) => rows.add(each));
      const { alreadyThere, leftOut } = rows;
      const result = { checkpoints, alreadyThere, leftOut, files: content.files, bytes: content.bytes };
      note(context, result);
      end?.(result);
      return result;
    });
    isCommitted = true;
    return imported;
  } finally {
    if (!isCommitted) releaseQuietly(() => writer.abandon());
  }
}

/** A request whose content is on its way into the store; without a snapshot its alias is there already. */
interface Prepared {
  readonly request: ImportRequest;
  readonly content: TakenContent | undefined;
}

interface TakenContent extends Pick<Checkpoint, "snapshot" | "rules" | "excluded" | "files" | "bytes"> {
  readonly gaps: readonly Gap[];
}

function prepare({ store: { db } }: Context, content: ContentTaker, request: ImportRequest): Prepared {
  const isThere = aliasedSeq(db, { origin: request.origin, name: request.alias }) !== undefined;
  return { request, content: isThere ? undefined : content.take(request) };
}

/** Writes the objects of checkpoints. */
class ContentTaker {
  readonly #writer: ObjectWriter;
  readonly #excluded: ObjectHash;
  #covered: { readonly paths: readonly BytePath[]; readonly set: ReadonlySet<BytePath> } | undefined;
  files = 0;
  bytes = 0;

  constructor(writer: ObjectWriter) {
    this.#writer = writer;
    this.#excluded = writer.put(encodeExcluded([]));
  }

  take({ files, covers }: ImportRequest): TakenContent {
    const entries = new Map<BytePath, Entry>();
    for (const file of files) {
      assertImportable(file.path);
      entries.set(file.path, this.#entryOf(file));
    }
    const leaves = [...entries.values()];
    const kept = leaves.filter((entry) => entry.kind === "file" || entry.kind === "symlink");
    const gaps = [...entries].flatMap(([path, entry]) =>
      entry.kind === "gap" ? [{ path, reason: entry.reason, size: entry.size }] : [],
    );
    return {
      snapshot: writeTree(this.#writer, entries),
      rules: this.#writer.put(encodeRules(rulesOfNamed(this.#coverOf(covers, entries.keys())))),
      excluded: this.#excluded,
      files: kept.length,
      bytes: kept.reduce((sum, { size }) => sum + size, 0),
      gaps: gaps.sort((a, b) => (a.path < b.path ? -1 : 1)),
    };
  }

  #entryOf(file: ImportedFile): Entry {
    if (file.kind === "gap") return { kind: "gap", reason: file.reason, size: file.size };
    this.files += 1;
    this.bytes += file.content.length;
    const content = { size: file.content.length, hash: this.#writer.put(file.content) };
    return file.kind === "symlink"
      ? { kind: "symlink", ...content }
      : { kind: "file", mode: file.mode & MODE_BITS, ...content };
  }

  /** The covered paths; nearly always the same list for all checkpoints of an import. */
  #coverOf(covers: readonly BytePath[], own: Iterable<BytePath>): readonly BytePath[] {
    if (this.#covered?.paths !== covers) {
      for (const path of covers) assertImportable(path);
      this.#covered = { paths: covers, set: new Set(covers) };
    }
    const { set } = this.#covered;
    const more = [...own].filter((path) => !set.has(path));
    return more.length === 0 ? covers : [...covers, ...more];
  }
}

function assertImportable(path: BytePath): void {
  const why = whyNotImported(path);
  if (why === undefined) return;
  throw new EngineError(
    "PATH_OUTSIDE",
    `${JSON.stringify(path)} cannot be imported: ${why}. Nothing was imported.`,
    { path },
  );
}

/** What directories are given: a list of files does not know their modes, and a restore leaves those of existing ones alone. */
const DIRECTORY_MODE = 0o755;

function writeTree(writer: ObjectWriter, entries: ReadonlyMap<BytePath, Entry>): ObjectHash {
  const groups = Map.groupBy(entries, ([path]) => firstName(path));
  const tree = [...groups].map(([name, group]): [string, Entry] => {
    const own = group.find(([path]) => path === name);
    if (own !== undefined && group.length === 1) return [name, own[1]];
    if (own !== undefined) throw inTheWay(own[0]);
    const below = new Map(group.map(([path, entry]) => [path.slice(name.length + 1) as BytePath, entry]));
    return [name, { kind: "directory", mode: DIRECTORY_MODE, hash: writeTree(writer, below) }];
  });
  return writer.put(encodeTree(tree.sort(([a], [b]) => (a < b ? -1 : 1))));
}

function firstName(path: BytePath): string {
  const slash = path.indexOf("/");
  return slash < 0 ? path : path.slice(0, slash);
}

function inTheWay(path: BytePath): EngineError<"PATH_OUTSIDE"> {
  const message = `${JSON.stringify(path)} cannot be imported: it is a file and a directory at once. Nothing was imported.`;
  return new EngineError("PATH_OUTSIDE", message, { path });
}

/** [R3] `gc` may have freed content that was in the store when the import began. */
function assertComplete(context: Context, prepared: readonly Prepared[], writer: ObjectWriter): void {
  for (const { content } of prepared)
    if (content !== undefined && !isComplete(context, content, writer)) throw cleanedUp(context);
}

function cleanedUp({ workingCopy }: Context): EngineError<"STORE_BUSY"> {
  const message = "Another process cleaned up the store meanwhile. Nothing was imported; try again.";
  return new EngineError("STORE_BUSY", message, { store: displayAbsolute(workingCopy.root) });
}

/** Adds the rows of an import. */
class RowWriter {
  readonly #context: Context;
  readonly leftOut: { tag: string; checkpoint: CheckpointId; reason: string }[] = [];
  alreadyThere = 0;

  constructor(context: Context) {
    this.#context = context;
  }

  add({ request, content }: Prepared): Checkpoint {
    const { store, system } = this.#context;
    const { db } = store;
    const alias = { origin: request.origin, name: request.alias };
    const known = aliasedSeq(db, alias);
    if (known !== undefined) {
      this.alreadyThere += 1;
      return reviveCheckpoint(db, known, system.now());
    }
    if (content === undefined) throw cleanedUp(this.#context);
    const row = this.#rowOf(request, content);
    const checkpoint = insertArrival(db, row, { origin: request.origin, arrivedAt: system.now() });
    insertGaps(db, checkpoint.seq, content.gaps);
    addAlias(db, checkpoint, alias);
    return checkpoint;
  }

  #rowOf(request: ImportRequest, content: TakenContent): NewCheckpoint {
    const { store, system } = this.#context;
    const id = system.newId() as CheckpointId;
    if (request.thread !== undefined) assertThread(store.db, request.thread);
    const parent = this.#parentOf(request);
    return {
      id,
      thread: request.thread ?? null,
      session: request.session ?? null,
      kind: request.kind,
      phase: request.phase ?? null,
      name: request.name === undefined ? null : this.#usable(id, request.name, assertName),
      note: request.note ?? null,
      tags: (request.tags ?? []).filter(
        (tag) => this.#usable(id, tag, (each) => assertTagFree(store.db, each)) !== null,
      ),
      description: request.description,
      createdAt: request.createdAt,
      ...content,
      parents: parent === undefined ? [] : [parent.id],
      messageId: request.messageId ?? null,
      messageIndex: request.messageIndex ?? null,
      toolUseId: request.toolUseId ?? null,
      tool: request.tool ?? null,
      rolledBack: false,
      hasChanges: null,
      agent: request.agent ?? null,
      conversation: request.conversation ?? null,
      git: request.git ?? null,
      changes: countChanges(
        parent === undefined ? [] : compareTrees(store.objects, parent.snapshot, content.snapshot),
      ),
      gaps: content.gaps.slice(0, CARRIED_LIMIT),
      gapsTotal: content.gaps.length,
      doubts: [],
      doubtsTotal: 0,
    };
  }

  #parentOf({ origin, parent }: ImportRequest): Checkpoint | undefined {
    const { db } = this.#context.store;
    if (parent === undefined) return undefined;
    const seq =
      typeof parent === "string" ? seqOf(db, parent) : aliasedSeq(db, { origin, name: parent.alias });
    return seq === undefined ? undefined : checkpointAt(db, seq);
  }

  /** What cannot be taken over is left out and reported: it is no reason to lose the rest. */
  #usable(checkpoint: CheckpointId, tag: string, check: (text: string) => void): string | null {
    try {
      check(tag);
      return tag;
    } catch (error) {
      if (!isEngineError(error, "NAME_INVALID") && !isEngineError(error, "NAME_TAKEN")) throw error;
      this.leftOut.push({ tag, checkpoint, reason: error.message });
      return null;
    }
  }
}

/** The row in the log, and an event, so that lists are read again. */
function note({ store: { db }, system }: Context, { checkpoints, alreadyThere }: Imported): void {
  const last = checkpoints.at(-1);
  if (last === undefined || alreadyThere === checkpoints.length) return;
  const { origin, thread } = last;
  const at = system.now();
  const detail = { origin, thread, checkpoints: checkpoints.length - alreadyThere };
  appendOperation(db, { id: system.newId() as OperationId, kind: "import", at, detail });
  appendEvent(db, { type: "checkpoint_created", thread, at, data: { checkpoint: last.id } });
}
