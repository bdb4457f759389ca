import { EXIT } from "@belay/protocol/errors";
import { defineCommand } from "../call/command.ts";
import { openForSync, pulledJson, pulledText, SYNC_OPTIONS, withBar } from "../command-parts/sync-parts.ts";
import { followReviews } from "../command-parts/team-reviews.ts";
import { withWorkspace } from "../wiring/open-workspace.ts";

export default defineCommand({
  usage: "pull [--remote name] [--wait [time]] [--limit rate]",
  about: [
    "Looks which lines of other machines moved, and reads what they say: their checkpoints, and names, notes and tags that were",
    "written on yours. No content is fetched and no file is changed; `belay open <remote>/<line>/@` fetches one checkpoint.",
  ].join("\n"),
  options: SYNC_OPTIONS,
  operands: { min: 0, max: 0 },
  exits: { 5: "the remote is damaged, or was rolled back", 8: "the remote cannot be used now" },
  examples: ["belay pull"],
  run: (call) =>
    withWorkspace(call, async (workspace) => {
      const started = performance.now();
      using held = await openForSync(call, workspace);
      const { remote, host } = held;
      const pulled = await withBar(call, ["Pulling", "line"], (progress) => remote.pull(progress));
      const reviews = await followReviews(call.home, workspace);
      const durationMs = Math.round(performance.now() - started);
      if (call.json)
        call.output.json({
          ...pulledJson(pulled, remote.entry.name, reviews),
          requests: host.requests(),
          durationMs,
        });
      else call.output.print(pulledText(pulled, remote.entry.name, reviews));
      return EXIT.done;
    }),
});
