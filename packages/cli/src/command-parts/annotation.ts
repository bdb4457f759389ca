/** Shared by note, rename, tag and untag: they print the checkpoint as it is now. */
import type { Checkpoint, Workspace } from "@belay/engine";
import type { Call } from "../call/command.ts";
import { EXIT } from "@belay/protocol/errors";
import { checkpointJson } from "@belay/server/json";
import { withWorkspace } from "../wiring/open-workspace.ts";
import { checkpointLabel } from "../output/checkpoint-table.ts";

/** Changes an annotation and prints the checkpoint. */
export function annotate(
  call: Pick<Call, "directory" | "home" | "json" | "output">,
  change: (workspace: Workspace) => Promise<Checkpoint>,
  told: (checkpoint: Checkpoint) => string,
): Promise<number> {
  return withWorkspace(call, async (workspace) => {
    const checkpoint = await change(workspace);
    const { output } = call;
    if (call.json) output.json({ checkpoint: checkpointJson(checkpoint, { workspace: workspace.id }) });
    else if (!output.quiet) output.print(`${checkpointLabel(checkpoint, output.style)}: ${told(checkpoint)}`);
    return EXIT.done;
  });
}
