/** Ghosts as rows. */
import type { Ghost } from "@belay/engine";
import { count, relativeTime } from "@belay/tui/text";
import type { Output } from "./output.ts";
import { table } from "./table.ts";
import { visible } from "./visible.ts";

/** Commit, time, what the checkpoint was for, and what the commit lacks. */
export function ghostTable(ghosts: readonly Ghost[], output: Output): string {
  const { style } = output;
  const rows = ghosts.map(({ commit, id, createdAt, description, leftOut, checkpoint }) => [
    { text: commit.slice(0, 10), paint: style.yellow },
    { text: id, paint: style.dim },
    { text: relativeTime(createdAt) },
    { text: visible(description) },
    {
      text: [
        ...(leftOut === 0 ? [] : [`without ${count(leftOut, "path")}`]),
        ...(checkpoint === null ? ["its checkpoint is gone"] : []),
      ].join("; "),
      paint: style.dim,
    },
  ]);
  return table(rows, { width: output.width, flexible: 3 });
}
