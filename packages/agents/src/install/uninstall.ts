/** Removes exactly what was installed. A file that is unchanged since comes back byte for byte. */
import { existsSync, readFileSync, rmdirSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import type { AgentAdapter } from "../adapters/adapter.ts";
import { loadAgent } from "../adapters/find-adapter.ts";
import { hasEntries, removeEntries } from "../settings/hook-entries.ts";
import type { HookFile, Place } from "../settings/hook-file.ts";
import { backUp, dropRecord, keepRecord, readRecord, type InstalledFile } from "./install-record.ts";
import { reasonOf } from "./install.ts";
import {
  hashText,
  readSettings,
  replaceSettings,
  SettingsRefused,
  type SettingsFile,
} from "../settings/settings-file.ts";

/** What an uninstallation did to one file. */
export interface RemovalReport {
  readonly path: string;
  readonly outcome: "restored" | "changed" | "deleted" | "unchanged" | "refused";
  readonly reason?: string;
  /** Workspaces that still need what is in the file. */
  readonly usedBy?: readonly string[];
}

interface UninstallOptions {
  readonly now: number;
  /** Whether another workspace that the hooks were installed for still needs them; left out: it does. */
  readonly isNeeded?: ((root: string) => boolean) | undefined;
}

/** Removes an agent's hooks from the files of this place, unless another workspace still relies on them. */
export function uninstall(
  adapter: AgentAdapter,
  place: Place,
  { now, isNeeded = () => true }: UninstallOptions,
): RemovalReport[] {
  return adapter.hookFiles(place).map((file) => {
    const installed = readRecord(place.belayHome).find(({ path }) => path === file.path);
    const others =
      installed?.roots.filter((root) => root !== place.root && (root === null || isNeeded(root))) ?? [];
    if (installed !== undefined && others.length > 0) {
      keepRecord(place.belayHome, { ...installed, roots: others });
      const usedBy = others.map((root) => root ?? "all projects");
      return { path: file.path, outcome: "unchanged", reason: "other workspaces still use it", usedBy };
    }
    try {
      const report = removeFrom(place.belayHome, { file, installed, now });
      dropRecord(place.belayHome, file.path);
      return report;
    } catch (error) {
      return { path: file.path, outcome: "refused", reason: reasonOf(error) };
    }
  });
}

/** An uninstallation of all agents' hooks, everywhere or for one workspace. */
export interface EverythingRequest {
  readonly belayHome: string;
  readonly user: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly now: number;
  /** Only what was installed for this workspace; left out: everything. */
  readonly root?: string;
  /** Only the hooks of these agents, by their ids; left out: of all. */
  readonly agents?: readonly string[];
  readonly isNeeded?: (root: string) => boolean;
}

/** Removes every hook that Belay knows it installed. */
export async function uninstallAll(request: EverythingRequest): Promise<RemovalReport[]> {
  const { belayHome, user, environment, now, root, agents, isNeeded } = request;
  const reports: RemovalReport[] = [];
  for (const { agent, scope, roots } of readRecord(belayHome)) {
    if (agents?.includes(agent) === false) continue;
    const adapter = await loadAgent(agent);
    for (const place of roots.filter((one) => root === undefined || one === root)) {
      const at = { scope, user, root: place, belayHome, environment };
      reports.push(...uninstall(adapter, at, { now, isNeeded }));
    }
  }
  return reports;
}

interface Removal {
  readonly file: HookFile;
  readonly installed: InstalledFile | undefined;
  readonly now: number;
}

function removeFrom(belayHome: string, { file, installed, now }: Removal): RemovalReport {
  const { path } = file;
  const present = readSettings(path);
  if (present === null) return { path, outcome: "unchanged" };
  const original = originalOf(installed, present);
  if (original === null) return deleteFile(path, installed);
  if (original !== undefined) return replace(path, present, { text: original, outcome: "restored" });
  if (!hasEntries(present.text)) return { path, outcome: "unchanged" };
  if (file.kind === "whole")
    throw new SettingsRefused("it was changed since it was installed; delete it if you want");
  const text = removeEntries(present.text, installed?.made ?? []);
  const isOnlyOurs = installed?.original === null && installed.exact && isBlank(text, file);
  if (isOnlyOurs) return deleteFile(path, installed);
  backUp(belayHome, path, now);
  return replace(path, present, { text, outcome: "changed" });
}

/** What was there before us, if the file is unchanged since: null = nothing, undefined = not known. */
function originalOf(installed: InstalledFile | undefined, present: SettingsFile): string | null | undefined {
  if (installed === undefined || !installed.exact || hashText(present.text) !== installed.after)
    return undefined;
  if (installed.original === null) return null;
  return existsSync(installed.original) ? readFileSync(installed.original, "utf8") : undefined;
}

/** Nothing in it but the defaults of a new file. */
function isBlank(text: string, file: Extract<HookFile, { kind: "entries" }>): boolean {
  try {
    const left = JSON.parse(text) as object;
    return JSON.stringify(left) === JSON.stringify(file.defaults);
  } catch {
    return false;
  }
}

function replace(
  path: string,
  present: SettingsFile,
  { text, outcome }: { text: string; outcome: "restored" | "changed" },
): RemovalReport {
  if (text === present.text) return { path, outcome: "unchanged" };
  replaceSettings(path, present, text);
  return { path, outcome };
}

function deleteFile(path: string, installed: InstalledFile | undefined): RemovalReport {
  rmSync(path);
  // Directories that were made for it go too, as far as they are empty.
  const top = installed?.madeDirectory ?? null;
  for (let at = dirname(path); top !== null && at.startsWith(top); at = dirname(at)) {
    try {
      rmdirSync(at);
    } catch {
      break;
    }
  }
  return { path, outcome: "deleted" };
}
