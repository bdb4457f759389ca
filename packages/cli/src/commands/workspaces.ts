import type { WorkspaceSummary } from "@belay/engine";
import { isoTime } from "@belay/server/json";
import { defineCommand } from "../call/command.ts";
import { EXIT } from "@belay/protocol/errors";
import { relativeTime, size } from "@belay/tui/text";
import { table } from "../output/table.ts";
import { visible } from "../output/visible.ts";

export default defineCommand({
  usage: "workspaces",
  about: "All protected directories: id, path, checkpoints, disk use and since when.",
  options: {},
  operands: { min: 0, max: 0 },
  examples: ["belay workspaces"],
  run: async (call) => {
    const { listWorkspaces } = await import("@belay/engine");
    const workspaces = await listWorkspaces({ home: call.home });
    if (call.json) call.output.json({ workspaces: workspaces.map(workspaceJson) });
    else if (workspaces.length === 0)
      call.output.print("Nothing is protected yet: `belay init` protects the current directory.");
    else {
      const { style, width } = call.output;
      const rows = workspaces.map((workspace) => [
        { text: workspace.id, paint: style.dim },
        { text: visible(workspace.path), paint: style.bold },
        { text: workspace.checkpoints === null ? "?" : String(workspace.checkpoints) },
        { text: size(workspace.bytes) },
        { text: relativeTime(workspace.createdAt) },
        { text: stateOf(workspace), paint: style.red },
      ]);
      // on narrow terminals age, checkpoints, size and finally the id are left out
      call.output.print(table(rows, { width, flexible: 1, right: [2, 3], dispensable: [4, 2, 3, 0] }));
    }
    return EXIT.done;
  },
});

function stateOf({ exists, endedAt }: WorkspaceSummary): string {
  if (endedAt !== null) return "no longer protected";
  return exists ? "" : "gone";
}

function workspaceJson({ createdAt, endedAt, ...workspace }: WorkspaceSummary) {
  return { ...workspace, createdAt: isoTime(createdAt), endedAt: endedAt === null ? null : isoTime(endedAt) };
}
