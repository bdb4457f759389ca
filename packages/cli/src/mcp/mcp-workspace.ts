/** Carries out the requests of the MCP server on a workspace. */
import type { BranchFacts, CheckpointFacts, FileFacts, McpHost } from "@belay/agents/mcp";
import {
  PlanBook,
  type Branch,
  type Checkpoint,
  type Conflict,
  type FileChange,
  type Plan,
  type Workspace,
} from "@belay/engine";
import {
  branchJson,
  checkpointJson,
  conflictJson,
  fileChangeJson,
  foundLineJson,
  leftOut,
  outcomeJson,
  pathJson,
  planJson,
} from "@belay/server/json";
import { closeIndex, findInFiles } from "../search-index/workspace-indexes.ts";
import { leftOutSentence } from "../going-back/left-out.ts";
import { waysOut } from "../going-back/ways-out.ts";
import { mergingOn } from "./mcp-merging.ts";

/** Opens a workspace for one piece of work. */
type InWorkspace = <Result>(work: (workspace: Workspace) => Promise<Result>) => Promise<Result>;

/** How long the consent of a user holds. */
const AGREED_MS = 10 * 60 * 1000;

/** A plan book for an MCP server: its plans outlive the opening of the workspace they were made in. */
export function createMcpPlans(): PlanBook {
  return new PlanBook({ elapsed: () => performance.now(), validMs: AGREED_MS });
}

/** Each call finds the workspace again; a previewed plan is in the plan book until it is carried out. */
export function createMcpHost(inWorkspace: InWorkspace, plans: PlanBook, home: string): McpHost {
  const on = <Result>(work: (host: Omit<McpHost, "decline">) => Promise<Result>) =>
    inWorkspace((workspace) => work(hostOn(workspace, home)));
  return {
    create: (request) => on((host) => host.create(request)),
    list: (options) => on((host) => host.list(options)),
    find: (question) => on((host) => host.find(question)),
    history: (question) => on((host) => host.history(question)),
    show: (ref) => on((host) => host.show(ref)),
    diff: (request) => on((host) => host.diff(request)),
    branches: () => on((host) => host.branches()),
    mergePreview: (branches) => on((host) => host.mergePreview(branches)),
    conflicts: () => on((host) => host.conflicts()),
    conflict: (ref) => on((host) => host.conflict(ref)),
    preview: (ref, paths) => on((host) => host.preview(ref, paths)),
    restore: (planId) => on((host) => host.restore(planId)),
    decline: (planId) => plans.discard(planId),
  };
}

function hostOn(workspace: Workspace, home: string): Omit<McpHost, "decline"> {
  const facts = (checkpoint: Checkpoint) => checkpointFacts(checkpoint, workspace.id);
  return {
    create: async (request) => facts((await workspace.checkpoint({ kind: "manual", ...request })).checkpoint),
    list: async (options) => (await workspace.list(options)).map(facts),
    find: async ({ query, k, checkpoint }) => {
      try {
        const { hits } = await findInFiles(home, workspace, {
          query,
          k,
          ...(checkpoint && { at: checkpoint }),
        });
        return hits.map(({ path, startLine, endLine, text, score }) => ({
          path,
          startLine,
          endLine,
          text,
          score,
        }));
      } finally {
        await closeIndex(workspace);
      }
    },
    history: async (question) => {
      const { lines = [] } = await workspace.find({ ...question, history: true });
      return lines.map((line) => {
        const { path, text, first, firstAt, last, lastAt, addedBy, removedBy } = foundLineJson(line);
        return { path, text, first, firstAt, last, lastAt, addedBy, removedBy };
      });
    },
    show: async (ref) => {
      const { checkpoint, files } = await workspace.show(ref);
      return { checkpoint: facts(checkpoint), files: files.map(fileFacts) };
    },
    diff: async (request) => ({
      files: (await workspace.diff({ ...request, detail: "text" })).files.map(fileFacts),
    }),
    branches: async () => (await workspace.branches()).map(branchFacts),
    ...mergingOn(workspace),
    preview: async (ref, paths) => {
      const plan = await workspace.planRestore(ref, paths === undefined ? {} : { paths });
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
      const plan = workspace.plans.find(workspace.copyId, planId);
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

function branchFacts(branch: Branch): BranchFacts {
  const { name, current, parent, ahead, behind, files, run, state, workingCopy, description } =
    branchJson(branch);
  return { name, current, parent, ahead, behind, files, run, state, workingCopy, description };
}
