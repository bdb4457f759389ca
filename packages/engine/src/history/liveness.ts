/**
 * Whether an agent is still at work. An interrupted or killed agent sends no event, so its open turns and
 * calls are judged by its process, where known, and by its last event. A turn or call found to be over counts
 * for the capture that finds it, as far as its changes were made in time, and for none after that.
 */
import type { ThreadId } from "../model/ids.ts";
import type { ProcessIdentity } from "../model/process-identity.ts";
import type { Database } from "../store/database.ts";
import { endOfCall, endOfTurn, type ReportedEnd } from "./reported-ends.ts";
import type { Step } from "./step-rows.ts";
import { givenUpCommands, openCalls, type ToolCall } from "./tool-calls.ts";

/** An agent without an event for this long is gone. */
const SILENCE_MS = 10 * 60 * 1000;

/** What is known about processes and agents when a capture is recorded. */
export interface Moment {
  readonly now: number;
  isAlive(client: ProcessIdentity): boolean;
  /**
   * Whether a process has children, started since this moment, that still run; undefined where the system
   * cannot tell.
   */
  hasStarted(client: ProcessIdentity, since: number): boolean | undefined;
  /**
   * The thread whose agent reports right now that it is at work, or done. It was not gone, however long it
   * was silent.
   */
  readonly heard?: ThreadId | undefined;
  /** [R2300] Ends that were reported while nothing could be captured. */
  readonly ends: readonly ReportedEnd[];
  /** The thread that sent the event: its hook is a child process of the agent, but not a command. */
  readonly event?: ThreadId | undefined;
}

interface Client {
  readonly client: ProcessIdentity | null;
  readonly heardAt: number;
}

function clientOf(db: Database, thread: ThreadId): Client {
  const row = db.get("SELECT client, heard_at FROM thread WHERE id = ?", thread);
  const client = row?.["client"];
  return {
    client: typeof client === "string" ? (JSON.parse(client) as ProcessIdentity) : null,
    heardAt: Number(row?.["heard_at"] ?? 0),
  };
}

/** True when an open turn can change nothing more. */
export function isTurnOver(
  db: Database,
  { owner, thread, at }: Pick<Step, "owner" | "thread" | "at">,
  moment: Moment,
): boolean {
  if (endOfTurn({ thread, at }, moment.ends) !== undefined) return true;
  if (owner !== null) return !moment.isAlive(owner);
  if (thread === null) return false;
  if (thread === moment.heard) return false;
  const { client, heardAt } = clientOf(db, thread);
  return client === null ? isSilent(heardAt, moment) : !moment.isAlive(client);
}

/** True when an open call has ended without an event. A running command is a child process of the agent. */
export function isCallOver(db: Database, call: ToolCall, moment: Moment): boolean {
  if (endOfCall(call, moment.ends) !== undefined) return true;
  if (call.thread === moment.heard && call.nature !== "command") return false;
  const { client, heardAt } = clientOf(db, call.thread);
  if (isAgentGone(db, call.thread, moment)) return true;
  const runs =
    client === null || call.nature !== "command" ? undefined : moment.hasStarted(client, call.openedAt);
  return runs === undefined ? isSilent(heardAt, moment) : !runs;
}

/** True when the process of a thread's agent is known to have ended. */
export function isAgentGone(db: Database, thread: ThreadId, moment: Moment): boolean {
  const { client } = clientOf(db, thread);
  return client !== null && !moment.isAlive(client);
}

/**
 * [R195] Commands that were given up and yet run: an agent may ask for permission before it starts an
 * announced command, and the answer takes longer than our look at its processes.
 */
export function resumedCommands(db: Database, moment: Moment): ToolCall[] {
  const teller = moment.event === undefined ? null : clientOf(db, moment.event).client;
  const isTelling = (call: ToolCall) =>
    teller !== null && clientOf(db, call.thread).client?.pid === teller.pid;
  return givenUpCommands(db).filter((call) => !isTelling(call) && isCommandRunning(db, call, moment));
}

/** The calls that may be changing files. */
export function callsAtWork(db: Database, moment: Moment): ToolCall[] {
  return [...openCalls(db), ...resumedCommands(db, moment)].sort((a, b) => a.seq - b.seq);
}

/** True when what a call started is known to be running. */
export function isCommandRunning(db: Database, { thread, openedAt }: ToolCall, moment: Moment): boolean {
  const { client } = clientOf(db, thread);
  return client !== null && moment.isAlive(client) && moment.hasStarted(client, openedAt) === true;
}

/** The time of the last captured event of a thread's agent. */
export function lastHeard(db: Database, thread: ThreadId): number {
  return clientOf(db, thread).heardAt;
}

/** The latest moment at which a silent thread can have made a change. */
export function lastMoment(db: Database, thread: ThreadId): number {
  return lastHeard(db, thread) + SILENCE_MS;
}

function isSilent(heardAt: number, { now }: Moment): boolean {
  return now - heardAt > SILENCE_MS;
}
