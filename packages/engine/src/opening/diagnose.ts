/** What `belay doctor` looks at: everything that could make protection weaker than it seems. */
import {
  absolutePath,
  displayAbsolute,
  realPathAsFarAsPossible,
  type AbsolutePath,
} from "../fs/absolute-path.ts";
import { fileSystemKind } from "../fs/file-system-kind.ts";
import { statNode } from "../fs/file-stat.ts";
import { freeBytes } from "../fs/mutate.ts";
import type { Workspace } from "../workspace/interface/workspace.ts";
import type { UncapturedTurn } from "../model/conversation.ts";
import { EngineError, isEngineError } from "../model/errors.ts";
import type { System } from "../model/system.ts";
import { homePath, systemOf, type EngineOptions } from "./engine-options.ts";
import { findWorkspace } from "./find-workspace.ts";
import { goneWorkspaces } from "./explain-unprotected.ts";
import { comesBackBy } from "../scan/root.ts";
import { listSettings } from "../settings/settings.ts";
import { openRegistry, storeDirectories } from "../store/registry.ts";

/** One thing that was looked at, and what was found. */
export interface Check {
  readonly name: string;
  readonly status: "ok" | "warning" | "problem";
  readonly detail: string;
  /** What to do about it. */
  readonly hint?: string;
}

const RECENT_MS = 7 * 24 * 60 * 60 * 1000;
const LOW_SPACE_BYTES = 512 * 1024 * 1024;

interface DiagnoseOptions extends EngineOptions {
  /** Called with the workspace before it is looked at. */
  readonly opened?: (workspace: Workspace) => Promise<void>;
}

/** Looks without changing anything; a check that fails is a finding, not an error. */
export async function diagnose(
  directory: string,
  options: DiagnoseOptions = {},
): Promise<{ checks: Check[] }> {
  const system = systemOf(options);
  const home = homePath(options, system);
  const checks = [
    attempt("settings", () =>
      ok(
        "settings",
        `${listSettings(displayAbsolute(home)).filter(({ source }) => source !== "default").length} set in config.json`,
      ),
    ),
    attempt("home", () => checkHome(home, system.userId)),
    attempt("space", () => checkSpace(home)),
    attempt("stores", () => checkStores(home, system.userId, directory)),
  ];
  // to look for a workspace would make the home
  const isUsed = statNode(home) !== undefined;
  return { checks: [...checks, ...(isUsed ? await checkWorkspace(directory, options, system) : [])] };
}

function ok(name: string, detail: string): Check {
  return { name, status: "ok", detail };
}

function attempt(name: string, check: () => Check): Check {
  try {
    return check();
  } catch (error) {
    const problem: Check = { name, status: "problem", detail: (error as Error).message };
    const file = isEngineError(error, "CONFIG_INVALID") ? error.facts.file : undefined;
    return file === undefined
      ? problem
      : { ...problem, hint: `correct ${file}, or delete what is wrong in it` };
  }
}

function checkHome(home: AbsolutePath, userId: number | undefined): Check {
  const shown = displayAbsolute(home);
  if (statNode(home) === undefined)
    return { name: "home", status: "ok", detail: `${shown} does not exist yet` };
  openRegistry(home, userId)[Symbol.dispose]();
  const { name, fleeting, network } = fileSystemKind(home);
  if (network)
    return {
      name: "home",
      status: "problem",
      detail: `${shown} is on ${name}, where the store is not safe`,
      hint: "set BELAY_HOME to a local disk",
    };
  if (fleeting) {
    return {
      name: "home",
      status: "warning",
      detail: `${shown} is on ${name}, which may not survive a restart`,
      hint: "set BELAY_HOME to a disk that does",
    };
  }
  return ok("home", `${shown} on ${name}`);
}

function checkSpace(home: AbsolutePath): Check {
  const free = freeBytes(statNode(home) === undefined ? ("/" as AbsolutePath) : home);
  const detail = `${mebibytes(free)} free`;
  return free < LOW_SPACE_BYTES
    ? { name: "space", status: "warning", detail, hint: "`belay prune` and `belay gc` free space" }
    : ok("space", detail);
}

