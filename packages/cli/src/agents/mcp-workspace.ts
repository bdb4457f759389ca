/** What the MCP server asks for, done on a workspace. */
import type { CheckpointFacts, FileFacts, McpHost } from "@belay/agents/mcp";
import type { Checkpoint, FileChange, Plan, Workspace } from "@belay/engine";
import { isoTime, pathJson, planOperationType } from "@belay/server/json";

export function createMcpHost(workspace: Workspace): McpHost {
  const plans = new Map<string, Plan>();
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
