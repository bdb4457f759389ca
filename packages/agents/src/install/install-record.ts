/**
 * Which files hold our hooks, and what they were before: kept in `$BELAY_HOME/agents`, so that uninstalling
 * and putting back need no guessing. Without it, uninstalling still finds our entries by their command.
 */
import { copyFileSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import type { AgentId } from "../events/agent-id.ts";
import type { Scope } from "../settings/hook-file.ts";
import { hashText, writeOwnFile } from "../settings/settings-file.ts";
import { makePrivateDirectory } from "../state/private-directory.ts";

/** One settings file that hooks were installed into. */
export interface InstalledFile {
  readonly agent: AgentId;
  readonly path: string;
  readonly scope: Scope;
  /** The workspaces that it was installed for: a file of the user's serves several. null: for none in particular. */
  readonly roots: readonly (string | null)[];
  /** The topmost directory that was created for it. */
  readonly madeDirectory: string | null;
  /** Keys that were added to it. */
  readonly made: readonly (readonly string[])[];
  /** The hash of what we wrote: while it matches, the original can be restored byte by byte. */
  readonly after: string;
  /** The file before we first wrote to it; null when there was none. */
  readonly original: string | null;
  /** False once we wrote to a file that had changed since we last did. */
  readonly exact: boolean;
}

const BACKUPS_PER_FILE = 10;

/** Every file that hooks were installed into. */
export function readRecord(belayHome: string): InstalledFile[] {
  try {
    const record = JSON.parse(readFileSync(recordPath(belayHome), "utf8")) as { files: InstalledFile[] };
    return record.files;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw new Error(`${recordPath(belayHome)} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

/** Adds a file to the record, or replaces what it says of it. */
export function keepRecord(belayHome: string, file: InstalledFile): void {
  const others = readRecord(belayHome).filter(({ path }) => path !== file.path);
  writeRecord(belayHome, [...others, file]);
}

/** Removes a file from the record of what was installed. */
export function dropRecord(belayHome: string, path: string): void {
  const files = readRecord(belayHome);
  if (files.some((file) => file.path === path)) {
    writeRecord(
      belayHome,
      files.filter((file) => file.path !== path),
    );
  }
}

/** A copy of a file as it is now, outside of its own directory. */
export function backUp(belayHome: string, path: string, now: number): string {
  const directory = join(belayHome, "agents", "backups");
  makePrivateDirectory(directory);
  const prefix = `${hashText(path).slice(0, 12)}-`;
  const stamp = new Date(now).toISOString().replace(/[:.]/g, "-");
  const backup = join(directory, `${prefix}${stamp}-${basename(path)}`);
  copyFileSync(path, backup);
  const older = readdirSync(directory)
    .filter((name) => name.startsWith(prefix))
    .sort();
  const originals = new Set(readRecord(belayHome).map(({ original }) => original));
  for (const name of older.slice(0, -BACKUPS_PER_FILE)) {
    if (!originals.has(join(directory, name))) rmSync(join(directory, name));
  }
  return backup;
}

function writeRecord(belayHome: string, files: readonly InstalledFile[]): void {
  writeOwnFile(recordPath(belayHome), `${JSON.stringify({ version: 1, files }, null, 2)}\n`, 0o600);
}

function recordPath(belayHome: string): string {
  return join(belayHome, "agents", "installed.json");
}
