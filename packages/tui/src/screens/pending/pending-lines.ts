/** The pending screen as lines: threads, their files with seen marks, the sessions of the chosen one. */
import { fit, line, pad, span, withRemark, type Line } from "../../frame/line.ts";
import type { Signs } from "../../terminal/signs.ts";
import { lineCountColumns, lineCounts, type LineCounts } from "../../text/line-counts.ts";
import { count } from "../../text/quantity.ts";
import { nearTime } from "../../text/relative-time.ts";
import { visibleLine } from "../../text/visible.ts";
import { PENDING } from "../../words.ts";
import type { PendingFile, PendingThread, SeenFiles, SessionRecord } from "./pending-data.ts";

/** A line that the pointer can stand on. */
export type PendingItem =
  | { readonly is: "thread"; readonly thread: PendingThread }
  | { readonly is: "file"; readonly thread: PendingThread; readonly file: PendingFile };

/** How the lines are drawn. */
export interface PendingStyle {
  readonly width: number;
  readonly signs: Signs;
  readonly pointed: string | undefined;
  readonly seen: SeenFiles;
  readonly clock: number;
}

/** The threads, and the files of those that are unfolded. */
export function pendingItems(
  threads: readonly PendingThread[],
  unfolded: ReadonlySet<string>,
): PendingItem[] {
  return threads.flatMap((thread) => [
    { is: "thread" as const, thread },
    ...(unfolded.has(thread.id) ? thread.files.map((file) => ({ is: "file" as const, thread, file })) : []),
  ]);
}

/** What names an item while its thread changes. */
export function pendingKey(item: PendingItem): string {
  return item.is === "thread" ? item.thread.id : `${item.thread.id} ${item.file.path}`;
}

/** Where the pointer stands; where its file is gone, on its thread. */
export function pendingPlace(items: readonly PendingItem[], pointed: string | undefined): number {
  const at = items.findIndex((item) => pendingKey(item) === pointed);
  if (at >= 0 || pointed === undefined) return Math.max(0, at);
  return Math.max(
    0,
    items.findIndex(({ thread }) => pointed.startsWith(`${thread.id} `)),
  );
}

/** What waits for approval in all: `7 files in 2 threads` */
export function pendingTotal(threads: readonly PendingThread[]): string {
  const pending = threads.filter(({ files }) => files.length > 0);
  const files = pending.reduce((sum, thread) => sum + thread.files.length, 0);
  return files === 0 ? PENDING.nothing : PENDING.total(count(files, "file"), count(pending.length, "thread"));
}

/** One line of the list of what is pending. */
export function itemLine(item: PendingItem, style: PendingStyle): Line {
  return item.is === "thread" ? threadLine(item, style) : fileLine(item, style);
}

const WIDE = 76;

function threadLine(item: Extract<PendingItem, { is: "thread" }>, style: PendingStyle): Line {
  const { width, signs, pointed, clock } = style;
  const { agent, title, session, files, isWorking, lastApprovedAt } = item.thread;
  const isPointed = pointed === pendingKey(item);
  const look = isPointed ? ({ colour: "cyan", bold: true } as const) : {};
  const columns =
    width >= WIDE ? [13, Math.max(19, Math.min(45, width - 61)), 12] : [12, Math.max(8, width - 52), 10];
  const cell = (text: string, column: number): Line => [
    ...pad([span(visibleLine(text), look)], columns[column]! - 1, signs),
    span(" "),
  ];
  const head = [span(`${isPointed ? signs.pointer : " "} `, look), ...cell(agent, 0), ...cell(title, 1)];
  const place = { width, signs };
  if (files.length === 0) {
    const approved = lastApprovedAt === null ? undefined : nearTime(Date.parse(lastApprovedAt), clock);
    return withRemark(
      [...head, span(PENDING.nothingOf(approved), { dim: true })],
      workingRemark(isWorking),
      place,
    );
  }
  const plus = files.reduce((sum, file) => sum + file.additions, 0);
  const minus = files.reduce((sum, file) => sum + file.deletions, 0);
  const numbers = `${count(files.length, "file")}  ${lineCounts({ plus, minus })}`;
  return withRemark(
    [...head, ...cell(session ?? "", 2), span(numbers, look)],
    workingRemark(isWorking),
    place,
  );
}

function workingRemark(isWorking: boolean): Line {
  return isWorking ? line(PENDING.working, { colour: "yellow" }) : [];
}

const LETTERS = { added: "A", modified: "M", deleted: "D" } as const;
const NAME_COLUMN = 50;

function fileLine(item: Extract<PendingItem, { is: "file" }>, style: PendingStyle): Line {
  const { width, signs, pointed, seen } = style;
  const { thread, file } = item;
  const isPointed = pointed === pendingKey(item);
  const look = isPointed ? ({ colour: "cyan", bold: true } as const) : {};
  const state = seen.stateOf(thread.id, file);
  const name = [
    span(`  ${isPointed ? signs.pointer : " "} `, look),
    span(state === "seen" ? PENDING.seen : PENDING.unseen, state === "seen" ? { dim: true } : {}),
    span(` ${LETTERS[file.status]}  ${visibleLine(file.path)}`, look),
  ];
  const mark = state === "changed" ? PENDING.fresh : (thread.marks.get(file.path) ?? "");
  const numbers = file.isBinary ? "binary" : columnsOf(thread)(countsOf(file));
  const tail = `${numbers.padEnd(8)} ${visibleLine(mark)}`.trimEnd();
  const column = Math.min(NAME_COLUMN, Math.max(20, width - 30));
  return fit([...pad(name, column, signs), span(` ${tail}`, { dim: true })], width, signs);
}

function countsOf({ additions: plus, deletions: minus }: PendingFile): LineCounts {
  return { plus, minus };
}

/** Made once for all files of a thread. */
const columns = new WeakMap<PendingThread, ReturnType<typeof lineCountColumns>>();

function columnsOf(thread: PendingThread): ReturnType<typeof lineCountColumns> {
  const known = columns.get(thread) ?? lineCountColumns(thread.files.map(countsOf));
  columns.set(thread, known);
  return known;
}

const SHOWN_SESSIONS = 5;

/** The sessions of a thread, newest first. */
export function sessionLines({ title, sessions }: PendingThread, style: PendingStyle): Line[] {
  const rows = sessions
    .slice(0, SHOWN_SESSIONS)
    .map((session) => line(`    ${sessionText(session, style.clock)}`));
  return [line(`  ${PENDING.sessions(visibleLine(title))}`, { bold: true }), ...rows].map((each) =>
    fit(each, style.width, style.signs),
  );
}

function sessionText({ name, status, createdAt, closedAt, message }: SessionRecord, clock: number): string {
  const time = nearTime(Date.parse(closedAt ?? createdAt), clock);
  const when = status === "active" ? PENDING.since(time) : time;
  const said = status === "abandoned" ? PENDING.stillThere : visibleLine(message ?? "");
  return `${name} ${PENDING.status[status].padEnd(10)} ${when}  ${said}`.trimEnd();
}
