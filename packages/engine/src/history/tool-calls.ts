/** Open tool calls and agent runs. Each belongs to a turn; agent runs may outlive it. */
import { pathFromBytes, pathToBytes, type BytePath } from "../model/byte-path.ts";
import type { AgentRun } from "../model/conversation.ts";
import type { CheckpointId, ThreadId } from "../model/ids.ts";
import { hashFromBytes, hashToBytes, type ObjectHash } from "../model/object-hash.ts";
import type { Database, Row } from "../store/database.ts";
import { parseJson } from "./row-json.ts";

/** A recorded tool call. */
export interface ToolCall {
  readonly seq: number;
  readonly id: string;
  readonly thread: ThreadId;
  readonly step: string | null;
  readonly agent: string | null;
  readonly tool: string;
  readonly paths: readonly BytePath[];
  readonly within: string | null;
  /** True when captures are taken before and after it. */
  readonly captured: boolean;
  /** `edit`: writes only the paths it names. `command`: runs as a child process of the agent. */
  readonly nature: "edit" | "command" | null;
  /** True when it keeps running after its end was reported. */
  readonly background: boolean;
  /** The seq of the newest checkpoint when it began. */
  readonly since: number;
  readonly openedAt: number;
}

/** A tool call to insert. */
export interface NewToolCall extends Omit<ToolCall, "seq"> {
  /** The state an edit began with, so that it can be aborted. */
  readonly saved?: SavedState;
}

/** A state that an open edit keeps: no checkpoint may have it. */
export interface SavedState {
  readonly snapshot: ObjectHash;
  readonly rules: ObjectHash;
  readonly excluded: ObjectHash;
}

