import { createHash } from "node:crypto";
import type { Outcome, Plan, Workspace } from "@belay/engine";
import type { Handoff } from "@belay/remote";
import { ContractError, EXIT, usageError } from "@belay/protocol/errors";
import { outcomeJson, planJson } from "@belay/server/json";
import { count } from "@belay/tui/text";
import { defineCommand, DRY_RUN, YES, type Call } from "../call/command.ts";
import { confirm, declined } from "../call/confirmation.ts";
import { visible } from "../output/visible.ts";
import { withWorkspace, warnAll } from "../wiring/open-workspace.ts";

const OPTIONS = {
  take: { type: "string", value: "remote/thread", about: "go on here with a thread that was handed over" },
  "no-transcript": {
    type: "boolean",
    about: "hand over files and messages, without the agent's own transcript",
  },
  remote: { type: "string", value: "name", about: "which remote, where there are several" },
  "dry-run": { ...DRY_RUN, about: "with --take: only show what would be done" },
  plan: { type: "string", value: "id", about: "with --take: only if --dry-run would still show this plan" },
  yes: { ...YES, about: "with --take: do not ask" },
} as const;

type HandoffCall = Call<typeof OPTIONS>;

export default defineCommand({
  usage:
    "handoff <thread> [--no-transcript] | handoff --take <remote>/<thread> [--dry-run] [--plan id] [--yes]",
  about: [
    "Hands a thread to another machine of the space: takes a checkpoint, and pushes it with the messages and the agent's",
    "own transcript. --take, there, restores the files and goes on with the conversation: for Claude Code it is written",
    "where `claude --resume` finds it. Both sides may go on.",
  ].join("\n"),
  options: OPTIONS,
  examples: ["belay handoff kqzv", "belay handoff --take team/kqzv"],
  operands: { min: 0, max: 1 },
  exits: {
    3: "refused or declined; nothing was changed",
    8: "the remote cannot be used now; nothing was handed over",
  },
  run: (call) =>
    withWorkspace(call, (workspace) => {
      const [thread] = call.operands;
      const { take } = call.options;
      if ((thread === undefined) === (take === undefined))
        throw usageError("Name a thread, or --take one.", "`belay threads` lists the threads.");
      return take === undefined ? offer(call, workspace, thread!) : takeOver(call, workspace, take);
    }),
});

async function offer(call: HandoffCall, workspace: Workspace, ref: string): Promise<number> {
  const { findRemote, offerHandoff } = await import("@belay/remote");
  const { createRemoteHost } = await import("../wiring/remote-host.ts");
  const { readTranscriptOf } = await import("../agents/handed-conversation.ts");
  const { messagesOf } = await import("../command-parts/renewed-offers.ts");
  const thread = await workspace.threads.get(ref);
  // before the checkpoint is taken: without a remote nothing is changed
  findRemote(workspace, call.options.remote);
  const { checkpoint } = await workspace.checkpoint({
    kind: "manual",
    thread: thread.id,
    description: "Handed over",
  });
  const { readSettings } = await import("@belay/engine");
  const isWithout =
    call.options["no-transcript"] === true || readSettings(call.home)["sync.transcripts"] === "never";
  const found = isWithout ? null : readTranscriptOf(call.home, thread, workspace.root);
  const request = {
    name: call.options.remote,
    offer: {
      thread,
      checkpoint: checkpoint.id,
      cwd: found?.cwd ?? workspace.root,
      messages: await messagesOf(workspace, thread.id),
      transcript: found?.text ?? null,
    },
  };
  const { reference, transcript } = await offerHandoff(workspace, request, await createRemoteHost(call));
  if (call.json) call.output.json({ reference, thread: thread.id, checkpoint: checkpoint.id, transcript });
  else
    call.output.print(
      `Handed over, ${transcript ? "with" : "without"} the agent's transcript.\n→ There: belay handoff --take ${visible(reference)}`,
    );
  return EXIT.done;
}

