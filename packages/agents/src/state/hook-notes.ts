/**
 * What one hook has to know of the hooks before it, since each may be a process of its own. A conversation has a directory
 * with one small file per fact and a list of claims. Each file gets or loses its name by one atomic call, so hooks that run
 * at the same time need no lock. The notes are hints: without them an interrupt is noticed later and a repeated event is recorded twice. No
 * checkpoint depends on them. File names are hashes of ids: an id is never part of a path.
 */
import {
  closeSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import type { AgentEvent } from "../events/agent-event.ts";
import type { AgentRun } from "../events/agent-event.ts";
import { digest, isObject, parsePayload, textOf, type Payload } from "../events/payload.ts";
import { EventClaims } from "./event-claims.ts";
import { makePrivateDirectory } from "./private-directory.ts";

/** A tool call that began and has not ended yet, as far as hooks know. */
export interface OpenCall {
  readonly toolUseId: string;
  readonly match: string;
  readonly tool: string;
  readonly paths: readonly string[];
  readonly subject: string;
  readonly run: AgentRun | null;
}

/** A turn that began and has not ended yet. */
export interface OpenTurn {
  readonly messageId: string;
  readonly turnId: string | null;
}

/** The notes of one conversation. */
export interface HookNotes {
  /** Which of its events were claimed. */
  readonly claims: EventClaims;
  /** The turn that has begun and not ended. */
  openTurn(): OpenTurn | null;
  beginTurn(turn: OpenTurn): void;
  endTurn(): void;
  /** The last message, whether its turn has ended or not. */
  lastMessage(): string | null;
  openCalls(): OpenCall[];
  beginCall(call: OpenCall): void;
  endCall(toolUseId: string): void;
  /** Any other fact about the conversation. */
  recall(name: string): Payload | null;
  /** Records where the agent keeps the conversation, and where it works; only for the conversation's own. */
  placeOfTranscript(event: Pick<AgentEvent, "transcript" | "run">, cwd: string): void;
  remember(name: string, fact: Payload | null): void;
}

const KEPT_MS = 30 * 24 * 60 * 60 * 1000;

/** The notes of a conversation; its directory is made when the first is written. */
export function openHookNotes(home: string, agent: string, session: string): HookNotes {
  const directory = join(home, "agents", "notes", digest(agent, session));
  const file = (kind: string, id: string) => join(directory, `${kind}-${digest(id)}`);
  const recall = (name: string) => readNote(file("fact", name));
  const remember = (name: string, fact: Payload | null) => writeNote(file("fact", name), fact);

  return {
    claims: new EventClaims(directory),
    openTurn() {
      const note = recall("turn");
      const messageId = note === null ? null : textOf(note, "messageId");
      return messageId === null ? null : { messageId, turnId: textOf(note!, "turnId") };
    },
    beginTurn(turn) {
      remember("turn", { ...turn });
      remember("message", { messageId: turn.messageId });
    },
    endTurn: () => remember("turn", null),
    lastMessage: () => textOf(recall("message") ?? {}, "messageId"),
    openCalls: () => readCalls(directory),
    beginCall: (call) => fillSpare(file("call", call.toolUseId), JSON.stringify(call)),
    endCall: (toolUseId) => leaveSpare(file("call", toolUseId)),
    placeOfTranscript({ transcript: path, run }, cwd) {
      const known = recall("transcript");
      // the first directory counts: an agent's commands may lead it elsewhere
      if (path === null || run !== null || (known !== null && textOf(known, "path") === path)) return;
      remember("transcript", { path, cwd });
    },
    recall,
    remember,
  };
}

/** Where hooks say that a conversation's transcript is, and in which directory the conversation began. */
export function transcriptOf(
  home: string,
  { agent, session }: { agent: string; session: string },
): { path: string | null; cwd: string | null } {
  const note = openHookNotes(home, agent, session).recall("transcript") ?? {};
  return { path: textOf(note, "path"), cwd: textOf(note, "cwd") };
}

/**
 * Forgets what hooks noted about a conversation and its subagents, open commands included. Returns the digests of their
 * sessions.
 */
export function forgetNotes(home: string, agent: string, session: string): Set<string> {
  const notes = join(home, "agents", "notes");
  const forgotten = new Set([digest(agent, session)]);
  for (let known = 0; known < forgotten.size;) {
    known = forgotten.size;
    for (const name of namesIn(notes)) {
      const parent = textOf(readNote(join(notes, name, `fact-${digest("parent")}`)) ?? {}, "session");
      if (parent !== null && forgotten.has(digest(agent, parent))) forgotten.add(name);
    }
  }
  for (const name of forgotten) rmSync(join(notes, name), { recursive: true, force: true });
  return forgotten;
}

/** Forgets conversations that had no event for a month. */
export function dropOldNotes(home: string, now: number): void {
  const notes = join(home, "agents", "notes");
  for (const name of namesIn(notes)) {
    dropIfOlder(join(notes, name), now - KEPT_MS);
  }
}

function dropIfOlder(path: string, moment: number): void {
  const seen = statSync(path, { throwIfNoEntry: false });
  if (seen !== undefined && seen.mtimeMs < moment) rmSync(path, { recursive: true, force: true });
}

function readCalls(directory: string): OpenCall[] {
  const calls = namesIn(directory)
    .filter((name) => name.startsWith("call-"))
    .map((name) => ({
      path: join(directory, name),
      at: statSync(join(directory, name), { throwIfNoEntry: false }),
    }))
    .filter(({ at }) => at !== undefined)
    .sort((a, b) => a.at!.mtimeMs - b.at!.mtimeMs);
  return calls.flatMap(({ path }) => asCall(readNote(path)));
}

function asCall(note: Payload | null): OpenCall[] {
  const toolUseId = note === null ? null : textOf(note, "toolUseId");
  if (note === null || toolUseId === null) return [];
  const paths: unknown = note["paths"];
  const run: unknown = note["run"];
  return [
    {
      toolUseId,
      match: textOf(note, "match") ?? toolUseId,
      tool: textOf(note, "tool") ?? "",
      paths: Array.isArray(paths) ? paths.filter((path) => typeof path === "string") : [],
      subject: textOf(note, "subject") ?? "",
      run: isObject(run) ? { id: textOf(run, "id") ?? "", role: textOf(run, "role") ?? "" } : null,
    },
  ];
}

function readNote(path: string): Payload | null {
  try {
    return parsePayload(readFileSync(path, "utf8")) ?? null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

function writeNote(path: string, note: Payload | null): void {
  if (note === null) return rmSync(path, { force: true });
  makePrivateDirectory(dirname(path));
  const draft = draftOf(path);
  writeFileSync(draft, JSON.stringify(note), { mode: 0o600 });
  renameSync(draft, path);
}

/** Each call of a tool has a note for as long as it runs. To create a file takes up to a millisecond: one is used again. */
function fillSpare(path: string, text: string): void {
  makePrivateDirectory(dirname(path));
  const draft = draftOf(path);
  const isSpare = renameIfThere(spareOf(path), draft);
  const file = openSync(draft, isSpare ? "r+" : "w", 0o600);
  try {
    ftruncateSync(file, writeSync(file, text, 0));
  } finally {
    closeSync(file);
  }
  renameSync(draft, path);
}

/** [R165] Of what the call was, nothing stays. A file of one byte, not none: ext4 would write out the next text at once. */
function leaveSpare(path: string): void {
  const draft = draftOf(path);
  if (!renameIfThere(path, draft)) return;
  const file = openSync(draft, "r+");
  try {
    writeSync(file, " ", 0);
    ftruncateSync(file, 1);
  } finally {
    closeSync(file);
  }
  renameSync(draft, spareOf(path));
}

function spareOf(path: string): string {
  return join(dirname(path), "spare");
}

function draftOf(path: string): string {
  return join(dirname(path), `draft-${basename(path)}.${process.pid}`);
}

function renameIfThere(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
