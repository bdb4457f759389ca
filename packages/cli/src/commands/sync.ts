import { EXIT } from "@belay/protocol/errors";
import { defineCommand, YES } from "../call/command.ts";
import { declined } from "../call/confirmation.ts";
import { maySend, warnForked } from "../command-parts/first-push.ts";
import {
  openForSync,
  pulledJson,
  pulledText,
  pushedJson,
  pushedText,
  SYNC_OPTIONS,
  withBar,
} from "../command-parts/sync-parts.ts";
import { withWorkspace } from "../wiring/open-workspace.ts";

export default defineCommand({
  usage: "sync [--remote name] [--wait time] [--limit rate] [--yes]",
  about: [
    "`belay push`, then `belay pull`: sends what a remote does not have yet, and looks at the lines of other machines.",
    "The resident process does it by itself after turns and checkpoints (`sync.automatic`).",
  ].join("\n"),
  options: {
    ...SYNC_OPTIONS,
    yes: { ...YES, about: "send although the first push would send what looks like secrets" },
  },
  operands: { min: 0, max: 0 },
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
      if (!(await maySend(call, workspace, remote))) return declined(call);
      const started = performance.now();
      const pushed = await withBar(call, ["Pushing", "object"], (progress) => remote.push(progress));
      warnForked(call, pushed);
      const [sent, between] = [host.requests(), performance.now()];
      const pulled = await withBar(call, ["Pulling", "line"], (progress) => remote.pull(progress));
      const { name } = remote.entry;
      if (call.json)
        call.output.json({
          push: {
            ...pushedJson(pushed, name),
            requests: sent,
            durationMs: Math.round(between - started),
          },
          pull: {
            ...pulledJson(pulled, name),
            requests: host.requests() - sent,
            durationMs: Math.round(performance.now() - between),
          },
        });
      else call.output.print([pushedText(pushed, name), pulledText(pulled, name)].join("\n"));
      return EXIT.done;
    }),
});