/** Adds a tool call that has begun. */
export function openCall(db: Database, call: NewToolCall): void {
  db.run(
    `INSERT INTO tool_call (id, thread, step, agent, tool, paths, captured, within, nature, background, snapshot, rules, excluded, since, opened_at, working_copy)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    call.id,
    call.thread,
    call.step,
    call.agent,
    call.tool,
    JSON.stringify(call.paths.map((path) => pathToBytes(path).toString("base64"))),
    call.captured ? 1 : 0,
    call.within,
    call.nature,
    call.background ? 1 : 0,
    ...savedColumns(call.saved),
    call.since,
    call.openedAt,
    db.workingCopy,
  );
}

function savedColumns(saved: SavedState | undefined): (Buffer | null)[] {
  if (saved === undefined) return [null, null, null];
  return [saved.snapshot, saved.rules, saved.excluded].map(hashToBytes);
}

/** Gives an open call the state that it can be taken back to. */
export function saveState(db: Database, id: string, saved: SavedState): void {
  db.run(
    "UPDATE tool_call SET snapshot = ?, rules = ?, excluded = ? WHERE id = ? AND closed_at IS NULL AND working_copy = ?",
    ...savedColumns(saved),
    id,
    db.workingCopy,
  );
}

/** The state that a call began with; undefined when it keeps none. */
export function readSavedState(db: Database, { seq }: Pick<ToolCall, "seq">): SavedState | undefined {
  const row = db.get("SELECT snapshot, rules, excluded FROM tool_call WHERE seq = ?", seq);
  if (!(row?.["snapshot"] instanceof Uint8Array)) return undefined;
  const name = (column: string) => hashFromBytes(row[column] as Uint8Array);
  return { snapshot: name("snapshot"), rules: name("rules"), excluded: name("excluded") };
}

/** [R94] The calls that are open here: between their captures anything in this working copy may have changed. */
export function openCalls(db: Database): ToolCall[] {
  return db
    .all(
      "SELECT * FROM tool_call WHERE closed_at IS NULL AND captured = 1 AND working_copy = ? ORDER BY seq",
      db.workingCopy,
    )
    .map(toCall);
}

/** The newest open call here with this id. */
export function findOpenCall(db: Database, id: string): ToolCall | undefined {
  const row = db.get(
    "SELECT * FROM tool_call WHERE id = ? AND closed_at IS NULL AND working_copy = ? ORDER BY seq DESC LIMIT 1",
    id,
    db.workingCopy,
  );
  return row === undefined ? undefined : toCall(row);
}

/** Edits that are part of another one, finished or not. */
export function callsWithin(db: Database, id: string): ToolCall[] {
  return db.all("SELECT * FROM tool_call WHERE within = ? ORDER BY seq", id).map(toCall);
}

/** Closes a call and drops its saved state. */
export function closeCall(db: Database, { seq }: Pick<ToolCall, "seq">, now: number): void {
  db.run(
    "UPDATE tool_call SET closed_at = ?, snapshot = NULL, rules = NULL, excluded = NULL WHERE seq = ?",
    now,
    seq,
  );
}

/** Closes a call that is presumed over, although no event reported its end. */
export function giveUpCall(db: Database, call: Pick<ToolCall, "seq">, now: number): void {
  closeCall(db, call, now);
  db.run("UPDATE tool_call SET given_up = 1 WHERE seq = ?", call.seq);
}

/** Gives up all calls here of the thread's own agent, not those of its subagents. */
export function giveUpCallsOf(db: Database, thread: ThreadId, now: number): void {
  db.run(
    `UPDATE tool_call SET closed_at = ?, given_up = captured, snapshot = NULL, rules = NULL, excluded = NULL
       WHERE thread = ? AND closed_at IS NULL AND agent IS NULL AND working_copy = ?`,
    now,
    thread,
    db.workingCopy,
  );
}

/** A call here that was given up and whose end is still unknown, by its id. */
export function findGivenUpCall(db: Database, id: string): ToolCall | undefined {
  const row = db.get(
    "SELECT * FROM tool_call WHERE id = ? AND given_up = 1 AND working_copy = ? ORDER BY seq DESC LIMIT 1",
    id,
    db.workingCopy,
  );
  return row === undefined ? undefined : toCall(row);
}

/** Commands here that were given up and whose turn is still open. */
export function givenUpCommands(db: Database): ToolCall[] {
  return db
    .all(
      `SELECT c.* FROM tool_call c JOIN step s ON s.id = c.step AND s.state = 'open'
         WHERE c.given_up = 1 AND c.captured = 1 AND c.nature = 'command' AND c.working_copy = ? ORDER BY c.seq`,
      db.workingCopy,
    )
    .map(toCall);
}

/** Reopens a call that was given up by mistake. */
export function reopenCall(db: Database, { seq }: Pick<ToolCall, "seq">): void {
  db.run("UPDATE tool_call SET closed_at = NULL, given_up = 0 WHERE seq = ?", seq);
}

/** Marks a call as running in the background: the tool has answered, its process runs until the turn ends. */
export function keepInBackground(db: Database, { seq }: Pick<ToolCall, "seq">): void {
  db.run("UPDATE tool_call SET background = 1 WHERE seq = ?", seq);
}

/** The background calls of a step, whether its turn is over or not. */
export function backgroundCalls(db: Database, step: string): ToolCall[] {
  return db.all("SELECT * FROM tool_call WHERE step = ? AND background = 1 ORDER BY seq", step).map(toCall);
}

/**
 * Closes the calls here that a stop or a new prompt leaves open, permanently; those of agents that may still run
 * stay open.
 */
export function closeCallsOf(db: Database, thread: ThreadId, agent: string | null, now: number): void {
  db.run(
    `UPDATE tool_call SET closed_at = coalesce(closed_at, ?1), given_up = 0, snapshot = NULL, rules = NULL, excluded = NULL
       WHERE thread = ?2 AND (closed_at IS NULL OR given_up = 1) AND agent IS ?3 AND working_copy = ?4`,
    now,
    thread,
    agent,
    db.workingCopy,
  );
}

/**
 * True when captures around tools show what happens in a turn; otherwise the turn itself is the window. A
 * thread driven from outside records what its agent announces; a turn of a process is judged by its own calls.
 */
export function bracketsTools(
  db: Database,
  { id, thread, owner }: { id: string; thread: ThreadId | null; owner: unknown },
): boolean {
  const row =
    owner === null
      ? db.get("SELECT 1 FROM thread WHERE id = ? AND brackets = 1", thread)
      : db.get("SELECT 1 FROM tool_call WHERE step = ? AND captured = 1 LIMIT 1", id);
  return row !== undefined;
}

/** Makes the thread's turns its windows from now on: the policy no longer takes captures around tools. */
export function stopBracketing(db: Database, thread: ThreadId): void {
  db.run("UPDATE tool_call SET captured = 0 WHERE thread = ? AND captured = 1", thread);
  setBrackets(db, thread, false);
}

/** Sets whether captures around tools show what happens in the thread's turns. */
export function setBrackets(db: Database, thread: ThreadId, brackets: boolean): void {
  db.run("UPDATE thread SET brackets = ?1 WHERE id = ?2 AND brackets <> ?1", brackets ? 1 : 0, thread);
}

/** Moves the open calls of one step to another. */
export function moveCalls(db: Database, from: string, to: string): void {
  db.run("UPDATE tool_call SET step = ? WHERE step = ? AND (closed_at IS NULL OR given_up = 1)", to, from);
  db.run("UPDATE agent_run SET step = ? WHERE step = ? AND ended_at IS NULL", to, from);
}

function toCall(row: Row): ToolCall {
  const text = (column: string) => (row[column] === null ? null : String(row[column]));
  return {
    seq: Number(row["seq"]),
    id: String(row["id"]),
    thread: row["thread"] as ThreadId,
    step: text("step"),
    agent: text("agent"),
    tool: String(row["tool"]),
    paths: ((parseJson(row["paths"]) ?? []) as string[]).map((path) =>
      pathFromBytes(Buffer.from(path, "base64")),
    ),
    within: text("within"),
    captured: Number(row["captured"]) === 1,
    nature: text("nature") as ToolCall["nature"],
    background: Number(row["background"]) === 1,
    since: Number(row["since"]),
    openedAt: Number(row["opened_at"]),
  };
}

/** An agent run to insert. */
export interface NewAgentRun {
  readonly id: string;
  readonly thread: ThreadId;
  readonly role: string;
  readonly parent: string | null;
  readonly step: string | null;
  readonly checkpoint: number | null;
  readonly now: number;
}

/** Opens an agent run; the same id again continues it. */
export function openAgent(db: Database, agent: NewAgentRun): void {
  db.run(
    `INSERT INTO agent_run (id, thread, step, role, status, started_at, parent, checkpoint) VALUES (?, ?, ?, ?, 'running', ?, ?, ?)
     ON CONFLICT (thread, id) DO UPDATE SET status = 'running', ended_at = NULL, step = excluded.step`,
    agent.id,
    agent.thread,
    agent.step,
    agent.role,
    agent.now,
    agent.parent,
    agent.checkpoint,
  );
}

/** Records the end of an agent run. */
export function closeAgent(
  db: Database,
  thread: ThreadId,
  result: { id: string; status: string; cost: number | null; tokens: number | null; now: number },
): void {
  db.run(
    "UPDATE agent_run SET status = ?, cost = ?, tokens = ?, ended_at = ? WHERE thread = ? AND id = ?",
    result.status,
    result.cost,
    result.tokens,
    result.now,
    thread,
    result.id,
  );
  const facts = findAgent(db, thread, result.id);
  if (facts === undefined) return;
  const { id, role, status, cost, tokens } = facts.run;
  db.run(
    "UPDATE checkpoint SET agent = ?1 WHERE thread = ?2 AND agent IS NOT NULL AND json_extract(agent, '$.id') = ?3",
    JSON.stringify({ id, role, status, cost, tokens }),
    thread,
    id,
  );
}

/** An agent run and the step it belongs to. */
export function findAgent(
  db: Database,
  thread: ThreadId,
  id: string,
): { run: AgentRun; step: string | null } | undefined {
  const row = db.get(`${SELECT_AGENT} WHERE a.thread = ? AND a.id = ?`, thread, id);
  return row === undefined
    ? undefined
    : { run: toAgent(row), step: row["step"] === null ? null : String(row["step"]) };
}

/** The agent runs of a thread in order. */
export function listAgents(db: Database, thread: ThreadId): AgentRun[] {
  return db.all(`${SELECT_AGENT} WHERE a.thread = ? ORDER BY a.seq`, thread).map(toAgent);
}

const SELECT_AGENT =
  "SELECT a.*, c.id AS checkpoint_id FROM agent_run a LEFT JOIN checkpoint c ON c.seq = a.checkpoint";

function toAgent(row: Row): AgentRun {
  const text = (column: string) => (row[column] === null ? null : String(row[column]));
  return {
    id: String(row["id"]),
    thread: row["thread"] as ThreadId,
    role: String(row["role"]),
    status: String(row["status"]),
    startedAt: Number(row["started_at"]),
    endedAt: row["ended_at"] === null ? null : Number(row["ended_at"]),
    cost: row["cost"] === null ? null : Number(row["cost"]),
    tokens: row["tokens"] === null ? null : Number(row["tokens"]),
    parent: text("parent"),
    checkpoint: text("checkpoint_id") as CheckpointId | null,
  };
}
