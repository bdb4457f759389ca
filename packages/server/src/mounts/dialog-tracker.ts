/** The part of the dialogs API that AgentSmithy's tracker is made of: checkpoints, staged paths, edits, comparisons. */
import {
  displayPath,
  EngineError,
  type CheckpointId,
  type FileChange,
  type ThreadId,
  type Workspace,
} from "@belay/engine";
import type { Hono } from "hono";
import { z } from "zod";
import { parse, readJson } from "../http/serve-route.ts";
import { outcomeJson, pathJson } from "../json/index.ts";
import { assertApplied, checkpointOf, type Served } from "../routes/served.ts";
import { answer, changedFile } from "./dialogs.ts";

const CHECKPOINT = z.object({ message: z.string().max(10_000) });
const PATHS = z.object({ paths: z.array(z.string().min(1).max(4096)).min(1).max(10_000) });
const COMPARED = z.object({
  from: z.string().min(1).max(500),
  to: z.string().min(1).max(500),
  diff: z.enum(["0", "1"]).default("1"),
});
const BASE_LIMIT = 10 * 1024 * 1024;

/** Serves what a tracker in another language needs. */
export function mountDialogTracker(app: Hono, served: Served): void {
  app.post("/api/dialogs/:id/checkpoints", async (context) => {
    const { message: description } = parse("body", CHECKPOINT, await readJson(context));
    return answer(context, served, async (workspace, thread) => {
      const taken = await workspace.checkpoint({ kind: "message", phase: "before", thread, description });
      const gaps = taken.gaps.map(({ path, reason }) => ({ ...pathJson(path), reason }));
      return { commit_id: taken.id, message: description, not_captured: gaps };
    });
  });
  app.post("/api/dialogs/:id/stage", async (context) => {
    const { paths } = parse("body", PATHS, await readJson(context));
    return answer(context, served, async (workspace, thread) => {
      const { id } = await workspace.turns.startEdit(thread, { paths, tool: "stage" });
      await workspace.turns.finalizeEdit(id);
      return { staged: paths };
    });
  });
  app.get("/api/dialogs/:id/diff", (context) => {
    const { from, to, diff } = parse("query", COMPARED, context.req.query());
    return answer(context, served, async (workspace, thread) => {
      const states = [await stateOf(workspace, thread, from), await stateOf(workspace, thread, to)] as const;
      return { changed_files: await compare(workspace, states, diff === "1") };
    });
  });
  serveEdits(app, served);
}

function serveEdits(app: Hono, served: Served): void {
  app.post("/api/dialogs/:id/edits", async (context) => {
    const { paths } = parse("body", PATHS, await readJson(context));
    return answer(context, served, async (workspace, thread) => ({
      edit: (await workspace.turns.startEdit(thread, { paths })).id,
    }));
  });
  app.post("/api/dialogs/:id/edits/:edit/finalize", async (context) => {
    await readJson(context);
    return answer(context, served, async (workspace) => {
      await workspace.turns.finalizeEdit(context.req.param("edit"));
      return { edit: context.req.param("edit") };
    });
  });
  app.post("/api/dialogs/:id/edits/:edit/abort", async (context) => {
    await readJson(context);
    return answer(context, served, async (workspace) => {
      const outcome = await workspace.turns.abortEdit(context.req.param("edit"));
      assertApplied(outcome, outcomeJson(outcome));
      return { edit: context.req.param("edit") };
    });
  });
}

/** The checkpoint of "main", of "session_2", of either as git would name it, or of an id. */
async function stateOf(workspace: Workspace, thread: ThreadId, ref: string): Promise<CheckpointId> {
  const name = ref.replace(/^refs\/heads\//, "");
  const sessions = await workspace.approvals.sessions(thread);
  const session = name === "main" ? sessions.at(-1) : sessions.find((each) => each.name === name);
  if (session === undefined) return (await checkpointOf(workspace, thread, name)).id;
  const state = name === "main" ? session.base : (session.approved ?? session.head ?? session.base);
  if (state !== null) return state;
  throw new EngineError("CHECKPOINT_NOT_FOUND", `There is no checkpoint in "${ref}" yet.`, {
    checkpoint: ref,
  });
}

async function compare(
  workspace: Workspace,
  [from, to]: readonly [CheckpointId, CheckpointId],
  withDiff: boolean,
) {
  const detail = withDiff ? "text" : "counts";
  const files: FileChange[] = [];
  for (const file of (await workspace.diff({ from, to, detail })).files) {
    // AgentSmithy knows no renames: the file is gone there and new here
    const paths = file.from === undefined ? [] : [file.from, file.path].map(displayPath);
    for (const path of paths)
      files.push(...(await workspace.diff({ from, to, detail, paths: [path] })).files);
    if (paths.length === 0) files.push(file);
  }
  return Promise.all(
    files.map(async (file) => {
      const isText = !file.binary && !file.tooLarge && file.gap === undefined && file.type !== "added";
      const base = isText ? await workspace.file(from, file.path, BASE_LIMIT) : null;
      return changedFile({ ...file, baseContent: base?.content?.toString("utf8") ?? null });
    }),
  );
}
