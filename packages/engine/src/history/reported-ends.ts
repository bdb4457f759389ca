/**
 * Ends that agents reported while nothing could be captured: the store was full, or failed. Until a checkpoint is recorded
 * again, the call or turn stays open, and the time of its end says which changes can be its own. Kept as a row in `meta` of
 * each working copy; the next checkpoint there closes what has ended and takes the row away.
 */
import type { WorkEnd } from "../model/conversation.ts";
import type { ThreadId } from "../model/ids.ts";
import type { Database } from "../store/database.ts";
import { readMeta, writeMeta } from "../store/store.ts";
import { parseJson } from "./row-json.ts";
import type { Step } from "./step-rows.ts";
import type { ToolCall } from "./tool-calls.ts";

/** An end, and whose it is. */
export interface ReportedEnd extends WorkEnd {
  readonly thread: ThreadId;
  /** It was cut off: what it began may have gone on until then. */
  readonly isCutOff?: true;
}

/** When an agent was interrupted, as it recorded that itself. */
export interface Interruption {
  readonly thread: ThreadId;
  readonly at: number;
}

/** A command may keep writing this long after it was interrupted. */
const ENDING_MS = 1000;

/** [R129] The ends of the calls that were open when an agent was interrupted. */
export function endsOfInterruption(
  { thread, at }: Interruption,
  calls: readonly Pick<ToolCall, "id" | "thread" | "openedAt">[],
): ReportedEnd[] {
  return calls
    .filter((call) => call.thread === thread && call.openedAt <= at)
    .map(({ id }) => ({ thread, of: { kind: "call", id }, at: at + ENDING_MS, isCutOff: true }));
}

/** The ends that wait here for a checkpoint. */
export function readEnds(db: Database): readonly ReportedEnd[] {
  return (parseJson(readMeta(db, keyOf(db)) ?? null) ?? []) as ReportedEnd[];
}

/** Keeps reported ends of tool calls and turns; call inside a transaction. */
export function keepEnds(db: Database, ends: readonly ReportedEnd[]): void {
  writeMeta(db, keyOf(db), JSON.stringify([...readEnds(db), ...ends].slice(-KEPT)));
}

/** Takes them away: what they ended is closed. */
export function dropEnds(db: Database): void {
  db.run("DELETE FROM meta WHERE key = ?", keyOf(db));
}

const KEPT = 500;

function keyOf({ workingCopy }: Database): string {
  return `ends_${workingCopy}`;
}

/** True for two reports of the same end. */
export function sameEnd(a: ReportedEnd, b: ReportedEnd): boolean {
  const idOf = ({ of }: ReportedEnd) => (of.kind === "turn" ? "" : of.id);
  return a.thread === b.thread && a.at === b.at && a.of.kind === b.of.kind && idOf(a) === idOf(b);
}

/** When a call ended by the first report of it, and whether that was about this very call; undefined when there is none. */
export function endOfCall(
  { id, thread, agent, openedAt }: Pick<ToolCall, "id" | "thread" | "agent" | "openedAt">,
  ends: readonly ReportedEnd[],
): { at: number; isOwn: boolean; isCutOff: boolean } | undefined {
  const own = ends.filter((end) => end.thread === thread && end.at >= openedAt);
  const first = own
    .filter(({ of }) => (of.kind === "call" ? of.id === id : agentOf(of) === agent))
    .toSorted((a, b) => a.at - b.at)[0];
  return first && { at: first.at, isOwn: first.of.kind === "call", isCutOff: first.isCutOff === true };
}

/** When a turn ended by the first report of it; undefined when there is none. */
export function endOfTurn(
  { thread, at: openedAt }: Pick<Step, "thread" | "at">,
  ends: readonly ReportedEnd[],
): number | undefined {
  const own = ends.filter(
    ({ of, ...end }) => of.kind === "turn" && end.thread === thread && end.at >= openedAt,
  );
  return own.length === 0 ? undefined : Math.min(...own.map(({ at }) => at));
}

/** The end of a turn ends the calls of the agent itself, not those of agents that it started. */
function agentOf(of: WorkEnd["of"]): string | null {
  return of.kind === "agent" ? of.id : null;
}