function checkStores(home: AbsolutePath, userId: number | undefined, directory: string): Check {
  if (statNode(home) === undefined) return ok("stores", "none");
  using registry = openRegistry(home, userId);
  const known = registry.list();
  const registered = new Set(known.map(({ store }) => store));
  const lost = storeDirectories(home).filter((store) => !registered.has(store));
  const gone = goneWorkspaces(registry, realPathAsFarAsPossible(absolutePath(directory)));
  if (lost.length > 0)
    return {
      name: "stores",
      status: "warning",
      detail: `${lost.length} stores belong to no known directory: ${lost.join(", ")}`,
      hint: "a first capture that was interrupted leaves one; it can be deleted by hand",
    };
  if (gone.length > 0)
    return {
      name: "stores",
      status: "warning",
      detail: `${gone.length} of ${known.length} protected directories no longer exist`,
      hint: `${comesBackBy(gone[0]!.path)} brings it back; where it was moved to, \`belay attach <id>\` keeps its checkpoints; \`belay workspaces\` lists all`,
    };
  return ok("stores", known.length === 1 ? "1 protected directory" : `${known.length} protected directories`);
}

async function checkWorkspace(directory: string, options: DiagnoseOptions, system: System): Promise<Check[]> {
  let workspace: Workspace;
  try {
    workspace = await findWorkspace(directory, options);
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    // the caller knows more about a directory without a workspace than the store does
    if (error.code === "WORKSPACE_NOT_FOUND") return [];
    return [{ name: "workspace", status: "problem", detail: error.message }];
  }
  await using opened = workspace;
  await options.opened?.(opened);
  const report = await opened.upkeep.verify();
  const { newest, gaps, disk } = await opened.status();
  const full = disk.bytes > disk.capBytes * 0.9;
  return [
    ...opened.notices.map((detail): Check => ({ name: "workspace", status: "warning", detail })),
    newest === null
      ? {
          name: "workspace",
          status: "warning",
          detail: "there is no checkpoint yet",
          hint: "`belay checkpoint` takes one",
        }
      : ok("workspace", opened.root),
    report.ok
      ? ok(
          "store",
          report.checkpoints === 1
            ? "1 checkpoint, structure sound"
            : `${report.checkpoints} checkpoints, structure sound`,
        )
      : {
          name: "store",
          status: "problem",
          detail: `${report.problems.length} problems`,
          hint: "`belay verify --full` lists what is affected",
        },
    gaps.length === 0
      ? ok("coverage", "no gaps")
      : {
          name: "coverage",
          status: "warning",
          detail: gaps.length === 1 ? "1 file is not captured" : `${gaps.length} files are not captured`,
          hint: "`belay status` lists them with reasons",
        },
    lateCheck(await opened.lateSince(system.now() - RECENT_MS)),
    ...uncapturedCheck(await opened.threads.uncaptured(), system.now() - RECENT_MS),
    full
      ? {
          name: "disk",
          status: "warning",
          detail: `the store uses ${mebibytes(disk.bytes)} of ${mebibytes(disk.capBytes)}`,
          hint: "`belay prune` and `belay gc` free space",
        }
      : ok("disk", `${mebibytes(disk.bytes)} of ${mebibytes(disk.capBytes)}`),
  ];
}

/** Turns of which there is no checkpoint. */
function uncapturedCheck(turns: readonly UncapturedTurn[], since: number): Check[] {
  const recent = turns.filter(({ until }) => until >= since);
  const [newest] = recent;
  if (newest === undefined) return [];
  const count = recent.length === 1 ? "1 turn" : `${recent.length} turns`;
  return [
    {
      name: "not captured",
      status: "warning",
      detail: `${count} of the last week, the last one because: ${newest.problem}`,
      hint: "`belay list` shows where, `belay thread <thread>` the prompts; what they changed cannot be undone as a turn",
    },
  ];
}

/** Checkpoints that may hold what an agent did after its hook had answered. */
function lateCheck(late: readonly number[]): Check {
  const name = "late captures";
  const [newest] = late;
  if (newest === undefined) return ok(name, "none in the last week");
  const count = late.length === 1 ? "1 checkpoint" : `${late.length} checkpoints`;
  return {
    name,
    status: "warning",
    detail: `${count} of the last week came too late for some files, the last one is ${newest}`,
    hint: `\`belay show ${newest}\` names them; with the resident process captures take milliseconds`,
  };
}

function mebibytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(bytes < 10 * 1024 * 1024 ? 1 : 0)} MiB`;
}
