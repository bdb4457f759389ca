/**
 * Copies a Claude Code conversation up to a message into a new transcript beside the old one, under new ids,
 * as its own SDK does when it forks. `claude --resume` opens it.
 */
import { randomUUID } from "node:crypto";
import { closeSync, existsSync, fsyncSync, openSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ancestors, byUuid, readTranscript, type TranscriptEntry } from "./claude-transcript.ts";
import type { ForkRequest, ForkResult } from "./conversations.ts";
import { dashedProjectName, namesIn } from "./last-run.ts";

/** Fields that name another message of the same conversation. */
const LINKS = ["uuid", "parentUuid", "logicalParentUuid", "sourceToolAssistantUUID", "leafUuid"];

/** Writes a copy of the transcript that ends before a message. */
export function forkClaude(request: ForkRequest): ForkResult {
  const path = transcriptPath(request);
  const transcript = path === null ? null : readTranscript(path);
  if (path === null || transcript === null) {
    return { outcome: "failed", reason: "Claude Code's transcript of this conversation does not exist." };
  }
  const { messageId } = request;
  const message = transcript.entries.find(
    ({ uuid, promptId }) => promptId === messageId || uuid === messageId,
  );
  if (message === undefined) {
    return { outcome: "failed", reason: "The message is not in Claude Code's transcript (any more)." };
  }
  const kept = entriesBefore(transcript.entries, message);
  if (kept.length === 0) return { outcome: "empty", resume: ["claude"] };
  const session = randomUUID();
  writeTranscript(join(dirname(path), `${session}.jsonl`), relabel(kept, request.session, session));
  return { outcome: "forked", session, resume: ["claude", "--resume", session] };
}

/** Everything the message follows, and the results of tools that were called in parallel. */
function entriesBefore(entries: readonly TranscriptEntry[], message: TranscriptEntry): TranscriptEntry[] {
  const chain = new Set(ancestors(byUuid(entries), message.parent));
  const until = entries.indexOf(message);
  return entries
    .slice(0, until)
    .filter(({ uuid, parent, fields }) => chain.has(uuid) || isSideResult(fields, parent, chain));
}

function isSideResult(
  fields: Readonly<Record<string, unknown>>,
  parent: string | null,
  chain: Set<string>,
): boolean {
  const isResult = fields["type"] === "user" && Object.hasOwn(fields, "toolUseResult");
  return isResult && parent !== null && chain.has(parent);
}

function relabel(kept: readonly TranscriptEntry[], from: string, to: string): string {
  const names = new Map(kept.map(({ uuid }) => [uuid, randomUUID() as string]));
  const lines = kept.map(({ uuid, fields }) => {
    const entry: Record<string, unknown> = { ...fields, sessionId: to };
    for (const link of LINKS) {
      const named = entry[link];
      if (typeof named === "string") entry[link] = names.get(named) ?? null;
    }
    entry["forkedFrom"] = { sessionId: from, messageUuid: uuid };
    return JSON.stringify(entry);
  });
  return `${lines.join("\n")}\n`;
}

/** "wx": the name is new. If it is not, something is very wrong, and nothing is overwritten. */
function writeTranscript(path: string, text: string): void {
  const file = openSync(path, "wx", 0o600);
  try {
    writeFileSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/**
 * Where hooks reported it; otherwise where a conversation of this directory would be, or of any other: its id
 * decides.
 */
function transcriptPath({ transcript, session, cwd, user, environment }: ForkRequest): string | null {
  if (transcript !== null && transcript.endsWith(".jsonl") && existsSync(transcript)) return transcript;
  if (!/^[\w-]{1,100}$/.test(session)) return null;
  const projects = join(environment["CLAUDE_CONFIG_DIR"] || join(user, ".claude"), "projects");
  const directories = [dashedProjectName(cwd), ...namesIn(projects)];
  const places = directories.map((directory) => join(projects, directory, `${session}.jsonl`));
  return places.find((path) => existsSync(path)) ?? null;
}