async function takeOver(call: HandoffCall, workspace: Workspace, reference: string): Promise<number> {
  const { findHandoff, openRemote } = await import("@belay/remote");
  const { createRemoteHost } = await import("../wiring/remote-host.ts");
  const { importConversation } = await import("../agents/handed-conversation.ts");
  // without the name of a remote, the only one is meant
  const name = reference.slice(0, Math.max(0, reference.indexOf("/")));
  const thread = reference.slice(reference.lastIndexOf("/") + 1);
  if (thread === "")
    throw usageError(`"${visible(reference)}" names no thread.`, "For example: --take team/kqzvnwxy");
  const host = await createRemoteHost(call);
  const { handoff, entry } = await findHandoff(
    workspace,
    { name: name === "" ? undefined : name, thread },
    host,
  );
  using remote = openRemote(workspace, entry.name, host);
  const { checkpoint } = await remote.fetch(`${handoff.line}/${handoff.checkpoint}`);
  const plan = await workspace.planRestore(checkpoint.id);
  const id = planDigest(checkpoint.id, plan.edits);
  if (call.options["dry-run"] === true) return preview(call, handoff, { ...plan, id });
  if (call.options.plan !== undefined && call.options.plan !== id)
    throw new ContractError(
      "PLAN_STALE",
      "The files changed since that plan was made. Nothing was changed.",
      {
        hint: "`belay handoff --take … --dry-run` shows what would be done now.",
        facts: { plan: call.options.plan },
      },
    );
  warnAll(call, plan.warnings.map(visible));
  const question = `${visible(handoff.by)} hands over ${visible(handoff.title ?? handoff.thread)}: ${count(handoff.messages.length, "message")}, ${count(plan.edits.length, "change")} of files. Restored code can run. Go on with it here?`;
  if (call.options.yes !== true && !(await confirm(call, question))) return declined(call);
  const outcome = await workspace.restore(plan);
  if (outcome.outcome !== "applied" && outcome.outcome !== "unchanged") {
    warnAll(call, ["Not all files could be restored; the conversation was not taken over."]);
    return EXIT.refused;
  }
  const taken = await importConversation(workspace, handoff);
  report(call, { handoff, taken, remote: entry.name, outcome });
  return EXIT.done;
}

/** Names what a plan would do, also in another process: the same only while the target and the files are. */
function planDigest(checkpoint: string, edits: Plan["edits"]): string {
  return createHash("sha256")
    .update(JSON.stringify([checkpoint, edits]))
    .digest("hex")
    .slice(0, 32);
}

function preview(
  call: HandoffCall,
  handoff: Handoff,
  plan: Omit<Plan, "id"> & { readonly id: string },
): number {
  const { by, title, messages, transcript, checkpoint } = handoff;
  const about = { by, title, checkpoint, messages: messages.length, transcript: transcript !== null };
  if (call.json) call.output.json({ handoff: about, plan: planJson(plan as Plan) });
  else
    call.output.print(
      `Would take over ${visible(title ?? handoff.thread)} of ${visible(by)}: ${count(messages.length, "message")}, ${count(plan.edits.length, "change")} of files.`,
    );
  return EXIT.done;
}

interface Taken {
  readonly handoff: Handoff;
  readonly taken: {
    readonly thread: string;
    readonly resume: readonly string[];
    readonly conversation: string;
  };
  readonly remote: string;
  readonly outcome: Outcome;
}

function report(call: HandoffCall, { handoff, taken, remote, outcome }: Taken): void {
  const { thread, resume, conversation } = taken;
  if (call.json)
    call.output.json({
      thread,
      continues: { remote, line: handoff.line, thread: handoff.thread },
      restore: { ...outcomeJson(outcome), restoredTo: handoff.checkpoint },
      resume,
      conversation,
    });
  else
    call.output.print(
      [
        `The files and ${count(handoff.messages.length, "message")} of ${visible(handoff.by)} are here, as thread ${thread}.`,
        conversation === "imported"
          ? `→ To continue the conversation: ${resume.join(" ")}`
          : "The agent's own conversation could not be taken along: start a new one.",
      ].join("\n"),
    );
}
