/**
 * The fast way: the resident process already knows the files. If that fails for any reason, the command does
 * the work itself and reports its own errors.
 */
import type { BelayClient } from "@belay/protocol/client";
import { ResidentProcess } from "./resident-process.ts";

/** Longer than any capture that the process is asked for. */
const PATIENCE_MS = 10_000;

/** The errors of connecting when no process listens, whatever files are still there. */
const NONE_LISTENS = new Set(["ECONNREFUSED", "ENOENT"]);

/** A resident process that a command found missing, to be started after its answer. */
let awaited: { readonly resident: ResidentProcess; readonly directory: string } | undefined;

/**
 * Undefined when the process could not help. `start`: if there is none, one is started for the next command.
 */
export async function askResident<Answer>(
  home: string,
  ask: (client: BelayClient) => Promise<Answer>,
  { start, directory }: { readonly start: boolean; readonly directory: string },
): Promise<Answer | undefined> {
  try {
    const client = new ResidentProcess(home).client(PATIENCE_MS);
    if (client !== undefined) {
      try {
        return await ask(client);
      } catch (error) {
        if (!NONE_LISTENS.has((error as NodeJS.ErrnoException).code ?? "")) return undefined;
      }
    }
    if (start && process.env["BELAY_RESIDENT"] !== "off")
      awaited = { resident: new ResidentProcess(home), directory };
  } catch {
    // the command continues alone
  }
  return undefined;
}

/** Starts it after the answer: a process that starts beside a command competes for processor and store. */
export function startAwaitedResident(): void {
  try {
    if (awaited?.resident.keepsDying === false) awaited.resident.launch(["--open", awaited.directory]);
  } catch {
    // the next command tries again
  } finally {
    awaited = undefined;
  }
}
