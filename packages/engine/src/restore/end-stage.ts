/**
 * [R110] The one ending of a stage, whatever became of its operation: done, taken back, failed or recovered. What lies
 * in it may be more than the safety checkpoint has: a program that had a file open has written to it since, or what
 * was taken away could not be put back because something else stood there. So every node is read again, and what
 * no checkpoint has is recorded in one before the node loses its last name. A node that a process can still write
 * to stays until that process has closed it.
 */
import { Anchor } from "../fs/anchor.ts";
import type { AbsolutePath } from "../fs/absolute-path.ts";
import { isErrno, kindOf, sameStat, statNode, type FileStat } from "../fs/file-stat.ts";
import { move, removeName } from "../fs/mutate.ts";
import { HeldFile } from "../fs/read-file.ts";
import { isSystemError } from "../fs/system-error.ts";
import { removeJournal, type JournalEntry } from "../history/journal.ts";
import { keepOut, keptOutPaths } from "../history/kept-out.ts";
import { displayPath, isAtOrBelow, type BytePath } from "../model/byte-path.ts";
import { EngineError } from "../model/errors.ts";
import { isSpecial, MODE_BITS, sameEntry, type Entry } from "../model/entry.ts";
import type { Displaced } from "../model/plan.ts";
import { createStoreSink, DISCARD, type ContentSink } from "../store/content-sink.ts";
import { ObjectWriter } from "../store/object-writer.ts";
import type { Context } from "../capture/context.ts";
import { statNodeBelow } from "../capture/node-state.ts";
import { readFileContent, readLinkContent } from "../capture/read-content.ts";
import { saveDisplaced } from "./save-displaced.ts";
import type { Stage, StagedNode } from "./stage.ts";
import { describeBusy, HOT_NS, isInPlace, waitForWriters } from "./stage-writers.ts";

/** What the end of a stage brought to light. */
export interface Ended {
  readonly displaced: readonly Displaced[];
  readonly notices: readonly string[];
  /** Which processes still write to what was replaced, in sentences. */
  readonly busy: readonly string[];
}

/** How long a program that has a replaced file open gets to close it: one that opens it for each line does at once. */
const PATIENCE_MS = 1000;
/** Nodes held open at a time: few enough for any limit on open files. */
const AT_ONCE = 32;

type Operation = Pick<JournalEntry, "id" | "edits" | "finish">;

/** How a stage is ended. */
export interface HowToEnd {
  /** How long programs get to close what was replaced. */
  readonly patienceMs?: number;
  /** Called as what was replaced is cleared away: freeing a file can take longer than writing it did. */
  readonly progress?: ((done: number, total: number) => void) | undefined;
}

/**
 * Ends the stage of a settled operation: nothing is left of it but its history, unless a process still writes to what it
 * replaced. [N1] A stage that cannot be ended now must not hide what became of the operation.
 */
export function endStage(context: Context, entry: Operation, stage: Stage, how: HowToEnd = {}): Ended {
  try {
    return endNow(context, entry, stage, how);
  } catch (error) {
    if (!(error instanceof EngineError) && !isSystemError(error)) throw error;
    stage[Symbol.dispose]();
    return { displaced: [], notices: [notCleared(stage.name, error)], busy: [] };
  }
}

function endNow(
  context: Context,
  entry: Operation,
  stage: Stage,
  { patienceMs = PATIENCE_MS, progress }: HowToEnd,
): Ended {
  progress?.(0, stage.nodes().length);
  const busy = waitForWriters(context, entry, stage, patienceMs);
  const ended = emptyStage(context, entry, stage, { spared: new Set(busy.keys()), progress });
  if (busy.size > 0) {
    const told = describeBusy(entry, stage, busy);
    stage[Symbol.dispose]();
    return { ...ended, busy: told };
  }
  stage.remove();
  context.store.db.fleetingTransaction(() => removeJournal(context.store.db, entry.id));
  return ended;
}

/** Why a stage still stands in the root. */
export function notCleared(stage: string, { message }: Error): string {
  return `What was replaced is still in ${stage}: ${message} The next command tries to clear it again.`;
}

/** Makes room for another attempt in the same stage; what a process can still write to is set apart for its end. */
export function clearStage(
  context: Context,
  entry: Operation,
  stage: Stage,
  patienceMs = PATIENCE_MS,
): Ended {
  const busy = waitForWriters(context, entry, stage, patienceMs);
  const spared = new Set([...busy.keys()].map((name) => stage.setApart(name)));
  return emptyStage(context, entry, stage, { spared });
}

/** Saves what no checkpoint has and removes every node but those in `spared`. */
function emptyStage(
  context: Context,
  entry: Operation,
  stage: Stage,
  { spared, progress }: Pick<HowToEnd, "progress"> & { readonly spared: ReadonlySet<string> },
): Ended {
  const nodes = stage.nodes().filter(({ name }) => !spared.has(name));
  const displaced: Displaced[] = [];
  const notices: string[] = [];
  using anchor = new Anchor(context.workingCopy.root);
  for (let at = 0; at < nodes.length; at += AT_ONCE) {
    if (at > 0) progress?.(at, nodes.length);
    using batch = new Batch(context, { entry, stage, anchor });
    for (const node of nodes.slice(at, at + AT_ONCE)) batch.add(node);
    displaced.push(...batch.end());
    notices.push(...batch.notices);
  }
  progress?.(nodes.length, nodes.length);
  return { displaced, notices, busy: [] };
}

