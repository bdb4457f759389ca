/**
 * Takes over a Claude Code conversation that came from another machine: a new transcript, under a new id, where Claude
 * Code looks for those of this directory, with the paths of the other machine rewritten. `claude --resume` opens it.
 */
import { randomUUID } from "node:crypto";
import { closeSync, fsyncSync, mkdirSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parsePayload } from "../events/payload.ts";
import type { ForkResult, TakeOverRequest } from "./conversations.ts";
import { dashedProjectName } from "./last-run.ts";

/** Writes the transcript; what is not a line of one is left out. */
export function takeOverClaude({ text, from, cwd, user, environment }: TakeOverRequest): ForkResult {
  const session = randomUUID();
  const lines = text.split("\n").flatMap((line) => {
    const entry = parsePayload(line);
    if (entry === null || entry === undefined) return [];
    const moved = from === null ? entry : (withPaths(entry, from, cwd) as typeof entry);
    return [JSON.stringify({ ...moved, ...("sessionId" in moved && { sessionId: session }) })];
  });
  if (lines.length === 0) return { outcome: "empty", resume: ["claude"] };
  const projects = join(environment["CLAUDE_CONFIG_DIR"] || join(user, ".claude"), "projects");
  const directory = join(projects, dashedProjectName(cwd));
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const file = openSync(join(directory, `${session}.jsonl`), "wx", 0o600);
  try {
    writeFileSync(file, `${lines.join("\n")}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  return { outcome: "forked", session, resume: ["claude", "--resume", session] };
}

/** The value with every path below one directory moved to another; a longer name that begins alike stays. */
function withPaths(value: unknown, from: string, to: string): unknown {
  if (typeof value === "string") return movedText(value, from, to);
  if (Array.isArray(value)) return value.map((item) => withPaths(item, from, to));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withPaths(item, from, to)]));
}

function movedText(text: string, from: string, to: string): string {
  if (from === "/") return text;
  let moved = "";
  let rest = text;
  for (let at = rest.indexOf(from); at >= 0; at = rest.indexOf(from)) {
    const previous = at > 0 ? rest[at - 1]! : (moved.at(-1) ?? " ");
    const next = rest[at + from.length] ?? "/";
    // within a longer path it is another directory: `src/app/x` is not below `/app`
    const isWhole = !/[\w./-]/.test(previous) && !/[\w.-]/.test(next);
    moved += rest.slice(0, at) + (isWhole ? to : from);
    rest = rest.slice(at + from.length);
  }
  return moved + rest;
}
