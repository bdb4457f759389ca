/** What the MCP server asks for, done on a workspace. */
import type { CheckpointFacts, FileFacts, McpHost } from "@belay/agents/mcp";
import type { Checkpoint, FileChange, Plan, Workspace } from "@belay/engine";
import { isoTime, pathJson, planOperationType } from "@belay/server/json";

/** How a workspace is reached, for one piece of work. */
type InWorkspace = <Result>(work: (workspace: Workspace) => Promise<Result>) => Promise<Result>;

/** Each call finds the workspace anew; what was previewed is known until it is carried out. */
export function createMcpHost(inWorkspace: InWorkspace): McpHost {
  const plans = new Map<string, Plan>();
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

function hostOn(workspace: Workspace, plans: Map<string, Plan>): McpHost {
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
      plans.set(plan.id, plan);
      return {
        planId: plan.id,
        description: plan.description,
        operations: plan.edits.map((edit) => ({
          type: planOperationType(edit),
          path: pathJson(edit.path).path,
        })),
        kept: plan.kept.map(({ path }) => pathJson(path).path),
        conflicts: plan.conflicts.map(({ path }) => pathJson(path).path),
        warnings: plan.warnings,
      };
    },
    restore: async (planId) => {
      const plan = plans.get(planId);
      if (plan === undefined) throw new Error("This plan is not known: ask for a preview first.");
      plans.delete(planId);
      const { outcome, safetyCheckpoint, created, modified, deleted, conflicts, displaced, notices } =
        await workspace.restore(plan);
      const paths = conflicts.map(({ path }) => pathJson(path).path);
      return {
        outcome,
        safetyCheckpoint,
        displaced: displaced.map(({ path, checkpoint }) => ({ path: pathJson(path).path, checkpoint })),
        created,
        modified,
        deleted,
        conflicts: paths,
        warnings: notices ?? [],
      };
    },
  };
}

function facts({ id, seq, kind, name, description, createdAt, changes }: Checkpoint): CheckpointFacts {
  return { id, seq, kind, name, description, createdAt: isoTime(createdAt), changes };
}

function fileFacts({ path, type, linesAdded, linesDeleted, diff }: FileChange): FileFacts {
  return { path: pathJson(path).path, type, linesAdded, linesDeleted, diff: diff ?? null };
}