interface HeldNode {
  readonly path: BytePath;
  readonly at: AbsolutePath;
  readonly file: HeldFile | undefined;
  /** The node as it was when its content was last known. */
  readonly seen: FileStat;
}

/** Some nodes on their way out: held, read, saved, unlinked, looked at once more. */
class Batch implements Disposable {
  readonly #context: Context;
  readonly #entry: Operation;
  readonly #stage: Stage;
  readonly #anchor: Anchor;
  readonly #strays: HeldNode[] = [];
  #held: HeldNode[] = [];
  readonly notices: string[] = [];

  constructor(context: Context, work: { entry: Operation; stage: Stage; anchor: Anchor }) {
    this.#context = context;
    this.#entry = work.entry;
    this.#stage = work.stage;
    this.#anchor = work.anchor;
  }

  add(node: StagedNode): void {
    const edit = this.#entry.edits[node.index];
    const at = this.#stage.at(node.name);
    const seen = statNode(at);
    if (edit === undefined || seen === undefined) return;
    const { path } = edit;
    const kind = kindOf(seen);
    // a FIFO that made way as planned has nothing to save
    if (kind === "special" && node.role === "old" && isSpecial(edit.from)) return removeName(at);
    if (kind !== "file" && kind !== "symlink") return this.#putBeside(at, path);
    if (this.#isKeptOut(path) && !isInPlace(this.#anchor, path, seen)) return this.#keepBeside(at, path);
    let file: HeldFile | undefined;
    try {
      file = kind === "file" ? new HeldFile(at) : undefined;
    } catch (error) {
      if (!isErrno(error, "EACCES")) throw error;
      return this.#putBeside(at, path);
    }
    const held = { path, at, file, seen };
    this.#held.push(held);
    if (isInPlace(this.#anchor, path, seen) || this.#isProved(node, seen)) return;
    const known = node.role === "old" ? edit.from : edit.to;
    if (!sameEntry(readEntry(held, DISCARD), known)) this.#strays.push(held);
  }

  /** A look at the stat is enough where a write after the proof would have moved the time on. */
  #isProved({ name }: StagedNode, seen: FileStat): boolean {
    const proof = this.#stage.proved.get(name);
    return proof !== undefined && sameStat(proof, seen) && proof.ctimeNs - proof.mtimeNs > HOT_NS;
  }

  /** Saved first, unlinked then; what came in between is read from what is held, and saved as well. */
  end(): Displaced[] {
    const displaced = this.#save(this.#strays);
    for (const { at } of this.#held) removeName(at);
    return [...displaced, ...this.#save(this.#held.filter(hasChangedSince))];
  }

  /** In one transaction, so that `gc` cannot free what the store seems to have already. */
  #save(strays: readonly HeldNode[]): Displaced[] {
    if (strays.length === 0) return [];
    const { store, system } = this.#context;
    const during = this.#entry.finish.description;
    return store.db.transaction(() => {
      const writer = new ObjectWriter(store.db, store.objects, system.owner);
      const sink = createStoreSink(writer);
      const read = strays.map((held) => ({ path: held.path, entry: readEntry(held, sink) }));
      return writer.commit(() => saveDisplaced(this.#context, writer, { strays: read, during }));
    });
  }

  #isKeptOut(path: BytePath): boolean {
    return keptOutPaths(this.#context.store.db).some((each) => isAtOrBelow(path, each));
  }

  /** [R135] What no checkpoint may hold is not saved. [N0] Nor is it deleted: it stays, and stays out. */
  #keepBeside(at: AbsolutePath, path: BytePath): void {
    const { store, system } = this.#context;
    store.db.transaction(() => keepOut(store.db, this.#beside(path), system.now()));
    this.#putBeside(at, path);
  }

  #beside(path: BytePath): BytePath {
    return `${path}.displaced-${this.#entry.id}` as BytePath;
  }

  /** What is not a file or link, or cannot be read, gets a name beside the one it lost. */
  #putBeside(at: AbsolutePath, path: BytePath): void {
    const beside = this.#beside(path);
    const reached = this.#anchor.reach(beside);
    if (reached !== undefined && statNodeBelow(reached) !== undefined) return;
    move(at, this.#anchor.at(beside));
    this.notices.push(
      `Another program put ${displayPath(path)} in the way while files were put in place; it is ${displayPath(beside)} now.`,
    );
  }

  [Symbol.dispose](): void {
    for (const { file } of this.#held) file?.[Symbol.dispose]();
  }
}

/** True for a file that has lost its last name and was written to after it was read. */
function hasChangedSince({ file, seen }: HeldNode): boolean {
  const now = file?.stat();
  return now?.nlink === 0n && (now.size !== seen.size || now.mtimeNs !== seen.mtimeNs);
}

function readEntry({ at, file, seen }: HeldNode, sink: ContentSink): Entry {
  if (file === undefined) {
    const { hash, size } = readLinkContent(at, sink);
    return { kind: "symlink", hash, size };
  }
  const { hash, size } = readFileContent(file, sink);
  return { kind: "file", mode: Number(seen.mode) & MODE_BITS, hash, size };
}
