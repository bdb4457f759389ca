/** Processes that can still write to what lies in a stage: a program keeps a file open that was moved away under it. */
import type { Context } from "../capture/context.ts";
import { statNodeBelow } from "../capture/node-state.ts";
import { sleep } from "../capture/sleep.ts";
import type { AbsolutePath } from "../fs/absolute-path.ts";
import { Anchor } from "../fs/anchor.ts";
import { isErrno, kindOf, statNode, type FileStat } from "../fs/file-stat.ts";
import { findWriters, type Writer } from "../fs/file-writers.ts";
import { HeldFile } from "../fs/read-file.ts";
import type { JournalEntry } from "../history/journal.ts";
import { baseName, displayPath, type BytePath } from "../model/byte-path.ts";
import type { Stage } from "./stage.ts";

/** A file at rest for longer than this is not being written line by line; used where the kernel does not say. */
export const HOT_NS = 10_000_000_000n;

/** The nodes that processes can still write to, with the process where it is known. */
type Busy = Map<string, Writer | undefined>;

type Operation = Pick<JournalEntry, "edits">;

/** True while a process can write to something in a stage. */
export function hasWriters(stage: Stage): boolean {
  return busyNodes(stage, namesIn(stage)).size > 0;
}

/** The processes that a stage waits for, in sentences for the user. */
export function describeWriters(entry: Operation, stage: Stage): string[] {
  return describeBusy(entry, stage, busyNodes(stage, namesIn(stage)));
}

/** The nodes that are still open for writing after the processes had some time to close them. */
export function waitForWriters(
  { system, workingCopy }: Context,
  { edits }: Operation,
  stage: Stage,
  patienceMs: number,
): Busy {
  const since = system.elapsed();
  let busy = busyNodes(stage, namesIn(stage));
  if (busy.size === 0) return busy;
  using anchor = new Anchor(workingCopy.root);
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

/** The kernel knows of each file; where it does not say, all processes are searched, which takes milliseconds. */
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

/** Links and the like are not written to; undefined where it cannot be known. */
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

/** Names the processes and the files, in sentences for the user. */
export function describeBusy({ edits }: Operation, stage: Stage, busy: Busy): string[] {
  return stage.nodes().flatMap(({ name, index }) => {
    const path = edits[index]?.path;
    if (path === undefined || !busy.has(name)) return [];
    const writer = busy.get(name);
    return [
      `${writer === undefined ? "A program" : `Process ${writer.pid}`} still has the replaced ${displayPath(path)} open. What it writes there is saved in a checkpoint once it has closed the file; until then ${stage.name} stays.`,
    ];
  });
}

/** True for a node that was put back, and has its name in the stage besides: it is where it belongs. */
export function isInPlace(anchor: Anchor, path: BytePath, seen: FileStat): boolean {
  const reached = anchor.reach(path);
  const there = reached === undefined ? undefined : statNodeBelow(reached);
  return there !== undefined && there.ino === seen.ino && there.dev === seen.dev;
}
