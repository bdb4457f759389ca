import type { Workspace } from "@belay/engine";
import { EXIT } from "@belay/protocol/errors";
import { declined } from "../call/confirmation.ts";
import { defineCommand, YES, type Call } from "../call/command.ts";
import { maySend, warnForked } from "../command-parts/first-push.ts";
import { openForSync, pushedJson, pushedText, SYNC_OPTIONS, withBar } from "../command-parts/sync-parts.ts";
import { withWorkspace } from "../wiring/open-workspace.ts";

const OPTIONS = {
  ...SYNC_OPTIONS,
  yes: { ...YES, about: "send although the first push would send what looks like secrets" },
} as const;

export default defineCommand({
  usage: "push [--remote name] [--wait time] [--limit rate] [--yes]",
  about: [
    "Sends the checkpoints, and everything that belongs to them, that a remote does not have yet. It is encrypted on",
    "this machine. What was sent counts as sent only when the server is known to have it; a push that was interrupted",
    "goes on where it was. The first one names files and prompts that look like secrets, and asks.",
  ].join("\n"),
  options: OPTIONS,
  operands: { min: 0, max: 0 },
  exits: {
    3: "the first push would send what looks like secrets, and that was not confirmed",
    8: "the remote cannot be used now; what was to be sent stays queued",
  },
  examples: ["belay push", "belay push --remote team --wait 2m --limit 500k"],
  run: (call) => withWorkspace(call, (workspace) => pushTo(call, workspace)),
});

async function pushTo(call: Call<typeof OPTIONS>, workspace: Workspace): Promise<number> {
  const started = performance.now();
  using held = await openForSync(call, workspace);
  const { remote, host } = held;
  if (!(await maySend(call, workspace, remote))) return declined(call);
  const report = await withBar(call, ["Pushing", "object"], (progress) => remote.push(progress));
  warnForked(call, report);
  const { name } = remote.entry;
  const durationMs = Math.round(performance.now() - started);
  if (call.json) call.output.json({ ...pushedJson(report, name), requests: host.requests(), durationMs });
  else call.output.print(pushedText(report, name));
  return EXIT.done;
}
