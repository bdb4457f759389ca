/**
 * The dialogs API (`/api/dialogs`): the same threads in snake_case, with commits for checkpoints. It has no
 * previews, so its actions plan and act at once.
 */
import { fromNames } from "@belay/engine";
import type { Checkpoint, Message, PendingFile, ThreadId, ThreadSummary, Workspace } from "@belay/engine";
import type { Context, Hono } from "hono";
import { z } from "zod";
import { redact } from "@belay/protocol/redact";
import { answerJson } from "../http/answer.ts";
import { parse, readJson } from "../http/serve-route.ts";
import { streamEvents } from "../http/sse.ts";
import { isoTime, optionalTime, outcomeJson, pathJson, pendingFileJson, sessionRef } from "../json/index.ts";
import {
  assertApplied,
  checkpointOf,
  inThread,
  inWorkspace,
  threadOf,
  type Served,
} from "../routes/served.ts";

const AGENT = "dialogs";
const text = (longest: number) => z.string().max(longest);
const TITLE = z.object({ title: text(500).nullish() });
const DIALOG = TITLE.extend({ id: text(500).min(1).nullish() });
const MESSAGE = z.object({
  content: text(500_000),
  role: z.enum(["user", "assistant"]).default("user"),
  checkpoint: text(500).min(1).nullish(),
});
const APPROVE = z.object({ message: text(10_000).nullish() });
const RESTORE = z.object({ checkpoint_id: text(500).min(1) });
const CURSOR = z.object({
  cursor: z.coerce.number().int().min(0).optional(),
  limit: z.coerce.number().int().min(1).max(1000).optional(),
});

/** Serves the AgentSmithy API at `/api/dialogs`. */
export function mountDialogs(app: Hono, served: Served): void {
  serveIndex(app, served);
  serveHistory(app, served);
  serveSessions(app, served);
  serveActions(app, served);
}

function serveIndex(app: Hono, served: Served): void {
  app.get("/api/dialogs", async (context) =>
    answerJson(
      await inWorkspace(served, context.req.query("workspace"), async (workspace) => {
        const dialogs = (await workspace.threads.list()).map(dialogJson);
        return { dialogs, current_dialog_id: dialogs[0]?.id ?? null };
      }),
    ),
  );
  app.post("/api/dialogs", async (context) => {
    const { title, id: externalId } = parse("body", DIALOG, await readJson(context));
    return answerJson(
      await inWorkspace(served, context.req.query("workspace"), async (workspace) => {
        const request = { agent: AGENT, ...(title && { title }), ...(externalId && { externalId }) };
        return dialogJson(await workspace.threads.create(request));
      }),
      201,
    );
  });
  app.get("/api/dialogs/:id", (context) =>
    answer(context, served, async (workspace, thread) => dialogJson(await workspace.threads.get(thread))),
  );
  app.patch("/api/dialogs/:id", async (context) => {
    const { title = null } = parse("body", TITLE, await readJson(context));
    return answer(context, served, async (workspace, thread) =>
      dialogJson(await workspace.threads.update(thread, { title })),
    );
  });
  app.delete("/api/dialogs/:id", (context) =>
    answer(context, served, async (workspace, thread) => {
      await workspace.threads.delete(thread, { checkpoints: true });
      return { deleted: thread };
    }),
  );
}

function serveHistory(app: Hono, served: Served): void {
  for (const path of ["/api/dialogs/:id/messages", "/api/dialogs/:id/history"]) {
    app.get(path, (context) => {
      const { cursor: before, limit } = parse("query", CURSOR, context.req.query());
      return answer(context, served, async (workspace, thread) => {
        const options = { ...(before !== undefined && { before }), ...(limit !== undefined && { limit }) };
        const { messages, cursor } = await workspace.threads.history(thread, options);
        return { dialog_id: thread, messages: messages.map(dialogMessage), next_cursor: cursor };
      });
    });
  }
  app.post("/api/dialogs/:id/messages", async (context) => {
    const { role, content, checkpoint: ref } = parse("body", MESSAGE, await readJson(context));
    return answer(context, served, async (workspace, thread) => {
      const taken = ref ? { checkpoint: (await checkpointOf(workspace, thread, ref)).id } : {};
      const message =
        role === "user"
          ? (await workspace.turns.prompt(thread, { content, summary: redact(content), ...taken })).message
          : await workspace.threads.addMessage(thread, { role, content });
      return dialogMessage(message);
    });
  });
  app.get("/api/dialogs/:id/events", async (context) => {
    const { workspace } = await served.host.findThread(context.req.param("id"));
    const thread = await threadOf(workspace, context.req.param("id"));
    return streamEvents(served, [workspace], context.req.raw, thread);
  });
}

