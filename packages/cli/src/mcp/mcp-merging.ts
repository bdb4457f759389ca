/** What a model may see of merges. */
import type { McpHost, MergeConflictFacts } from "@belay/agents/mcp";
import type { MergeConflict, Workspace } from "@belay/engine";
import { affectedFiles, mergeConflictJson, mergeJson, pathJson } from "@belay/server/json";
import { conflictsByBranch } from "../merging/bring-in.ts";
import { openSyntax } from "../wiring/open-syntax.ts";

/** The part of the host that is about merges. */
export function mergingOn(workspace: Workspace): Pick<McpHost, "mergePreview" | "conflicts" | "conflict"> {
  return {
    mergePreview: async (branches) => {
      const syntax = await openSyntax();
      const plan = await workspace.planMerge(branches, { ...(syntax && { syntax }) });
      workspace.plans.discard(plan.id);
      const { into, sources, merged, notMerged } = mergeJson(plan.merge);
      return {
        into,
        sources: sources.map(({ branch, outcome }) => ({ branch, outcome })),
        merged: merged.map(({ path, severity, how }) => ({ path, severity, how })),
        conflicts: plan.merge.conflicts.map(conflictFacts),
        notMerged: notMerged.map(({ path, reason }) => ({ path, reason })),
        changes: affectedFiles(plan).map((path) => pathJson(path).path),
      };
    },
    conflicts: async () => (await conflictsByBranch(workspace)).here.map(conflictFacts),
    conflict: async (ref) => {
      const conflict = await workspace.merges.conflict(ref);
      return {
        conflict: conflictFacts(conflict),
        base: shown(conflict.content("base")),
        ours: shown(conflict.content("ours")),
        theirs: shown(conflict.content("theirs")),
        proposal: shown(conflict.proposal),
      };
    },
  };
}

function conflictFacts(conflict: MergeConflict): MergeConflictFacts {
  const { id, path, source, agents, severity, kind, reason, regions, options, state } =
    mergeConflictJson(conflict);
  return { id, path, source, agents, severity, kind, reason, regions, options, state };
}

const SHOWN_BYTES = 32 * 1024;

function shown(content: Buffer | null): string | null {
  return content === null || content.length > SHOWN_BYTES || content.includes(0)
    ? null
    : content.toString("utf8");
}
