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
import { findWriters, type Writer } from "../fs/file-writers.ts";
import { move, removeName } from "../fs/mutate.ts";
import { HeldFile } from "../fs/read-file.ts";
import { isSystemError } from "../fs/system-error.ts";
import { removeJournal, type JournalEntry } from "../history/journal.ts";
import { baseName, displayPath, type BytePath } from "../model/byte-path.ts";
import { EngineError } from "../model/errors.ts";
import { isSpecial, MODE_BITS, sameEntry, type Entry } from "../model/entry.ts";
import type { Displaced } from "../model/plan.ts";
import { createStoreSink, DISCARD, type ContentSink } from "../store/content-sink.ts";
import { ObjectWriter } from "../store/object-writer.ts";
import type { Context } from "../capture/context.ts";
import { readFileContent, readLinkContent } from "../capture/read-content.ts";
import { saveDisplaced } from "./save-displaced.ts";
import { sleep } from "../capture/sleep.ts";
import type { Stage, StagedNode } from "./stage.ts";

/** What the end of a stage brought to light. */
export interface Ended {
  readonly displaced: readonly Displaced[];
  readonly notices: readonly string[];
  /** Which processes still write to what was replaced, in sentences. */
  readonly busy: readonly string[];
}

/** How long a program that has a replaced file open gets to close it: one that opens it for each line does at once. */
const PATIENCE_MS = 1000;
/** A file at rest for longer is not being written line by line; asked where the kernel does not tell. */
const HOT_NS = 10_000_000_000n;
/** Nodes held open at a time: few enough for any limit on open files. */
const AT_ONCE = 32;

type Operation = Pick<JournalEntry, "id" | "edits" | "finish">;

/** Ends a settled operation: nothing is left of it but its history, unless a process still writes to what it replaced. */
function endStage(context: Context, entry: Operation, stage: Stage, patienceMs = PATIENCE_MS): Ended {
  const busy = waitForWriters(context, entry, stage, patienceMs);
  const ended = emptyStage(context, entry, stage, new Set(busy.keys()));
  if (busy.size > 0) {
    const told = tellBusy(entry, stage, busy);
    stage[Symbol.dispose]();
    return { ...ended, busy: told };
  }
  stage.remove();
  context.store.db.fleetingTransaction(() => removeJournal(context.store.db, entry.id));
  return ended;
}

/** [N1] The operation is settled: that its stage cannot be ended now must not hide what became of it. */
export function endOrLeave(context: Context, entry: Operation, stage: Stage, patienceMs?: number): Ended {
  try {
    return endStage(context, entry, stage, patienceMs);
  } catch (error) {
    if (!(error instanceof EngineError) && !isSystemError(error)) throw error;
    stage[Symbol.dispose]();
    return { displaced: [], notices: [notCleared(stage.name, error)], busy: [] };
  }
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
  return emptyStage(context, entry, stage, new Set([...busy.keys()].map((name) => stage.setApart(name))));
}

/** True while a process can write to something in a stage. */
export function hasWriters(stage: Stage): boolean {
  return busyNodes(stage, namesIn(stage)).size > 0;
}

/** Which processes a stage waits for, in sentences. */
export function tellWriters(entry: Operation, stage: Stage): string[] {
  return tellBusy(entry, stage, busyNodes(stage, namesIn(stage)));
}

