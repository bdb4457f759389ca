/** Plans as the screens and the slash commands see them: what going back would do to each file, asked for and carried out. */
import type { CallInput, CallOutput, RouteName } from "@belay/protocol";

/** Calls routes by name: the protocol's client, or the source of the screens. */
export interface Caller {
  call<Name extends RouteName>(name: Name, input?: CallInput<Name>): Promise<CallOutput<Name>>;
}

/** What to plan. */
export type PlanRequest = NonNullable<CallInput<"POST /api/plans">["body"]>;

/** The answer to a request: the plan, null when there is nothing to undo, redo or take out. */
export type Planned = CallOutput<"POST /api/plans">;

/** A plan that was made. */
export type Plan = NonNullable<Planned["plan"]>;

/** One file of a plan. */
export type PlanFile = Plan["files"][number];

/** What going back did. */
export type Outcome = CallOutput<"POST /api/plans/:id/apply">;

/** A path that cannot be changed with certainty. */
export type Conflict = Plan["conflicts"][number];

/** The verbs of going back. */
export type PlanKind = PlanRequest["kind"];

/** Asks for a plan of a workspace. */
export async function makePlan(
  caller: Caller,
  workspace: string | undefined,
  body: PlanRequest,
): Promise<Planned> {
  return caller.call("POST /api/plans", { body: { ...body, ...(workspace !== undefined && { workspace }) } });
}

/** An agent's own conversation that was made to go on from a state, or why there is none. */
export type Forked = CallOutput<"POST /api/checkpoints/:id/fork">;

/** [R154] The conversation goes back first: where that fails, nothing else has happened. Undefined where it stays. */
export async function forkFor(
  caller: Caller,
  workspace: string | undefined,
  { target, thread, scope = "files" }: PlanRequest,
): Promise<Forked | undefined> {
  if (scope === "files" || target === undefined) return undefined;
  return caller.call("POST /api/checkpoints/:id/fork", {
    params: { id: target },
    ...(workspace !== undefined && { query: { workspace } }),
    body: thread === undefined ? {} : { thread },
  });
}

/** How carrying out a plan ended. `stale`: the files changed since it was made. All but `done` changed nothing. */
export type Applied =
  | { readonly is: "done"; readonly outcome: Outcome }
  | { readonly is: "stale"; readonly message: string }
  | { readonly is: "conflicts"; readonly message: string; readonly conflicts: readonly Conflict[] };

/** Carries out a plan; other refusals are thrown. */
export async function applyPlan(
  caller: Caller,
  plan: { readonly id: string; readonly workspace?: string | undefined },
  { bestEffort = false }: { readonly bestEffort?: boolean } = {},
): Promise<Applied> {
  try {
    const outcome = await caller.call("POST /api/plans/:id/apply", {
      params: { id: plan.id },
      ...(plan.workspace !== undefined && { query: { workspace: plan.workspace } }),
      body: bestEffort ? { bestEffort } : {},
    });
    return { is: "done", outcome };
  } catch (error) {
    const { code, message } = refusalOf(error);
    if (code === "PLAN_STALE") return { is: "stale", message };
    if (code === "CONFLICTS") return { is: "conflicts", message, conflicts: conflictsIn(error) };
    throw error;
  }
}

/** A refusal of the workspace by its code; anything else has none. */
export function refusalOf(error: unknown): {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
} {
  const { code, message, hint } = error as { code?: unknown; message?: unknown; hint?: unknown };
  const text = (value: unknown) => (typeof value === "string" ? value : "");
  return { code: text(code), message: text(message) || String(error), hint: text(hint) };
}

function conflictsIn(error: unknown): readonly Conflict[] {
  const { facts } = error as { facts?: { report?: { conflicts?: readonly Conflict[] } } };
  return facts?.report?.conflicts ?? [];
}

/** The changes in the order of a preview. */
export const CHANGES = ["delete", "change", "create", "mode"] as const;

/** The files of a plan by what becomes of them, without empty groups. */
export function groupFiles(
  files: readonly PlanFile[],
): { change: PlanFile["change"]; files: readonly PlanFile[] }[] {
  return CHANGES.map((change) => ({ change, files: files.filter((file) => file.change === change) })).filter(
    (group) => group.files.length > 0,
  );
}

/** One file of a plan, line by line: as it is on disk, and as the plan would make it. */
export type PlanDiff = CallOutput<"GET /api/plans/:id/diff">;

/** Compares a file with what a plan would make of it. */
export function plannedFileDiff(
  caller: Caller,
  { id, workspace }: { readonly id: string; readonly workspace?: string | undefined },
  { path, pathBase64 }: Pick<PlanFile, "path" | "pathBase64">,
): Promise<PlanDiff> {
  const name = pathBase64 === undefined ? { path } : { pathBase64 };
  return caller.call("GET /api/plans/:id/diff", {
    params: { id },
    query: { ...name, ...(workspace !== undefined && { workspace }) },
  });
}
