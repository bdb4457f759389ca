import type { Workspace } from "@belay/engine";
import { EXIT } from "@belay/protocol/errors";
import { declined } from "../call/confirmation.ts";
import { defineCommand, type Call } from "../call/command.ts";
import { maySend, warnForked } from "../command-parts/first-push.ts";
import { renewOffers } from "../command-parts/renewed-offers.ts";
import {
  openForSync,
  pushedJson,
  pushedText,
  selectionOf,
  SEND_OPTIONS,
  withBar,
} from "../command-parts/sync-parts.ts";
import { withWorkspace } from "../wiring/open-workspace.ts";

export default defineCommand({
  usage: "push [--thread t | <checkpoint>] [--remote name] [--wait [time]] [--limit rate] [--yes]",
  about: [
    "Sends the checkpoints, and everything that belongs to them, that a remote does not have yet. It is encrypted on",
    "this machine. What was sent counts as sent only when the server is known to have it; a push that was interrupted",
    "goes on where it was. The first one names files and prompts that look like secrets, and asks. With --thread, or a",
    "checkpoint, only that goes, with the states that its sessions began with; everything else goes on waiting.",
  ].join("\n"),
  options: SEND_OPTIONS,
  operands: { min: 0, max: 1 },
  exits: {
    3: "the first push would send what looks like secrets, and that was not confirmed",
    8: "the remote cannot be used now; what was to be sent stays queued",
  },
  examples: ["belay push", "belay push @", "belay push --remote team --wait 2m --limit 500k"],
  run: (call) => withWorkspace(call, (workspace) => pushTo(call, workspace)),
});

async function pushTo(call: Call<typeof SEND_OPTIONS>, workspace: Workspace): Promise<number> {
  const started = performance.now();
  using held = await openForSync(call, workspace);
  const { remote, host } = held;
  const chosen = await selectionOf(call, workspace);
  if (!(await maySend(call, workspace, remote))) return declined(call);
  const report = await withBar(call, ["Pushing", "object"], (progress) => remote.push({ progress, chosen }));
  warnForked(call, report);
  if (report.outcome === "pushed") await renewOffers(call.home, workspace, { name: remote.entry.name, host });
  const { name } = remote.entry;
  const durationMs = Math.round(performance.now() - started);
  if (call.json) call.output.json({ ...pushedJson(report, name), requests: host.requests(), durationMs });
  else call.output.print(pushedText(report, name));
  return EXIT.done;
}
