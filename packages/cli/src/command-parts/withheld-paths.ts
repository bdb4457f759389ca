/** What the owner of a checkpoint keeps at home. */
import type { Workspace } from "@belay/engine";
import { visible } from "../output/visible.ts";

/** The paths of a checkpoint whose content is not here. */
export async function withheldPaths(workspace: Workspace, checkpoint: string): Promise<string[]> {
  const { gaps } = await workspace.show(checkpoint);
  return gaps.filter(({ reason }) => reason === "withheld").map(({ path }) => String(path));
}

/** A sentence about them; none where there are none. */
export function withheldText(paths: readonly string[]): string[] {
  return paths.length === 0
    ? []
    : [`Kept at home by their owner, left alone here: ${paths.map(visible).join(", ")}.`];
}
