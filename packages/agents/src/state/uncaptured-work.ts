/**
 * What agents did while no checkpoint could be taken, kept until it can be put into the timeline. A full disk is the usual
 * reason, so the space is reserved beforehand: one file of fixed size, overwritten in place. (A file system that never writes
 * in place, such as btrfs, may still refuse; then only the warning that the agent shows remains.) One slot a turn; the oldest
 * gives way. Hooks that write at the same moment may lose count of events, never a turn.
 */
import {
  closeSync,
  constants,
  fsyncSync,
  openSync,
  readSync,
  realpathSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import type { AgentEvent } from "../events/agent-event.ts";
import { isObject, parsePayload, textOf, type Payload } from "../events/payload.ts";

export { summarisePrompt } from "../events/describe.ts";
import { makePrivateDirectory } from "./private-directory.ts";

const SLOTS = 32;
const SLOT_BYTES = 4096;
const NOTHING = Buffer.alloc(SLOTS * SLOT_BYTES, " ");

/** A turn that could not be captured, as far as it is known. */
export interface UncapturedWork {
  readonly agent: string;
  /** The agent's own id of the conversation. */
  readonly session: string;
  readonly cwd: string;
  readonly at: number;
  readonly until: number;
  readonly events: number;
  readonly problem: string;
  /** What ended with the lost events: what is done after that is not the agent's. */
  readonly ends: readonly LostEnd[];
  /** Null when the prompt was captured or is unknown. Only its beginning, if it is long. */
  readonly prompt: string | null;
  readonly messageId: string | null;
}

/** The end of a tool call, of a subagent with its calls, or of a turn. */
export interface LostEnd {
  readonly of: { readonly kind: "call" | "agent"; readonly id: string } | { readonly kind: "turn" };
  readonly at: number;
}

interface Slot extends UncapturedWork {
  readonly slot: number;
}

/** Reserves disk space for notes of uncaptured work, once. A failure is ignored. */
export function setUncapturedAside(home: string): void {
  try {
    if (statSync(fileIn(home), { throwIfNoEntry: false })?.size === SLOTS * SLOT_BYTES) return;
    makePrivateDirectory(join(home, "agents"));
    writeFileSync(fileIn(home), NOTHING, { mode: 0o600 });
  } catch {
    // the next event tries again
  }
}

/** One event that failed. */
export interface LostEvent {
  readonly agent: string;
  readonly event: AgentEvent;
  /** What ended with it. */
  readonly ends: readonly LostEnd[];
  readonly cwd: string;
  readonly now: number;
  readonly problem: string;
}

/** Remembers an event that could not be carried out, in the slot of its turn. */
export function noteUncaptured(home: string, lost: LostEvent): void {
  const { agent, event, ends, cwd, now, problem } = lost;
  if (!isWork(event) && ends.length === 0) return;
  try {
    const known = readSlots(home);
    const own = known.filter((one) => one.agent === agent && one.session === event.session);
    const open = event.kind === "prompt" ? undefined : own.toSorted((a, b) => b.at - a.at)[0];
    const isPrompt = event.kind === "prompt";
    writeSlot(home, {
      agent,
      session: event.session,
      cwd: realOf(event.cwd ?? cwd),
      at: open?.at ?? now,
      until: now,
      events: (open?.events ?? 0) + 1,
      // the first problem of a turn is the cause of the rest
      problem: open?.problem ?? problem,
      ends: [...(open?.ends ?? []), ...ends],
      prompt: isPrompt ? event.text : (open?.prompt ?? null),
      messageId: isPrompt ? event.messageId : (open?.messageId ?? null),
      slot: open?.slot ?? freeSlot(known),
    });
  } catch {
    // The user still gets the warning in the answer.
  }
}

/** Roots are known by their real paths. */
function realOf(directory: string): string {
  try {
    return realpathSync(directory);
  } catch {
    return directory;
  }
}

/** Everything that is remembered, oldest first. */
export function listUncaptured(home: string): UncapturedWork[] {
  return readSlots(home).toSorted((a, b) => a.at - b.at);
}

/** Forgets work that is in the timeline now, or whose timeline is gone. */
export function forgetUncaptured(home: string, work: UncapturedWork): void {
  const found = readSlots(home).find(
    ({ agent, session, at }) => agent === work.agent && session === work.session && at === work.at,
  );
  // events that were added meanwhile stay for the next time
  if (found !== undefined && found.events === work.events) overwrite(home, found.slot, "");
}

/** Events that are a part of a turn; a session that begins or ends changes nothing. */
function isWork(event: AgentEvent): boolean {
  return ["prompt", "tool-before", "tool-after", "turn-end", "agent-start", "agent-end"].includes(event.kind);
}

function freeSlot(known: readonly Slot[]): number {
  const taken = new Set(known.map(({ slot }) => slot));
  const free = Array.from({ length: SLOTS }, (_, slot) => slot).find((slot) => !taken.has(slot));
  return free ?? known.toSorted((a, b) => a.until - b.until)[0]!.slot;
}

/** Every event comes past here, and hardly ever is there anything: one buffer for all. */
const all = Buffer.alloc(SLOTS * SLOT_BYTES);

function readSlots(home: string): Slot[] {
  let file: number;
  try {
    file = openSync(fileIn(home), constants.O_RDONLY);
  } catch {
    return [];
  }
  try {
    all.fill(" ", readSync(file, all, 0, all.length, 0));
  } finally {
    closeSync(file);
  }
  if (all.equals(NOTHING)) return [];
  return Array.from({ length: SLOTS }, (_, slot) => slot).flatMap((slot) => {
    const text = all.toString("utf8", slot * SLOT_BYTES, (slot + 1) * SLOT_BYTES).trim();
    const note = text === "" ? undefined : parsePayload(text);
    return note === undefined ? [] : asSlot(note, slot);
  });
}

function asSlot(note: Payload, slot: number): Slot[] {
  const [agent, session, cwd] = [textOf(note, "agent"), textOf(note, "session"), textOf(note, "cwd")];
  const { at, until, events } = note;
  if (agent === null || session === null || cwd === null) return [];
  if (typeof at !== "number" || typeof until !== "number" || typeof events !== "number") return [];
  const problem = textOf(note, "problem") ?? "";
  const [prompt, messageId] = [textOf(note, "prompt"), textOf(note, "messageId")];
  const ends = (Array.isArray(note["ends"]) ? note["ends"] : []).flatMap(asEnd);
  return [{ agent, session, cwd, at, until, events, problem, ends, prompt, messageId, slot }];
}

function asEnd(note: unknown): LostEnd[] {
  const { of, at } = isObject(note) ? note : {};
  if (typeof at !== "number" || !isObject(of)) return [];
  const [kind, id] = [textOf(of, "kind"), textOf(of, "id")];
  if (kind === "turn") return [{ of: { kind }, at }];
  return (kind === "call" || kind === "agent") && id !== null ? [{ of: { kind, id }, at }] : [];
}

/** A long prompt is cut until the whole fits, then the oldest ends give way: that of the turn is the last. */
function writeSlot(home: string, { slot, ...work }: Slot): void {
  let text = JSON.stringify(work);
  const isLong = () => Buffer.byteLength(text) > SLOT_BYTES;
  let { prompt, ends } = work;
  for (let kept = prompt ?? ""; isLong() && kept !== "";) {
    kept = kept.slice(0, Math.floor(kept.length / 2));
    prompt = `${kept}…`;
    text = JSON.stringify({ ...work, prompt });
  }
  while (isLong() && ends.length > 0) {
    ends = ends.slice(1);
    text = JSON.stringify({ ...work, prompt, ends });
  }
  if (Buffer.byteLength(text) <= SLOT_BYTES) overwrite(home, slot, text);
}

/** Writes in place: the file neither grows nor shrinks. */
function overwrite(home: string, slot: number, text: string): void {
  const file = openSync(fileIn(home), constants.O_WRONLY);
  try {
    const bytes = Buffer.alloc(SLOT_BYTES, " ");
    bytes.write(text, "utf8");
    writeSync(file, bytes, 0, SLOT_BYTES, slot * SLOT_BYTES);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function fileIn(home: string): string {
  return join(home, "agents", "uncaptured");
}
