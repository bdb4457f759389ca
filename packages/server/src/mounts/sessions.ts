/**
 * The supervisor's API (`/api/sessions`): a session there is a thread here. Checkpoints carry the files that
 * going back would change, with their content at the checkpoint. There are no plan ids.
 */
import type { Checkpoint, Edit, Plan, ThreadId, Workspace } from "@belay/engine";
import type { Context, Hono } from "hono";
import { z } from "zod";
import { answerJson } from "../http/answer.ts";
import { parse, readJson } from "../http/serve-route.ts";
import { affectedFiles, diffJson, isoTime, outcomeJson, planOperationType, pathJson } from "../json/index.ts";
import { annotate, annotations, contentOf } from "../routes/checkpoints.ts";
import { assertApplied, checkpointOf, inThread, inWorkspace, type Served } from "../routes/served.ts";

const AGENT = "supervisor";
const ANNOTATED = z.object({
  name: z.string().max(200).optional(),
  annotation: z.string().max(10_000).optional(),
});
const ROLLBACK = z.object({
  paths: z.array(z.string().min(1).max(4096)).min(1).max(10_000).optional(),
  bestEffort: z.boolean().optional(),
});
const BASE = "/api/sessions/:id/checkpoints";

/** Serves the supervisor's API at `/api/sessions`. */
export function mountSessions(app: Hono, served: Served): void {
  app.post("/api/sessions", async (context) => {
    const { title, externalId } = parse("body", SESSION, await readJson(context));
    return answerJson(
      await inWorkspace(served, context.req.query("workspace"), async (workspace) => {
        const request = { agent: AGENT, ...(title && { title }), ...(externalId && { externalId }) };
        const { id, initialCheckpoint } = await workspace.threads.create(request);
        return { id, initialCheckpoint };
      }),
      201,
    );
  });
  serveList(app, served);
  serveOne(app, served);
  serveRollback(app, served);
}

const SESSION = z.object({
  title: z.string().max(500).optional(),
  externalId: z.string().max(500).optional(),
});

function serveList(app: Hono, served: Served): void {
  app.get(BASE, (context) =>
    answer(context, served, async (workspace, thread) => {
      const checkpoints = await workspace.list({ thread });
      return { checkpoints: checkpoints.map((each) => supervisorCheckpoint(each, thread)) };
    }),
  );
  app.post(BASE, async (context) => {
    const body = parse("body", ANNOTATED, await readJson(context));
    return answer(
      context,
      served,
      async (workspace, thread) => {
        const { checkpoint } = await workspace.checkpoint({ kind: "manual", thread, ...annotations(body) });
        return { checkpoint: supervisorCheckpoint(checkpoint, thread) };
      },
      201,
    );
  });
}

function serveOne(app: Hono, served: Served): void {
  app.get(`${BASE}/:cid`, (context) =>
    answer(context, served, async (workspace, thread) => {
      const checkpoint = await checkpointOf(workspace, thread, context.req.param("cid"));
      const files = await filesOf(workspace, checkpoint);
      return { checkpoint: { ...supervisorCheckpoint(checkpoint, thread), files } };
    }),
  );
  app.put(`${BASE}/:cid`, async (context) => {
    const body = parse("body", ANNOTATED, await readJson(context));
    return answer(context, served, async (workspace, thread) => {
      const { id } = await checkpointOf(workspace, thread, context.req.param("cid"));
      return { checkpoint: supervisorCheckpoint(await annotate(workspace, id, body), thread) };
    });
  });
  app.delete(`${BASE}/:cid`, (context) =>
    answer(context, served, async (workspace, thread) => {
      const { id } = await checkpointOf(workspace, thread, context.req.param("cid"));
      await workspace.upkeep.deleteCheckpoint(id);
      return { deleted: id };
    }),
  );
  app.get(`${BASE}/:cid/diff`, (context) =>
    answer(context, served, async (workspace, thread) => {
      const { id } = await checkpointOf(workspace, thread, context.req.param("cid"));
      return diffJson(await workspace.diff(id));
    }),
  );
  app.get(`${BASE}/:cid/diff/:other`, (context) =>
    answer(context, served, async (workspace, thread) => {
      const from = await checkpointOf(workspace, thread, context.req.param("cid"));
      const to = await checkpointOf(workspace, thread, context.req.param("other"));
      return diffJson(await workspace.diff(from.id, to.id));
    }),
  );
}

