import type { PushReport } from "@belay/remote";
import type { Workspace } from "@belay/engine";
import { ContractError, EXIT, usageError } from "@belay/protocol/errors";
import { count, size } from "@belay/tui/text";
import { confirm, declined } from "../call/confirmation.ts";
import { defineCommand, YES, type Call } from "../call/command.ts";
import { parseDuration } from "../call/duration.ts";
import { createProgressBar } from "../output/progress-bar.ts";
import { visible } from "../output/visible.ts";
import { withWorkspace, warnAll } from "../wiring/open-workspace.ts";

const OPTIONS = {
  remote: { type: "string", value: "name", about: "which remote, where there are several" },
  wait: {
    type: "string",
    value: "time",
    about: "go on trying for so long, for example 2m; 30s unless given",
  },
  limit: { type: "string", value: "rate", about: "bytes per second at most, for example 500k or 2M" },
  yes: { ...YES, about: "send although the first push would send what looks like secrets" },
} as const;

type PushCall = Call<typeof OPTIONS>;

/** As many places are named before the first push. */
const NAMED_PLACES = 20;

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

async function pushTo(call: PushCall, workspace: Workspace): Promise<number> {
  const started = performance.now();
  const { openRemote } = await import("@belay/remote");
  const { createRemoteHost } = await import("../wiring/remote-host.ts");
  const { wait, limit, remote: name } = call.options;
  const host = await createRemoteHost(call, {
    ...(wait !== undefined && { patienceMs: parseDuration(wait) }),
    bytesPerSecond: limit === undefined ? undefined : rateOf(limit),
  });
  using remote = openRemote(workspace, name, host);
  if (remote.entry.segment === 0 && remote.entry.began === null && !(await maySend(call, workspace)))
    return declined(call);
  const report = await pushWithBar(call, (progress) => remote.push(progress));
  const { forkedFrom, ...facts } = report;
  if (forkedFrom !== null)
    warnAll(call, [
      "A copy of this store writes the same line. Nothing of it was overwritten: this store goes on as a line of its own.",
    ]);
  const durationMs = Math.round(performance.now() - started);
  const requests = host.requests();
  if (call.json)
    call.output.json({ ...facts, remote: remote.entry.name, withheld: [], requests, durationMs });
  else call.output.print(pushText(report, remote.entry.name));
  return EXIT.done;
}

async function pushWithBar(
  call: PushCall,
  work: (progress: (done: number, total: number) => void) => Promise<PushReport>,
): Promise<PushReport> {
  using bar = createProgressBar("Pushing", "object", !call.json && !call.output.quiet);
  return await work((done, total) => bar.update({ done, total }));
}

function pushText({ outcome, checkpoints, bytes, borrowed }: PushReport, name: string): string {
  if (outcome === "unchanged") return `${visible(name)} has everything.`;
  const reused = borrowed === 0 ? "" : `, ${count(borrowed, "object")} were there already`;
  return `Pushed ${count(checkpoints, "checkpoint")} to ${visible(name)}: ${size(bytes)}${reused}.`;
}

/** Asks before something that looks like a secret leaves the machine for the first time. */
async function maySend(call: PushCall, workspace: Workspace): Promise<boolean> {
  if (call.options.yes === true) return true;
  const { findSecrets } = await import("../command-parts/found-secrets.ts");
  const { places, more } = await findSecrets(workspace, NAMED_PLACES);
  if (places.length === 0) return true;
  const listed = [...places.map(visible), ...(more ? ["and more"] : [])];
  if (!call.output.canAsk)
    throw new ContractError(
      "SECRETS_FOUND",
      "The first push would send what looks like secrets. Nothing was sent.",
      {
        facts: { places },
        list: listed,
      },
    );
  call.output.print(["These look like secrets:", ...listed.map((place) => `  ${place}`)].join("\n"));
  return confirm(call, "Everything is encrypted before it leaves this machine. Send them too?");
}

function rateOf(text: string): number {
  const [, number, unit = ""] = /^(\d+)([kM]?)$/.exec(text) ?? [];
  if (number === undefined || Number(number) === 0)
    throw usageError(
      `"${text}" is not a rate. Nothing was sent.`,
      "For example: 500k or 2M, in bytes per second.",
    );
  return Number(number) * (unit === "M" ? 1024 * 1024 : unit === "k" ? 1024 : 1);
}
