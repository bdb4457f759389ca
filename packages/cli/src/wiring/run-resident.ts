/** Runs the resident process in this very process, until it is told to end. */
import { startResident, type ResidentOptions } from "@belay/server";
import type { ResidentFacts } from "@belay/server/resident";
import { refreshHookScript } from "../agents/agent-hooks.ts";
import { captureJson, captureState } from "../agents/capture-state.ts";
import { connectToAgents } from "../agents/connect-to-agents.ts";
import { serveHooks } from "../agents/serve-hooks.ts";
import type { Call } from "../call/command.ts";
import { EXIT } from "@belay/protocol/errors";
import { readBuild } from "../version.ts";

/** Undefined when another process is already there. */
export async function runResident(
  call: Pick<Call, "home">,
  options: Pick<ResidentOptions, "port" | "foreground" | "directory">,
  ready: (facts: ResidentFacts) => void,
): Promise<number | undefined> {
  // before anybody can see that the process is there
  refreshHookScript(call.home);
  const resident = await startResident({
    ...options,
    home: call.home,
    version: readBuild(),
    extend: serveHooks(call.home),
    opened: (workspace) => connectToAgents(call.home, workspace),
    capture: async (workspace) => {
      const scene = { home: call.home, directory: workspace.root, workspace, how: "quick" } as const;
      return captureJson(await captureState(scene));
    },
  });
  if (resident === undefined) return undefined;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => resident.stop());
  ready(resident.facts);
  await resident.ended;
  return EXIT.done;
}