function serveRollback(app: Hono, served: Served): void {
  app.get(`${BASE}/:cid/rollback/preview`, (context) =>
    answer(context, served, async (workspace, thread) => {
      const { id } = await checkpointOf(workspace, thread, context.req.param("cid"));
      const paths = context.req.queries("paths");
      return supervisorPlan(workspace, await workspace.planRestore(id, { thread, ...(paths && { paths }) }));
    }),
  );
  app.post(`${BASE}/:cid/rollback`, async (context) => {
    const { paths, bestEffort = false } = parse("body", ROLLBACK, await readJson(context));
    return answer(context, served, async (workspace, thread) => {
      const { id } = await checkpointOf(workspace, thread, context.req.param("cid"));
      // the conversation continues from the point to which its files went back
      const options = paths === undefined ? ({ scope: "both" } as const) : { paths };
      const outcome = await workspace.restoreTo(id, { thread, bestEffort, ...options });
      const report = outcomeJson(outcome);
      assertApplied(outcome, report);
      return report;
    });
  });
}

async function answer(
  context: Context,
  served: Served,
  work: (workspace: Workspace, thread: ThreadId) => Promise<object>,
  status: 200 | 201 = 200,
): Promise<Response> {
  return answerJson(await inThread(served, context.req.param("id") ?? "", work), status);
}

function supervisorCheckpoint(checkpoint: Checkpoint, sessionId: string) {
  const { id, kind, name, note, messageIndex, toolUseId, git, createdAt, bytes, description, rolledBack } =
    checkpoint;
  return {
    id,
    sessionId,
    type: kind === "manual" ? "manual" : "auto",
    ...(name === null ? {} : { name }),
    ...(note === null ? {} : { annotation: note }),
    description,
    messageIndex,
    ...(toolUseId === null ? {} : { toolUseId }),
    ...(git === null
      ? {}
      : {
          git: {
            branch: git.branch,
            commitHash: git.commit,
            hasUncommittedChanges: git.dirty,
            stagedFiles: git.staged,
          },
        }),
    createdAt: isoTime(createdAt),
    sizeBytes: bytes,
    rolledBack,
  };
}

/** Files that differ from the present state, with their content at the checkpoint; null = did not exist. */
async function filesOf(workspace: Workspace, { id }: Checkpoint) {
  const { files } = await workspace.diff({ from: id, detail: "names" });
  return Promise.all(
    files.map(async ({ path }) => ({ ...pathJson(path), ...(await contentOf(workspace, id, path)) })),
  );
}

async function supervisorPlan(workspace: Workspace, plan: Plan) {
  const checkpoint = plan.checkpoint!;
  const operations = await Promise.all(plan.edits.map((edit) => operationJson(workspace, checkpoint, edit)));
  return {
    checkpointId: checkpoint,
    operations,
    affectedFiles: affectedFiles(plan).map((path) => pathJson(path).path),
    warnings: plan.warnings,
    kept: plan.kept.map(({ path, reason }) => ({ ...pathJson(path), reason })),
    conflicts: plan.conflicts.map(({ path, reason }) => ({ ...pathJson(path), reason })),
  };
}

async function operationJson(workspace: Workspace, checkpoint: string, edit: Edit) {
  const type = planOperationType(edit);
  const wanted = edit.to?.kind === "file" ? await contentOf(workspace, checkpoint, edit.path) : undefined;
  const present = edit.from?.kind === "file" ? await contentOf(workspace, null, edit.path) : undefined;
  return {
    type: type === "create" || type === "delete" ? type : "restore",
    ...pathJson(edit.path),
    ...(wanted === undefined ? {} : { content: wanted.content, encoding: wanted.encoding }),
    ...(present === undefined ? {} : { fromContent: present.content }),
  };
}
