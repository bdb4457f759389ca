/**
 * Adds an agent's hooks to its settings. A plan first, so that it can be shown; each file changes as a whole
 * or not at all; a file that cannot be parsed is left alone and named.
 */
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import type { AgentAdapter } from "../adapters/adapter.ts";
import { addEntries } from "../settings/hook-entries.ts";
import type { HookFile, Place } from "../settings/hook-file.ts";
import { backUp, keepRecord, readRecord } from "./install-record.ts";
import {
  hashText,
  readSettings,
  replaceSettings,
  SettingsRefused,
  type SettingsFile,
} from "../settings/settings-file.ts";

/** One file of an installation, with its text before and after. */
export interface PlannedFile {
  readonly path: string;
  readonly action: "create" | "change" | "none" | "refused";
  /** Why it is refused. */
  readonly reason?: string;
  readonly before: SettingsFile | null;
  readonly after: string;
  readonly made: readonly (readonly string[])[];
}

/** What an installation would write for one agent. */
export interface InstallPlan {
  readonly adapter: AgentAdapter;
  readonly place: Place;
  readonly files: readonly PlannedFile[];
}

/** What was installed for one agent. */
export interface InstallReport {
  readonly agent: string;
  readonly files: readonly InstalledReport[];
  /** What the user still has to do, and what is not covered. */
  readonly advice: readonly string[];
}

/** What an installation did to one file. */
export interface InstalledReport {
  readonly path: string;
  readonly outcome: "created" | "changed" | "unchanged" | "refused";
  readonly reason?: string;
  readonly backup?: string;
}

/** What installing would write. Only reads. */
export function planInstall(adapter: AgentAdapter, place: Place): InstallPlan {
  return { adapter, place, files: adapter.hookFiles(place).map(planFile) };
}

/** Writes what was planned. A file that changed since is refused; the rest are written. */
export function install({ adapter, place, files }: InstallPlan, now: number): InstallReport {
  const reports = files.map((file) => installFile(adapter, place, { file, now }));
  return { agent: adapter.id, files: reports, advice: adapter.advice };
}

function planFile(file: HookFile): PlannedFile {
  let before: SettingsFile | null = null;
  try {
    before = readSettings(file.path);
    const { text, made } = edited(file, before?.text ?? "");
    if (before === null) return { path: file.path, action: "create", before, after: text, made };
    const isReadOnly = (before.mode & 0o222) === 0;
    if (before.text !== text && isReadOnly) throw new SettingsRefused("it is read-only");
    return { path: file.path, action: before.text === text ? "none" : "change", before, after: text, made };
  } catch (error) {
    return { path: file.path, action: "refused", reason: reasonOf(error), before, after: "", made: [] };
  }
}

function edited(file: HookFile, text: string): { text: string; made: readonly (readonly string[])[] } {
  return file.kind === "whole" ? { text: file.text, made: [] } : addEntries(text, file);
}

interface Writing {
  readonly file: PlannedFile;
  readonly now: number;
}

function installFile(adapter: AgentAdapter, place: Place, { file, now }: Writing): InstalledReport {
  const { path, action, before, after } = file;
  if (action === "refused") return { path, outcome: "refused", reason: file.reason ?? "" };
  try {
    if (action === "none") {
      adopt(adapter, place, file);
      return { path, outcome: "unchanged" };
    }
    const backup = before === null ? null : backUp(place.belayHome, path, now);
    const madeDirectory = mkdirSync(dirname(path), { recursive: true }) ?? null;
    replaceSettings(path, before, after);
    keep(adapter, place, { file, backup, madeDirectory });
    return { path, outcome: before === null ? "created" : "changed", ...(backup === null ? {} : { backup }) };
  } catch (error) {
    return { path, outcome: "refused", reason: reasonOf(error) };
  }
}

/** A file that already holds our entries: for another workspace, or copied here with them. */
function adopt(adapter: AgentAdapter, place: Place, file: PlannedFile): void {
  const known = readRecord(place.belayHome).find(({ path }) => path === file.path);
  if (known === undefined) keep(adapter, place, { file, backup: null, madeDirectory: null, exact: false });
  else if (!known.roots.includes(place.root)) {
    keepRecord(place.belayHome, { ...known, roots: [...known.roots, place.root] });
  }
}

interface Keeping {
  readonly file: PlannedFile;
  readonly backup: string | null;
  readonly madeDirectory: string | null;
  readonly exact?: boolean;
}

function keep(
  adapter: AgentAdapter,
  place: Place,
  { file, backup, madeDirectory, exact = true }: Keeping,
): void {
  const { path, before, after } = file;
  const earlier = readRecord(place.belayHome).find((installed) => installed.path === path);
  const goesOn = earlier !== undefined && before !== null;
  keepRecord(place.belayHome, {
    agent: adapter.id,
    path,
    scope: place.scope,
    roots: [...new Set([...(earlier?.roots ?? []), place.root])],
    madeDirectory: goesOn ? earlier.madeDirectory : madeDirectory,
    made: goesOn ? [...earlier.made, ...file.made] : file.made,
    after: hashText(after),
    original: goesOn ? earlier.original : backup,
    exact: goesOn ? earlier.exact && hashText(before.text) === earlier.after : exact,
  });
}

/**
 * The reason in words; anything but a refusal or a failed system call is a bug of ours and is thrown again.
 */
export function reasonOf(error: unknown): string {
  if (error instanceof SettingsRefused) return error.message;
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === undefined) throw error;
  return message;
}
