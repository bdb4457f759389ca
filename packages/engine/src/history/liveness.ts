/**
 * Whether an agent is still at it. An agent that is interrupted or killed says nothing, so what it left open is judged
 * by its process, where that is known, and by when it was last heard of. A turn or call that is found to be over
 * counts for the capture that finds it, as far as its changes were made in time, and for none after that.
 */
import type { ThreadId } from "../model/ids.ts";
import type { ProcessIdentity } from "../model/process-identity.ts";
import type { Database } from "../store/database.ts";
import type { Step } from "./steps.ts";
import { givenUpCommands, openCalls, type ToolCall } from "./tool-calls.ts";

/** Without a sign of life for so long, an agent is gone. */
const SILENCE_MS = 10 * 60 * 1000;

/** What is known of the world when a capture is recorded. */
export interface Moment {
  readonly now: number;
  isAlive(client: ProcessIdentity): boolean;
  /** Whether a process has started others since a moment that still run; undefined where the system does not tell. */
  hasStarted(client: ProcessIdentity, since: number): boolean | undefined;
  /** The thread whose agent says right now that it is at work, or done: it was not gone, however long it was silent. */
  readonly heard?: ThreadId | undefined;
  /** The thread of whose event this is: the hook that tells of it is a process of its agent's, and no command. */
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

/** True when nothing more is to be expected of an open turn. */
export function isTurnOver(db: Database, { owner, thread }: Step, moment: Moment): boolean {
  if (owner !== null) return !moment.isAlive(owner);
  if (thread === null) return false;
  if (thread === moment.heard) return false;
  const { client, heardAt } = clientOf(db, thread);
  return client === null ? isSilent(heardAt, moment) : !moment.isAlive(client);
}

/** True when an open call has ended without a word. A command that runs is a process that the agent started. */
export function isCallOver(db: Database, call: ToolCall, moment: Moment): boolean {
  if (call.thread === moment.heard && call.nature !== "command") return false;
  const { client, heardAt } = clientOf(db, call.thread);
  if (client !== null && !moment.isAlive(client)) return true;
  const runs =
    client === null || call.nature !== "command" ? undefined : moment.hasStarted(client, call.openedAt);
  return runs === undefined ? isSilent(heardAt, moment) : !runs;
}

/**
 * [R195] Commands that were taken to be over, and run: an agent may ask before it starts what it has announced, and
 * an answer takes longer than a look at its processes.
 */
export function resumedCommands(db: Database, moment: Moment): ToolCall[] {
  const teller = moment.event === undefined ? null : clientOf(db, moment.event).client;
  const isTelling = (call: ToolCall) =>
    teller !== null && clientOf(db, call.thread).client?.pid === teller.pid;
  return givenUpCommands(db).filter((call) => !isTelling(call) && isCommandRunning(db, call, moment));
}

/** The calls that may be changing something. */
export function callsAtWork(db: Database, moment: Moment): ToolCall[] {
  return [...openCalls(db), ...resumedCommands(db, moment)].sort((a, b) => a.seq - b.seq);
}

/** True when it can be told that what a call started still runs. */
export function isCommandRunning(db: Database, { thread, openedAt }: ToolCall, moment: Moment): boolean {
  const { client } = clientOf(db, thread);
  return client !== null && moment.isAlive(client) && moment.hasStarted(client, openedAt) === true;
}

/** When a thread's agent last sent an event that was captured. */
export function lastHeard(db: Database, thread: ThreadId): number {
  return clientOf(db, thread).heardAt;
}

/** Up to when a change can be the doing of a thread that is silent. */
export function lastMoment(db: Database, thread: ThreadId): number {
  return lastHeard(db, thread) + SILENCE_MS;
}

function isSilent(heardAt: number, { now }: Moment): boolean {
  return now - heardAt > SILENCE_MS;
}
