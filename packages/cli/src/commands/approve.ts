import type { Approval, SessionStatus, ThreadSummary, Workspace } from "@belay/engine";
import {
  ASKING_EXITS,
  ALL_ENTRIES,
  defineCommand,
  DRY_RUN,
  THREAD,
  YES,
  type Call,
} from "../call/command.ts";
import { EXIT } from "@belay/protocol/errors";
import { approvalJson, fileChangeJson, listField } from "@belay/server/json";
import { withWorkspace } from "../wiring/open-workspace.ts";
import { changedFileList } from "../output/file-list.ts";
import { count } from "@belay/tui/text";
import { visible } from "../output/visible.ts";
import { threadLabel } from "../output/thread-table.ts";
import { activeThread } from "../call/thread-option.ts";

export default defineCommand({
  usage: "approve [-m text] [--thread t] [--dry-run] [--yes]",
  about: `Approves the present state of a thread (the last active one, or --thread) and opens its next session.
Changes no file; what is approved can still be undone. --thread team/ana@mac/kqzv is a thread of another machine:
that is a review, which its owner sees, and approves there.`,
  options: {
    message: { type: "string", short: "m", value: "text", about: "what was approved" },
    thread: THREAD,
    "dry-run": DRY_RUN,
    yes: YES,
    all: ALL_ENTRIES,
  },
  operands: { min: 0, max: 0 },
  exits: { ...ASKING_EXITS, 8: "the remote cannot be used now; a review stays queued" },
  examples: [`belay approve -m "Feature complete"`, "belay approve --dry-run"],
  run: (call) =>
    withWorkspace(call, async (workspace) => {
      const elsewhere = remoteThread(workspace, call.options.thread);
      if (elsewhere !== undefined) return review(call, workspace, elsewhere);
      const thread = await activeThread(workspace, call.options.thread);
      const status = await workspace.approvals.session(thread.id, { detail: "counts" });
      if (call.options["dry-run"] === true) return preview(call, thread, status);
      const { message } = call.options;
      const approval = await workspace.approvals.approve(thread.id, message === undefined ? {} : { message });
      if (call.json) call.output.json(approvalJson(approval));
      else if (!call.output.quiet) call.output.print(approvalText(call, { thread, status, approval }));
      return EXIT.done;
    }),
});

interface ThreadElsewhere {
  readonly remote: string;
  readonly reference: string;
}

/** A thread of another line is named with the remote. */
function remoteThread({ exchange }: Workspace, given: string | undefined): ThreadElsewhere | undefined {
  const [remote = "", ...rest] = given?.split("/") ?? [];
  const isRemote = rest.length > 0 && exchange.remotes().some(({ name }) => name === remote);
  return isRemote ? { remote, reference: rest.join("/") } : undefined;
}

async function review(
  call: Pick<Call, "environment" | "home" | "json" | "output"> & {
    readonly options: { readonly message?: string; readonly "dry-run"?: boolean };
  },
  workspace: Workspace,
  { remote, reference }: ThreadElsewhere,
): Promise<number> {
  const { reviewThread, openRemote } = await import("@belay/remote");
  const { createRemoteHost } = await import("../wiring/remote-host.ts");
  const host = await createRemoteHost(call);
  const isDry = call.options["dry-run"] === true;
  using opened = openRemote(workspace, remote, host);
  const { message = null } = call.options;
  const found = isDry
    ? await opened.thread(reference)
    : await reviewThread(workspace, { remote, reference, message }, host);
  const { line, writer, thread, title, checkpoint } = found;
  if (call.json)
    call.output.json({ review: { remote, line, writer, thread, checkpoint, message }, sent: !isDry });
  else
    call.output.print(
      `${isDry ? "Would tell" : "Told"} ${visible(writer)} that you approve of ${visible(title ?? thread)} as it is at ${checkpoint.slice(0, 8)}.`,
    );
  return EXIT.done;
}

type ApproveCall = Pick<Call, "json" | "output"> & { readonly options: { readonly all?: boolean } };

function preview(call: ApproveCall, thread: ThreadSummary, status: SessionStatus): number {
  const { changedFiles, session, hasUnapproved } = status;
  const { all } = call.options;
  if (call.json)
    call.output.json({
      thread: thread.id,
      session,
      hasUnapproved,
      ...listField("changedFiles", changedFiles.map(fileChangeJson)),
    });
  else if (!hasUnapproved)
    call.output.print(`Everything in ${session} of ${threadLabel(thread)} is approved already.`);
  else
    call.output.print(
      `${changedFileList(changedFiles, call.output, all)}\nWould approve ${count(changedFiles.length, "file")} in ${session} of ${threadLabel(thread)}.`,
    );
  return EXIT.done;
}

function approvalText(
  { output }: ApproveCall,
  facts: { thread: ThreadSummary; status: SessionStatus; approval: Approval },
): string {
  const { thread, status, approval } = facts;
  const { session, newSession, checkpointsApproved } = approval;
  const what = `${count(status.changedFiles.length, "file")}, ${count(checkpointsApproved, "checkpoint")}`;
  return [
    `${output.style.green("✓")} Approved ${session} of ${threadLabel(thread)} (${what}); ${newSession} is open.`,
    `${output.style.dim("→")} \`belay reset\` returns to this state; \`belay undo\` still works.`,
  ].join("\n");
}
