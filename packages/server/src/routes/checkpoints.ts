/** Checkpoints of a thread: list, take, look at, annotate, drop, compare, go back. */
import type { Checkpoint, FileChange, Workspace } from "@belay/engine";
import type { Json, shapes } from "@belay/protocol";
import type { Hono } from "hono";
import { serveRoute } from "../http/serve-route.ts";
import {
  checkpointJson,
  diffJson,
  fileChangeJson,
  fileContentJson,
  outcomeJson,
  planJson,
  takenJson,
} from "../json/index.ts";
import { carryOutPlan, restoresTo } from "./carry-out-plan.ts";
import { checkpointIn, checkpointOf, defined, inThread, type Served } from "./served.ts";

/** Larger files are named without their content. */
const CONTENT_BYTES = 1024 * 1024;

/** Serves the routes of a thread's checkpoints. */
export function serveCheckpoints(app: Hono, served: Served): void {
  serveRoute(app, "GET /api/threads/:id/checkpoints", ({ params, query }) =>
    inThread(served, params.id, async (workspace, thread) => {
      const checkpoints = await workspace.list({ thread, ...defined(query) });
      return { checkpoints: checkpoints.map((each) => checkpointJson(each, { workspace: workspace.id })) };
    }),
  );
  serveRoute(app, "POST /api/threads/:id/checkpoints", ({ params, body }) =>
    inThread(served, params.id, async (workspace, thread) =>
      takenJson(await workspace.checkpoint({ kind: "manual", thread, ...annotations(body) }), workspace.id),
    ),
  );
  serveRoute(app, "GET /api/threads/:id/checkpoints/:cid", ({ params, query }) =>
    inThread(served, params.id, async (workspace, thread) => {
      const { id } = await checkpointOf(workspace, thread, params.cid);
      const { checkpoint, files, gaps, doubts } = await workspace.show(id);
      return {
        checkpoint: checkpointJson(checkpoint, { workspace: workspace.id, gaps, doubts }),
        files: query.content === true ? await withContent(workspace, id, files) : files.map(fileChangeJson),
      };
    }),
  );
  serveRoute(app, "PUT /api/threads/:id/checkpoints/:cid", ({ params, body }) =>
    inThread(served, params.id, async (workspace, thread) => {
      const { id } = await checkpointOf(workspace, thread, params.cid);
      return { checkpoint: checkpointJson(await annotate(workspace, id, body), { workspace: workspace.id }) };
    }),
  );
  serveRoute(app, "DELETE /api/threads/:id/checkpoints/:cid", ({ params }) =>
    inThread(served, params.id, async (workspace, thread) => {
      const { id } = await checkpointOf(workspace, thread, params.cid);
      await workspace.upkeep.deleteCheckpoint(id);
      return { deleted: id };
    }),
  );
  serveComparing(app, served);
}

function serveComparing(app: Hono, served: Served): void {
  serveRoute(app, "GET /api/threads/:id/checkpoints/:cid/diff", ({ params }) =>
    inThread(served, params.id, async (workspace, thread) => {
      const { id } = await checkpointOf(workspace, thread, params.cid);
      return diffJson(await workspace.diff(id));
    }),
  );
  serveRoute(app, "GET /api/threads/:id/checkpoints/:cid/diff/:other", ({ params }) =>
    inThread(served, params.id, async (workspace, thread) => {
      const from = await checkpointOf(workspace, thread, params.cid);
      const to = await checkpointOf(workspace, thread, params.other);
      return diffJson(await workspace.diff(from.id, to.id));
    }),
  );
  serveRoute(app, "GET /api/threads/:id/checkpoints/:cid/rollback/preview", ({ params, query }) =>
    inThread(served, params.id, async (workspace, thread) => {
      const { id } = await checkpointOf(workspace, thread, params.cid);
      return { plan: planJson(await workspace.planRestore(id, { thread, ...defined(query) })) };
    }),
  );
  serveRoute(app, "POST /api/threads/:id/checkpoints/:cid/rollback", async ({ params, body }) => {
    const hosted = await served.host.findThread(params.id);
    const fits = restoresTo((await checkpointIn(hosted, params.id, params.cid)).id);
    return carryOutPlan({ served, hosted }, body, { fits, report: outcomeJson });
  });
}

/** Names, annotates or tags a checkpoint as a request says. */
export async function annotate(
  workspace: Workspace,
  id: string,
  {
    name,
    annotation: note,
    tags,
  }: { name?: string | undefined; annotation?: string | undefined; tags?: string[] | undefined },
): Promise<Checkpoint> {
  return workspace.annotate(id, {
    ...(name !== undefined && { name }),
    ...(note !== undefined && { note }),
    ...(tags !== undefined && { tags }),
  });
}

/** What a request says about a checkpoint to take. */
export function annotations(body: {
  name?: string | undefined;
  annotation?: string | undefined;
  tags?: string[] | undefined;
}) {
  const { name, annotation, tags } = body;
  return { ...(name && { name }), ...(annotation && { note: annotation }), ...(tags && { tags }) };
}

async function withContent(workspace: Workspace, checkpoint: string, files: readonly FileChange[]) {
  return Promise.all(
    files.map(async (file) => ({
      ...fileChangeJson(file),
      ...(await contentOf(workspace, checkpoint, file.path)),
    })),
  );
}

/** A file's content at a checkpoint, or on disk; null when it was not there, or is larger than what is shown. */
export async function contentOf(
  workspace: Workspace,
  checkpoint: string | null,
  path: FileChange["path"],
): Promise<Json<typeof shapes.fileContent>> {
  return fileContentJson(await workspace.file(checkpoint, path, CONTENT_BYTES));
}
