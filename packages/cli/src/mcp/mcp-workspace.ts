/** Carries out the requests of the MCP server on a workspace. */
import { isDeepStrictEqual } from "node:util";
import type { CheckpointFacts, FileFacts, McpHost } from "@belay/agents/mcp";
import type { Checkpoint, Conflict, FileChange, Plan, Workspace } from "@belay/engine";
import {
  checkpointJson,
  conflictJson,
  fileChangeJson,
  leftOut,
  outcomeJson,
  pathJson,
  planJson,
} from "@belay/server/json";
import { leftOutSentence } from "../going-back/left-out.ts";
import { waysOut } from "../going-back/ways-out.ts";

/** Opens a workspace for one piece of work. */
type InWorkspace = <Result>(work: (workspace: Workspace) => Promise<Result>) => Promise<Result>;

/** Each call finds the workspace again; a previewed plan is kept until it is carried out. */
export function createMcpHost(inWorkspace: InWorkspace): McpHost {
  const plans = new Map<string, Previewed>();
  const on = <Result>(work: (host: McpHost) => Promise<Result>) =>
    inWorkspace((workspace) => work(hostOn(workspace, plans)));
  return {
    create: (request) => on((host) => host.create(request)),
    list: (options) => on((host) => host.list(options)),
    show: (ref) => on((host) => host.show(ref)),
    diff: (request) => on((host) => host.diff(request)),
    preview: (ref, paths) => on((host) => host.preview(ref, paths)),
    restore: (planId) => on((host) => host.restore(planId)),
  };
}

interface Previewed {
  readonly plan: Plan;
  /** The workspace it was planned on. */
  readonly workspace: Workspace;
}

function hostOn(workspace: Workspace, plans: Map<string, Previewed>): McpHost {
  const facts = (checkpoint: Checkpoint) => checkpointFacts(checkpoint, workspace.id);
  return {
    create: async (request) => facts((await workspace.checkpoint({ kind: "manual", ...request })).checkpoint),
    list: async (options) => (await workspace.list(options)).map(facts),
    show: async (ref) => {
      const { checkpoint, files } = await workspace.show(ref);
      return { checkpoint: facts(checkpoint), files: files.map(fileFacts) };
    },
    diff: async (request) => ({
      files: (await workspace.diff({ ...request, detail: "text" })).files.map(fileFacts),
    }),
    preview: async (ref, paths) => {
      const plan = await workspace.planRestore(ref, paths === undefined ? {} : { paths });
      plans.set(plan.id, { plan, workspace });
      const { description, operations, kept } = planJson(plan);
      return {
        planId: plan.id,
        description,
        operations,
        kept: kept.map(({ path }) => path),
        ...conflictFacts(workspace, plan, plan.conflicts),
        warnings: [...leftOut(plan).map(leftOutSentence), ...plan.warnings],
      };
    },
    restore: async (planId) => {
      const previewed = plans.get(planId);
      if (previewed === undefined) throw new Error("Unknown plan: request a preview first.");
      plans.delete(planId);
      const plan = await planHere(workspace, previewed);
      const done = await workspace.restore(plan);
      const { outcome, safetyCheckpoint, created, modified, deleted, displaced } = outcomeJson(done);
      return {
        outcome,
        safetyCheckpoint,
        created,
        modified,
        deleted,
        displaced,
        ...conflictFacts(workspace, plan, done.conflicts),
        warnings: [...leftOut(plan).map(leftOutSentence), ...(done.notices ?? [])],
      };
    },
  };
}

/**
 * The store may have been closed since the preview. Then the plan is made again, and used if it is the same.
 */
async function planHere(workspace: Workspace, previewed: Previewed): Promise<Plan> {
  const { plan } = previewed;
  if (previewed.workspace === workspace || plan.checkpoint === null) return plan;
  const paths = plan.paths?.map((path) => pathJson(path).path);
  const again = await workspace.planRestore(plan.checkpoint, paths === undefined ? {} : { paths });
  return again.base === plan.base && isDeepStrictEqual(again.edits, plan.edits) ? again : plan;
}

/** [R185] The shape that the command line and HTTP use, with commands for a terminal in the workspace. */
function conflictFacts({ root }: Workspace, plan: Plan, conflicts: readonly Conflict[]) {
  const typed = [plan.checkpoint ?? "", ...(plan.paths ?? []).map((path) => pathJson(path).path)];
  const call = { operands: typed, directory: root, options: {} };
  return {
    conflicts: conflicts.map(conflictJson),
    waysOut: conflicts.length === 0 ? [] : waysOut(call, { verb: "restore", conflicts, root, done: false }),
  };
}

function checkpointFacts(checkpoint: Checkpoint, workspace: string): CheckpointFacts {
  const { id, seq, kind, name, description, createdAt, changes } = checkpointJson(checkpoint, { workspace });
  return { id, seq, kind, name, description, createdAt, changes };
}

function fileFacts(file: FileChange): FileFacts {
  const { path, type, linesAdded, linesDeleted, diff = null } = fileChangeJson(file);
  return { path, type, linesAdded, linesDeleted, diff };
}
