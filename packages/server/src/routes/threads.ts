/** Threads: messages, turns, tools, edits. */
import type { Hono } from "hono";
import { redact } from "@belay/protocol/redact";
import { serveRoute } from "../http/serve-route.ts";
import {
  agentJson,
  rolledBackJson,
  checkpointJson,
  fileChangeJson,
  messageJson,
  outcomeJson,
  takenJson,
  threadJson,
} from "../json/index.ts";
import { defined, inThread, inWorkspace, type Served } from "./served.ts";
import type { TakenCheckpoint, Workspace } from "@belay/engine";

/** Serves the routes of threads. */
export function serveThreads(app: Hono, served: Served): void {
  serveRoute(app, "GET /api/threads", ({ query }) =>
    inWorkspace(served, query.workspace, async (workspace) => ({
      threads: (await workspace.threads.list()).map((thread) => threadJson(thread, workspace.id)),
    })),
  );
  serveRoute(app, "POST /api/threads", ({ query, body }) =>
    inWorkspace(served, query.workspace, async (workspace) => {
      const { agent = "http", externalId, title } = body;
      const request = { agent, ...(externalId && { externalId }), ...(title && { title }) };
      return { thread: threadJson(await workspace.threads.create(request), workspace.id) };
    }),
  );
  serveRoute(app, "GET /api/threads/:id", ({ params }) =>
    inThread(served, params.id, async (workspace, thread) => ({
      thread: threadJson(await workspace.threads.get(thread), workspace.id),
    })),
  );
  serveRoute(app, "PATCH /api/threads/:id", ({ params, body }) =>
    inThread(served, params.id, async (workspace, thread) => ({
      thread: threadJson(await workspace.threads.update(thread, { title: body.title }), workspace.id),
    })),
  );
  serveRoute(app, "POST /api/threads/:id/close", ({ params }) =>
    inThread(served, params.id, async (workspace, thread) => ({
      thread: threadJson(await workspace.threads.close(thread), workspace.id),
    })),
  );
  serveRoute(app, "DELETE /api/threads/:id", ({ params }) =>
    inThread(served, params.id, async (workspace, thread) => {
      await workspace.threads.delete(thread, { checkpoints: true });
      return { deleted: thread };
    }),
  );
  serveMessages(app, served);
  serveTools(app, served);
}

function serveMessages(app: Hono, served: Served): void {
  serveRoute(app, "GET /api/threads/:id/messages", ({ params, query }) =>
    inThread(served, params.id, async (workspace, thread) => {
      const { messages, cursor } = await workspace.threads.history(thread, defined(query));
      return { messages: messages.map(messageJson), nextCursor: cursor };
    }),
  );
  serveRoute(app, "POST /api/threads/:id/messages", ({ params, body }) =>
    inThread(served, params.id, async (workspace, thread) => {
      const { role = "user", content, externalId } = body;
      if (role !== "user") {
        const request = { role, content, ...(externalId && { externalId }) };
        return {
          message: messageJson(await workspace.threads.addMessage(thread, request)),
          checkpoint: null,
        };
      }
      // secrets are removed before the text is cut: half of one is not recognised
      const summary = redact(content);
      const request = { content, summary, ...(externalId && { messageId: externalId }) };
      const { message, checkpoint, rolledBack } = await workspace.turns.prompt(thread, request);
      return {
        message: messageJson(message),
        checkpoint: checkpoint === null ? null : checkpointJson(checkpoint, { workspace: workspace.id }),
        rolledBack: rolledBack.map(rolledBackJson),
      };
    }),
  );
  serveRoute(app, "POST /api/threads/:id/stop", ({ params }) =>
    inThread(served, params.id, async (workspace, thread, hosted) => {
      const taken = await workspace.turns.end(thread);
      served.host.reconcileLater(hosted);
      return optionalTaken(taken, workspace);
    }),
  );
  serveRoute(app, "GET /api/threads/:id/timeline", ({ params, query }) =>
    inThread(served, params.id, async (workspace, thread) => {
      const limit = query.limit ?? 200;
      const checkpoints = await workspace.list({ thread, limit });
      const entries = [];
      for (const checkpoint of checkpoints) {
        const { files } = await workspace.show(checkpoint.id);
        entries.push({
          checkpoint: checkpointJson(checkpoint, { workspace: workspace.id }),
          files: files.map(fileChangeJson),
        });
      }
      return { entries, agents: (await workspace.turns.agents(thread)).map(agentJson) };
    }),
  );
}

function serveTools(app: Hono, served: Served): void {
  serveRoute(app, "POST /api/threads/:id/tools", ({ params, body }) =>
    inThread(served, params.id, async (workspace, thread) => {
      const { phase, tool, toolUseId, paths, description, agent } = body;
      if (phase === "after")
        return optionalTaken(await workspace.turns.endTool(thread, { toolUseId, tool }), workspace);
      const request = {
        tool,
        toolUseId,
        ...(paths && { paths }),
        ...(description && { summary: description }),
        ...(agent && { agentId: agent }),
      };
      return optionalTaken(await workspace.turns.beginTool(thread, request), workspace);
    }),
  );
  serveRoute(app, "POST /api/threads/:id/edits", ({ params, body }) =>
    inThread(served, params.id, async (workspace, thread) => {
      const { paths, within } = body;
      const { id } = await workspace.turns.startEdit(thread, { paths, ...(within && { within }) });
      return { edit: id };
    }),
  );
  serveRoute(app, "POST /api/threads/:id/edits/:eid/finalize", ({ params }) =>
    inThread(served, params.id, async (workspace) => ({
      edit: params.eid,
      ...optionalTaken(await workspace.turns.finalizeEdit(params.eid), workspace),
    })),
  );
  serveRoute(app, "POST /api/threads/:id/edits/:eid/abort", ({ params }) =>
    inThread(served, params.id, async (workspace) =>
      outcomeJson(await workspace.turns.abortEdit(params.eid)),
    ),
  );
}

function optionalTaken(taken: TakenCheckpoint | null, workspace: Workspace) {
  return taken === null ? { checkpoint: null } : takenJson(taken, workspace.id);
}