function serveSessions(app: Hono, served: Served): void {
  app.get("/api/dialogs/:id/session", (context) =>
    answer(context, served, async (workspace, thread) => {
      const status = await workspace.approvals.session(thread, { detail: "text", content: true });
      return {
        active_session: status.active,
        session_ref: sessionRef(status.active),
        has_unapproved: status.hasUnapproved,
        last_approved_at: optionalTime(status.lastApprovedAt),
        changed_files: status.changedFiles.map(changedFile),
      };
    }),
  );
  app.get("/api/dialogs/:id/sessions", (context) =>
    answer(context, served, async (workspace, thread) => {
      const sessions = await workspace.approvals.sessions(thread);
      const { approved } = await workspace.approvals.session(thread, { detail: "names" });
      const heads = await workspace.list({ thread, limit: 1 });
      const active = sessions.find(({ status }) => status === "active");
      return {
        sessions: sessions.map((session) => ({
          session_name: session.name,
          ref_name: sessionRef(session.name),
          status: session.status,
          created_at: isoTime(session.createdAt),
          closed_at: optionalTime(session.closedAt),
          approved_commit: session.approved,
          checkpoints_count: session.checkpoints,
          head_commit: session.head,
          branch_exists: true,
        })),
        branches: [
          {
            branch_type: "main",
            ref_name: "refs/heads/main",
            head_commit: approved,
            valid: approved !== null,
          },
          {
            branch_type: "session",
            ref_name: sessionRef(active?.name ?? null),
            head_commit: heads[0]?.id ?? null,
            valid: heads.length > 0,
          },
        ],
      };
    }),
  );
  app.get("/api/dialogs/:id/checkpoints", (context) =>
    answer(context, served, async (workspace, thread) => {
      const checkpoints = await workspace.list({ thread });
      const { initialCheckpoint } = await workspace.threads.get(thread);
      return {
        dialog_id: thread,
        checkpoints: checkpoints.reverse().map(commit),
        initial_checkpoint: initialCheckpoint,
      };
    }),
  );
  app.get("/api/dialogs/:id/file_edits", (context) =>
    answer(context, served, async (workspace, thread) => ({
      dialog_id: thread,
      file_edits: await fileEdits(workspace, thread),
    })),
  );
}

function serveActions(app: Hono, served: Served): void {
  app.post("/api/dialogs/:id/approve", async (context) => {
    const { message } = parse("body", APPROVE, await readJson(context));
    return answer(context, served, async (workspace, thread) => {
      const approval = await workspace.approvals.approve(thread, message ? { message } : {});
      return {
        approved_commit: approval.approved,
        new_session: approval.newSession,
        commits_approved: approval.checkpointsApproved,
      };
    });
  });
  app.post("/api/dialogs/:id/reset", async (context) => {
    await readJson(context);
    return answer(context, served, async (workspace, thread) => {
      const outcome = await workspace.approvals.reset(thread);
      assertApplied(outcome, outcomeJson(outcome));
      return {
        reset_to: outcome.resetTo,
        new_session: outcome.newSession,
        pre_reset_checkpoint: outcome.safetyCheckpoint,
      };
    });
  });
  app.post("/api/dialogs/:id/restore", async (context) => {
    const { checkpoint_id: ref } = parse("body", RESTORE, await readJson(context));
    return answer(context, served, async (workspace, thread) => {
      const { id } = await checkpointOf(workspace, thread, ref);
      const description = `Restored to checkpoint ${id.slice(0, 8)}`;
      // unwritable files are skipped and named, as the reference document says
      const outcome = await workspace.restoreTo(id, { thread, description, bestEffort: true });
      const { newCheckpoint, safetyCheckpoint } = outcome;
      const skipped = [...outcome.skipped, ...outcome.conflicts];
      const left = new Set(skipped.map(({ path }) => path));
      const written = outcome.plan.edits.filter(
        ({ path, to }) => to !== undefined && to.kind !== "directory" && !left.has(path),
      );
      return {
        restored_to: id,
        new_checkpoint: newCheckpoint,
        safety_checkpoint: safetyCheckpoint,
        skipped: skipped.map(({ path, reason }) => ({ ...pathJson(path), reason })),
        written: written.map(({ path }) => pathJson(path).path),
      };
    });
  });
}

/** Does work in the dialog that a request names. */
export async function answer(
  context: Context,
  served: Served,
  work: (workspace: Workspace, thread: ThreadId) => Promise<object>,
): Promise<Response> {
  const [id, ref] = [context.req.param("id") ?? "", context.req.query("workspace")];
  // a name that several programs give to their dialogs, such as "default", needs the workspace beside it
  return answerJson(
    ref === undefined
      ? await inThread(served, id, work)
      : await inWorkspace(served, ref, async (workspace) => work(workspace, await threadOf(workspace, id))),
  );
}

function dialogJson(thread: ThreadSummary) {
  return {
    id: thread.agent === AGENT ? thread.externalId : thread.id,
    title: thread.title,
    created_at: isoTime(thread.createdAt),
    updated_at: isoTime(thread.updatedAt),
    active_session: thread.session,
    last_approved_at: optionalTime(thread.lastApprovedAt),
    initial_checkpoint: thread.initialCheckpoint,
  };
}

function dialogMessage(message: Message) {
  const { id, index, role, content, checkpoint, session, rolledBack } = message;
  return {
    id,
    index,
    type: role,
    content,
    checkpoint,
    session,
    rolled_back: rolledBack,
    created_at: isoTime(message.createdAt),
  };
}

function commit({ id, description, createdAt, session, gaps }: Checkpoint) {
  return {
    commit_id: id,
    message: description,
    created_at: isoTime(createdAt),
    session,
    not_captured: gaps.map(({ path, reason }) => ({ ...pathJson(path), reason })),
  };
}

/** A file that differs, in AgentSmithy's words: its diff begins with the names. */
export function changedFile(file: PendingFile) {
  const { baseContent, isBinary, isTooLarge, diff, ...facts } = pendingFileJson(file);
  return {
    ...facts,
    diff: fromNames(diff),
    base_content: baseContent,
    is_binary: isBinary,
    is_too_large: isTooLarge,
  };
}

/** [R2450] What the answers of the dialog changed, derived from the snapshots; changes by hand in between are not included. */
async function fileEdits(workspace: Workspace, thread: ThreadId) {
  const edits = await workspace.threads.fileEdits(thread, { limit: Number.MAX_SAFE_INTEGER });
  return edits.map(({ path, diff, checkpoint, createdAt, messageIndex }) => ({
    file: pathJson(path).path,
    diff: fromNames(diff),
    checkpoint,
    created_at: isoTime(createdAt),
    message_index: messageIndex,
  }));
}
