/** `belay` alone, in a protected directory: the timeline on a terminal, else what happened last and the next commands. */
import { printHistory } from "./command-parts/history-list.ts";
import type { Call } from "./call/command.ts";
import { withWorkspace } from "./wiring/open-workspace.ts";
import { visible } from "./output/visible.ts";

const ROWS = 10;

/** Undefined when this directory is not protected. */
export async function overview(call: Call): Promise<number | undefined> {
  if (call.output.canAsk) {
    const { timelineIfProtected } = await import("./wiring/show-timeline.ts");
    return timelineIfProtected(call, { thread: undefined, ascii: false, mouse: false, plain: false });
  }
  try {
    return await withWorkspace(call, async (workspace) => {
      const { style } = call.output;
      if (!call.json) call.output.print(style.bold(visible(workspace.root)));
      const exit = await printHistory(call, workspace, {
        filter: {},
        limit: ROWS,
        whenEmpty: "Nothing happened yet.",
      });
      call.output.note(
        `\n${style.dim("→")} belay status · belay show T3 · belay diff · belay undo · belay restore T3 · belay --help`,
      );
      return exit;
    });
  } catch (error) {
    if ((error as { code?: unknown }).code === "WORKSPACE_NOT_FOUND") return undefined;
    throw error;
  }
}
