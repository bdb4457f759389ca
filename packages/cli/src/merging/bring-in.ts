/** Brings in what was held back, as soon as it is decided. */
import type { MergeConflict, MergeOutcome, ResolvedConflict, Workspace } from "@belay/engine";
import { EXIT } from "@belay/protocol/errors";
import { mergeOutcomeJson, resolvedConflictJson } from "@belay/server/json";
import type { Call } from "../call/command.ts";
import { untilInterrupted } from "../call/until-interrupted.ts";
import { openSyntax } from "../wiring/open-syntax.ts";
import { applyPlan, report, type MergeCall } from "./merge-flow.ts";
import { mergePrograms } from "./merge-programs.ts";

/** The parts of a call that bringing in needs. */
export type BringInCall = MergeCall & Pick<Call, "environment">;

/** Applies what is left of a merge; undefined when the user does not agree to the check of the settings. */
export async function applyRest(
  call: BringInCall,
  workspace: Workspace,
  merge: string,
): Promise<MergeOutcome | undefined> {
  const syntax = await openSyntax();
  return untilInterrupted(async (signal) => {
    const request = { workspace: workspace.id, yes: call.options.yes === true, signal };
    const programs = await mergePrograms(call, request);
    if (programs === undefined) return undefined;
    const makePlan = () => workspace.merges.planRest(merge, { programs, ...(syntax && { syntax }) });
    return applyPlan(call, workspace, { plan: await makePlan(), makePlan });
  });
}

/** Applies what is left of a merge after its last decision, and reports both; returns the exit code. */
export async function bringIn(
  call: BringInCall,
  workspace: Workspace,
  { conflict, warnings }: ResolvedConflict,
): Promise<number> {
  const outcome = await applyRest(call, workspace, conflict.merge);
  if (outcome === undefined) {
    call.output.note("Decided, but not brought in: `belay merge --continue` does that.");
    return EXIT.refused;
  }
  if (!call.json) return report(call, outcome);
  call.output.json({
    ...resolvedConflictJson({ conflict, warnings, open: 0 }),
    merge: mergeOutcomeJson(outcome),
  });
  return isDone(outcome) ? EXIT.done : EXIT.refused;
}

/** Whether nothing of a merge is left. */
export function isDone({ outcome }: MergeOutcome): boolean {
  return outcome === "applied" || outcome === "unchanged";
}

/** The open conflicts of merges into the branch here: only those can be brought in. */
export async function openHere(workspace: Workspace): Promise<MergeConflict[]> {
  const { here } = await conflictsByBranch(workspace);
  return here.filter(({ state }) => state === "open");
}

/** Conflicts of merges into another branch: they are decided where its files are. */
export interface ConflictsElsewhere {
  readonly into: string;
  /** The directory whose files are on it; null when there is none. */
  readonly workingCopy: string | null;
  readonly conflicts: readonly MergeConflict[];
}

/** The conflicts of open merges. */
export interface ConflictsByBranch {
  /** The branch here; undefined where there is none yet. */
  readonly branch: string | undefined;
  /** Whether a merge into it is open, decided or not. */
  readonly isOpen: boolean;
  readonly here: readonly MergeConflict[];
  readonly elsewhere: readonly ConflictsElsewhere[];
}

/** [R2342] The conflicts of merges into the branch here, and apart from them those into other branches. */
export async function conflictsByBranch(workspace: Workspace): Promise<ConflictsByBranch> {
  const branches = await workspace.branches();
  const branch = branches.find(({ current }) => current)?.name;
  const open = (await workspace.merges.list()).filter(({ state }) => state === "open");
  const intoOf = new Map(open.map(({ id, into }) => [id, into]));
  const groups = Map.groupBy(await workspace.conflicts(), ({ merge }) => intoOf.get(merge)!);
  const elsewhere = [...groups].filter(([into]) => into !== branch);
  return {
    branch,
    isOpen: open.some(({ into }) => into === branch),
    here: groups.get(branch ?? "") ?? [],
    elsewhere: elsewhere.map(([into, conflicts]) => {
      const workingCopy = branches.find(({ name }) => name === into)?.workingCopy ?? null;
      return { into, workingCopy, conflicts };
    }),
  };
}
