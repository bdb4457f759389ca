import { EXIT } from "@belay/protocol/errors";
import { defineCommand } from "../call/command.ts";
import { declined } from "../call/confirmation.ts";
import { maySend, warnForked } from "../command-parts/first-push.ts";
import { renewOffers } from "../command-parts/renewed-offers.ts";
import {
  openForSync,
  pulledJson,
  pulledText,
  pushedJson,
  pushedText,
  selectionOf,
  SEND_OPTIONS,
  withBar,
} from "../command-parts/sync-parts.ts";
import { followReviews } from "../command-parts/team-reviews.ts";
import { withWorkspace } from "../wiring/open-workspace.ts";

export default defineCommand({
  usage: "sync [--thread t | <checkpoint>] [--remote name] [--wait [time]] [--limit rate] [--yes]",
  about: [
    "`belay push`, then `belay pull`: sends what a remote does not have yet, and looks at the lines of other machines.",
    "The resident process does it by itself after turns and checkpoints (`sync.automatic`).",
  ].join("\n"),
  options: SEND_OPTIONS,
  operands: { min: 0, max: 1 },
  exits: {
    3: "the first push would send what looks like secrets, and that was not confirmed",
    5: "the remote is damaged, or was rolled back",
    8: "the remote cannot be used now; what was to be sent stays queued",
  },
  examples: ["belay sync", "belay sync --remote team --wait 2m"],
  run: (call) =>
    withWorkspace(call, async (workspace) => {
      using held = await openForSync(call, workspace);
      const { remote, host } = held;
      const chosen = await selectionOf(call, workspace);
      if (!(await maySend(call, workspace, remote))) return declined(call);
      const started = performance.now();
      const pushed = await withBar(call, ["Pushing", "object"], (progress) =>
        remote.push({ progress, chosen }),
      );
      warnForked(call, pushed);
      if (pushed.outcome === "pushed")
        await renewOffers(call.home, workspace, { name: remote.entry.name, host });
      const [sent, between] = [host.requests(), performance.now()];
      const pulled = await withBar(call, ["Pulling", "line"], (progress) => remote.pull(progress));
      const reviews = await followReviews(call.home, workspace);
      const { name } = remote.entry;
      if (call.json)
        call.output.json({
          push: {
            ...pushedJson(pushed, name),
            requests: sent,
            durationMs: Math.round(between - started),
          },
          pull: {
            ...pulledJson(pulled, name, reviews),
            requests: host.requests() - sent,
            durationMs: Math.round(performance.now() - between),
          },
        });
      else call.output.print([pushedText(pushed, name), pulledText(pulled, name, reviews)].join("\n"));
      return EXIT.done;
    }),
});