/** Saves what no checkpoint has and removes every node but those in `spared`. */
function emptyStage(context: Context, entry: Operation, stage: Stage, spared: ReadonlySet<string>): Ended {
  const nodes = stage.nodes().filter(({ name }) => !spared.has(name));
  const displaced: Displaced[] = [];
  const notices: string[] = [];
  using anchor = new Anchor(context.worktree.root);
  for (let at = 0; at < nodes.length; at += AT_ONCE) {
    using batch = new Batch(context, { entry, stage, anchor });
    for (const node of nodes.slice(at, at + AT_ONCE)) batch.add(node);
    displaced.push(...batch.end());
    notices.push(...batch.notices);
  }
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

  /** What is no file or link, or cannot be read, gets a name beside the one it lost. */
  #putBeside(at: AbsolutePath, path: BytePath): void {
    const beside = `${path}.displaced-${this.#entry.id}` as BytePath;
    if (reach(this.#anchor, beside) !== undefined) return;
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

/** True for a node that was put back, and has its name in the stage besides: it is where it belongs. */
function isInPlace(anchor: Anchor, path: BytePath, seen: FileStat): boolean {
  const there = reach(anchor, path);
  return there !== undefined && there.ino === seen.ino && there.dev === seen.dev;
}

/** What stands at a path of the working copy; undefined also when a directory on the way is missing. */
function reach(anchor: Anchor, path: BytePath): FileStat | undefined {
  try {
    return statNode(anchor.at(path));
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR", "ELOOP")) return undefined;
    throw error;
  }
}

/** The nodes that processes can still write to, with the process where it is known. */
type Busy = Map<string, Writer | undefined>;

/** Which nodes those are after the processes had time to close them. */
function waitForWriters(
  { system, worktree }: Context,
  { edits }: Operation,
  stage: Stage,
  patienceMs: number,
): Busy {
  const since = system.elapsed();
  let busy = busyNodes(stage, namesIn(stage));
  if (busy.size === 0) return busy;
  using anchor = new Anchor(worktree.root);
  for (const { name, index } of stage.nodes()) {
    const seen = busy.has(name) ? statNode(stage.at(name)) : undefined;
    const path = edits[index]?.path;
    if (seen !== undefined && path !== undefined && isInPlace(anchor, path, seen)) busy.delete(name);
  }
  for (
    let pause = 2;
    busy.size > 0 && system.elapsed() - since < patienceMs;
    pause = Math.min(2 * pause, 50)
  ) {
    sleep(pause);
    busy = busyNodes(stage, [...busy.keys()]);
  }
  return busy;
}

function namesIn(stage: Stage): string[] {
  return stage.nodes().map(({ name }) => name);
}

/** The kernel tells of each file; where it does not, all processes are looked through, which takes milliseconds. */
function busyNodes(stage: Stage, names: readonly string[]): Busy {
  const answers = new Map(names.map((name) => [name, isBeingWritten(stage.at(name))]));
  const suspects = names.filter((name) => answers.get(name) !== false);
  if (suspects.length === 0) return new Map();
  const writers = new Map(findWriters(`/${stage.name}/`).map((writer) => [nodeName(writer.path), writer]));
  return new Map(
    suspects
      .filter((name) => answers.get(name) === true || writers.has(name))
      .map((name) => [name, writers.get(name)]),
  );
}

/** Links and the like are not written to; of a file that cannot be opened nothing is known. */
function isBeingWritten(path: AbsolutePath): boolean | undefined {
  const stat = statNode(path);
  if (stat === undefined || kindOf(stat) !== "file") return false;
  try {
    using file = new HeldFile(path);
    return file.isBeingWritten() ?? (stat.ctimeNs - stat.mtimeNs < HOT_NS ? undefined : false);
  } catch (error) {
    if (isErrno(error, "EACCES", "ENOENT")) return undefined;
    throw error;
  }
}

function nodeName(path: string): string {
  return baseName(path.replace(/ \(deleted\)$/, "") as BytePath);
}

function tellBusy({ edits }: Operation, stage: Stage, busy: Busy): string[] {
  return stage.nodes().flatMap(({ name, index }) => {
    const path = edits[index]?.path;
    if (path === undefined || !busy.has(name)) return [];
    const writer = busy.get(name);
    return [
      `${writer === undefined ? "A program" : `Process ${writer.pid}`} still has the replaced ${displayPath(path)} open. What it writes there is saved in a checkpoint once it has closed the file; until then ${stage.name} stays.`,
    ];
  });
}
