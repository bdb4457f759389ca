/** The state of the resident process, for `status` and `doctor`. */
import { join } from "node:path";
import type { Workspace } from "@belay/engine";
import { NO_RESIDENT, type ResidentStatus } from "@belay/server/json";
import { ResidentProcess } from "./resident-process.ts";

const PATIENCE_MS = 1000;

/** The state of the resident process, for `status`. */
export async function residentStatus(home: string, workspace: string): Promise<ResidentStatus> {
  const resident = new ResidentProcess(home);
  const facts = resident.facts();
  if (facts === undefined) return NO_RESIDENT;
  const said = await resident
    .client(PATIENCE_MS)
    ?.call("GET /api/resident")
    .catch(() => undefined);
  const watching = said?.workspaces.find(({ id }) => id === workspace)?.watching?.state === "live";
  return { running: true, pid: facts.pid, watching };
}

/** How this very process stands: the resident process answers a command that was handed over to it. */
export function ownStatus({ watching }: Pick<Workspace, "watching">): ResidentStatus {
  return { running: true, pid: process.pid, watching: watching.state === "live" };
}

const DAY_MS = 24 * 60 * 60 * 1000;
/** Fewer crashes are not reported: a power cut now and then is normal. */
const WORTH_A_WORD = 3;

/** The check of the resident process, for `doctor`. */
export async function residentCheck(home: string) {
  const resident = new ResidentProcess(home);
  const check = await presentCheck(resident);
  const deaths = resident.deaths.filter((at) => Date.now() - at < DAY_MS);
  if (deaths.length < WORTH_A_WORD) return check;
  return {
    ...check,
    status: "warning" as const,
    detail: `${check.detail}; it crashed ${deaths.length} times in the last day, last noticed at ${new Date(deaths.at(-1)!).toISOString()}`,
    hint: `Logs: ${join(home, "run", "resident.log")} and resident.log.out. Commands and hooks work without it, more slowly.`,
  };
}

/** The engine's reason when the system has no more watches; other reasons pass with the next capture. */
function lacksWatches({
  watching,
}: {
  readonly watching?: { readonly reason: string | null } | null;
}): boolean {
  return watching?.reason?.startsWith("not everything can be watched") === true;
}

/** Reports a process that cannot watch, does not answer or is of another build. */
async function presentCheck(resident: ResidentProcess) {
  const name = "resident process";
  const facts = resident.facts();
  if (facts === undefined)
    return { name, status: "ok" as const, detail: "not running; commands work without it" };
  const client = resident.client(PATIENCE_MS);
  const hint = "`belay stop` ends it; the next command starts a new one.";
  if (client === undefined)
    return {
      name,
      status: "warning" as const,
      detail: `process ${facts.pid} runs another build of Belay`,
      hint,
    };
  try {
    const { workspaces } = await client.call("GET /api/resident");
    const cold = workspaces.filter(({ watching }) => watching?.state === "cold");
    const detail = `process ${facts.pid} at ${facts.url}, ${workspaces.length} open`;
    return cold.length === 0
      ? { name, status: "ok" as const, detail }
      : {
          name,
          status: "warning" as const,
          detail: `${detail}; not watched: ${cold.map(({ path, watching }) => `${path} (${watching?.reason})`).join(", ")}`,
          hint: `Captures there scan everything, as without the process.${cold.some(lacksWatches) ? " More watches: sysctl fs.inotify.max_user_watches." : ""}`,
        };
  } catch {
    return { name, status: "warning" as const, detail: `process ${facts.pid} does not answer`, hint };
  }
}
