/** A restore must not switch off what makes the next checkpoint: hooks that went with it are put back. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Workspace } from "@belay/engine";

/** [R63] From now on, whichever way files of this workspace go back. */
export function keepHooks(home: string, workspace: Workspace): void {
  workspace.afterRestore(async (paths) => {
    if (!existsSync(join(home, "agents"))) return [];
    const { pathJson } = await import("@belay/server/json");
    const { putHooksBack } = await import("./agent-hooks.ts");
    const changed = paths.map((path) => pathJson(path).path);
    return putHooksBack(home, workspace.root, changed, Date.now());
  });
}
