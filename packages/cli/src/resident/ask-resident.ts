/**
 * The fast way: the resident process already knows the files. Whatever goes wrong on it, from no process to
 * an error of its own, the command does the work itself and says what there is to say.
 */
import type { BelayClient } from "@belay/protocol/client";
import { ResidentProcess } from "./resident-process.ts";

/** Longer than any capture that the process should be asked for. */
const PATIENCE_MS = 10_000;

/** What connecting fails with when no process listens: the system says so, whatever files are still there. */
const NONE_LISTENS = new Set(["ECONNREFUSED", "ENOENT"]);

/** Undefined when it could not help; if it is not there, one is started for the next time, unless that is switched off. */
export async function askResident<Answer>(
  home: string,
  ask: (client: BelayClient) => Promise<Answer>,
): Promise<Answer | undefined> {
  try {
    const resident = new ResidentProcess(home);
    const client = resident.client(PATIENCE_MS);
    if (client !== undefined) {
      try {
        return await ask(client);
      } catch (error) {
        if (!NONE_LISTENS.has((error as NodeJS.ErrnoException).code ?? "")) return undefined;
      }
    }
    if (process.env["BELAY_RESIDENT"] !== "off" && !resident.keepsDying) resident.launch();
  } catch {
    // the command goes on alone
  }
  return undefined;
}
