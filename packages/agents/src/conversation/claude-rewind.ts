/**
 * Claude Code's /rewind leaves no event and no line. It shows in the next prompt, which follows a message
 * older than the last one. Each turn notes the last message and the length of the transcript, so that only
 * what was added since must be read.
 */
import { ancestors, byUuid, readTranscript, type TranscriptEntry } from "./claude-transcript.ts";
import type { HookNotes } from "../state/hook-notes.ts";
import { textOf } from "../events/payload.ts";

interface Sight {
  readonly kind: string;
  readonly transcript: string;
  readonly turnId: string | null;
}

const NOTE = "rewind";
/** With more than this in one turn the check is skipped: a hook must be quick. */
const TURN_LIMIT = 32 << 20;

/** Where the conversation was rewound to, if that happened before this turn. */
export function noticeClaudeRewind(
  { kind, transcript, turnId }: Sight,
  notes: HookNotes,
): { messageId: string } | undefined {
  const noted = notes.recall(NOTE) ?? {};
  const isNewTurn = turnId !== null && textOf(noted, "turn") !== turnId;
  if (!isNewTurn && kind !== "turn-end") return undefined;
  const leaf = textOf(noted, "leaf");
  const start = textOf(noted, "path") === transcript ? Number(noted["end"] ?? 0) : 0;
  const added = readTranscript(transcript, start, TURN_LIMIT);
  if (added === null) return undefined;
  const prompt = added.entries.find(({ promptId }) => promptId === turnId);
  // The transcript lags behind the hooks: without the prompt in it, nothing can be said yet.
  if (isNewTurn && prompt === undefined) return undefined;
  const isOver = kind === "turn-end";
  const last = isOver ? (added.entries.at(-1)?.uuid ?? leaf) : leaf;
  const over = textOf(noted, "over");
  notes.remember(NOTE, {
    path: transcript,
    leaf: last,
    end: isOver ? added.end : start,
    turn: turnId,
    over: isOver ? turnId : over,
  });
  if (!isNewTurn || prompt === undefined || leaf === null || start === 0) return undefined;
  return (
    leftBefore({ transcript, leaf, prompt, added: added.entries }) ?? leftInTurn(added.entries, prompt, over)
  );
}

/** A turn that was interrupted and rewound before anything else happened. */
function leftInTurn(
  added: readonly TranscriptEntry[],
  prompt: TranscriptEntry,
  over: string | null,
): { messageId: string } | undefined {
  const entries = byUuid(added);
  const kept = new Set(ancestors(entries, prompt.uuid).map((uuid) => entries.get(uuid)?.promptId));
  // Lines of the turn before that were written late are not of an interrupted one.
  kept.add(over);
  const earlier = added.slice(0, added.indexOf(prompt));
  const left = earlier.find(({ promptId }) => promptId !== null && !kept.has(promptId));
  return left === undefined ? undefined : { messageId: left.promptId! };
}

interface Branching {
  readonly transcript: string;
  readonly leaf: string;
  readonly prompt: TranscriptEntry;
  readonly added: readonly TranscriptEntry[];
}

/** The first prompt that led to the old last message and not to the new prompt; none: it was not a rewind. */
function leftBefore({ transcript, leaf, prompt, added }: Branching): { messageId: string } | undefined {
  if (ancestors(byUuid(added), prompt.uuid).at(-1) === leaf) return undefined;
  const all = readTranscript(transcript);
  if (all === null) return undefined;
  const entries = byUuid(all.entries);
  const kept = new Set(ancestors(entries, prompt.uuid));
  if (kept.has(leaf)) return undefined;
  const promptsOf = (uuids: Iterable<string>) =>
    [...uuids].map((uuid) => entries.get(uuid)?.promptId ?? null).filter((id) => id !== null);
  const keptPrompts = new Set(promptsOf(kept));
  const left = ancestors(entries, leaf)
    .filter((uuid) => !kept.has(uuid))
    .reverse();
  const messageId = promptsOf(left).find((id) => !keptPrompts.has(id));
  return messageId === undefined ? undefined : { messageId };
}
