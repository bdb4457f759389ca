/**
 * When an agent last worked in a directory, judging by the files of its conversations: if those grow and
 * hooks are silent, the hooks do not run. The files are the agent's own and may change: what is not found is
 * unknown.
 */
import { createHash } from "node:crypto";
import { closeSync, openSync, readdirSync, readSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { objectOf, parsePayload, textOf } from "../events/payload.ts";

const FILES_LOOKED_INTO = 40;
const HEAD_BYTES = 64 << 10;

/** When the newest of these files was last written to, if that was after a moment. */
export function lastRunIn(directories: readonly string[], ending: string, since: number): number | null {
  const times = directories.flatMap((directory) =>
    namesIn(directory)
      .filter((name) => name.endsWith(ending))
      .map((name) => writtenAt(join(directory, name))),
  );
  const newest = Math.max(since, ...times);
  return newest > since ? newest : null;
}

/** The same for files of all projects, kept by day, where each names its directory near its beginning. */
export function lastRunByDay(sessions: string, cwd: string, since: number): number | null {
  const mark = `"cwd":${JSON.stringify(cwd)}`;
  let looked = 0;
  for (const path of newestFirst(sessions, 3)) {
    const at = writtenAt(path);
    if (at <= since) continue;
    if (looked++ >= FILES_LOOKED_INTO) return null;
    if (headOf(path).replaceAll('": "', '":"').includes(mark)) return at;
  }
  return null;
}

/** Claude Code's name for a project's directory; other agents adopted it. */
export function dashedProjectName(root: string): string {
  return root.replace(/[^A-Za-z0-9]/g, "-");
}

/** Gemini CLI's name for it; other agents adopted it. */
export function hashedProjectName(root: string): string {
  return createHash("sha256").update(root).digest("hex");
}

/** Where Gemini CLI keeps the conversations about a project: newer versions have a list of short names. */
export function geminiProjects(home: string, root: string): string[] {
  const listed = objectOf(parsePayload(headOf(join(home, "projects.json"))) ?? {}, "projects");
  const short = textOf(listed, root);
  const names = short === null ? [hashedProjectName(root)] : [short, hashedProjectName(root)];
  return names.map((name) => join(home, "tmp", basename(name), "chats"));
}

/** Files below directories whose names sort by time: years, months, days. */
function* newestFirst(directory: string, depth: number): Generator<string> {
  for (const name of namesIn(directory).toSorted().toReversed()) {
    if (depth === 0) yield join(directory, name);
    else yield* newestFirst(join(directory, name), depth - 1);
  }
}

function headOf(path: string): string {
  try {
    const file = openSync(path, "r");
    try {
      const head = Buffer.alloc(HEAD_BYTES);
      return head.toString("utf8", 0, readSync(file, head, 0, HEAD_BYTES, 0));
    } finally {
      closeSync(file);
    }
  } catch {
    return "";
  }
}

function writtenAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** What is in a directory; nothing when it cannot be listed. */
export function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
