/** Makes, renames, deletes and brings back branches: names for checkpoints, so no file is touched. */
import type { Context } from "../capture/context.ts";
import { withCapture } from "../capture/with-capture.ts";
import {
  describeBranch,
  findBranch,
  insertBranch,
  namedBranch,
  setBranchName,
  setBranchState,
  workingCopyOn,
} from "../history/branches.ts";
import { checkpointAt } from "../history/checkpoints.ts";
import { appendEvent } from "../history/events.ts";
import { appendOperation } from "../history/operations.ts";
import { resolveState } from "../history/references.ts";
import type { Branch, BranchRequest } from "../model/branch.ts";
import { EngineError } from "../model/errors.ts";
import type { EventDetail } from "../model/event.ts";
import type { OperationId } from "../model/ids.ts";
import { MAIN_BRANCH } from "../store/schema.ts";
import { assertBranchName } from "./branch-name.ts";

/** Makes a branch that begins with a checkpoint, or with the present, which is captured first. */
export function createBranch(context: Context, name: string, { from, description }: BranchRequest): Branch {
  const { db } = context.store;
  assertBranchName(name);
  assertBranchFree(context, name);
  const add = (base: number) => {
    assertBranchFree(context, name);
    const now = context.system.now();
    const id = insertBranch(db, { name, base, description: description ?? null, now });
    note(context, { type: "branch_created", branch: name }, { created: name });
    return describeBranch(db, id);
  };
  if (from !== undefined) {
    const { id, seq, origin } = resolveState(context, from);
    if (origin !== null) throw fromElsewhere(id, seq, origin);
    return db.transaction(() => add(seq));
  }
  return withCapture(context, {}, (capture) => {
    const request = { kind: "safety" as const };
    const { checkpoint } = capture.record({ request, description: `Before branch ${name}` });
    return add(checkpoint.seq);
  });
}

/** Gives a branch another name. */
export function renameBranch(context: Context, name: string, next: string): Branch {
  const { db } = context.store;
  assertBranchName(next);
  return db.transaction(() => {
    const { id } = findBranch(db, name);
    if (next !== name) assertBranchFree(context, next);
    setBranchName(db, id, next);
    note(context, { type: "branch_updated", branch: next, from: name }, { renamed: next, from: name });
    return describeBranch(db, id);
  });
}

/** Deletes a branch: not the first one, and none that a working copy is on. It can be brought back for 30 days. */
export function deleteBranch(context: Context, name: string): Branch {
  const { db } = context.store;
  return db.transaction(() => {
    const { id } = findBranch(db, name);
    if (id === MAIN_BRANCH) throw inUse(name, null, "it is the first one");
    const copy = workingCopyOn(db, id);
    if (copy !== undefined) throw inUse(name, copy.path, `the files of ${copy.path} are on it`);
    setBranchState(db, id, "discarded", context.system.now());
    note(context, { type: "branch_deleted", branch: name }, { deleted: name });
    return describeBranch(db, id);
  });
}

/** Brings a deleted branch back; one that was not deleted stays as it is. */
export function restoreBranch(context: Context, name: string): Branch {
  const { db } = context.store;
  return db.transaction(() => {
    const { id, state, head } = findBranch(db, name, { deleted: true });
    if (state !== "discarded") return describeBranch(db, id);
    if (head === null || checkpointAt(db, head) === undefined)
      throw new EngineError(
        "BRANCH_NOT_FOUND",
        `The branch "${name}" was deleted more than 30 days ago: its checkpoints are no longer kept. Nothing was changed.`,
        { branch: name },
      );
    setBranchState(db, id, "open", context.system.now());
    note(context, { type: "branch_created", branch: name }, { restored: name });
    return describeBranch(db, id);
  });
}

/** Throws `BRANCH_TAKEN` when a branch has the name. A deleted one keeps it as long as it can be brought back. */
export function assertBranchFree({ store: { db } }: Context, name: string): void {
  const holder = namedBranch(db, name);
  if (holder === undefined) return;
  if (holder.state === "discarded" && holder.head === null)
    // no branch can be made with such a name, so nothing else has it
    return setBranchName(db, holder.id, `${name}~${holder.id}`);
  const deleted = holder.state === "discarded";
  const which = deleted ? "A deleted branch has" : "A branch has";
  throw new EngineError("BRANCH_TAKEN", `${which} the name "${name}" already. Nothing was changed.`, {
    branch: name,
    deleted,
  });
}

/** A line begins with a state that was captured here: only such a one is known whole. */
function fromElsewhere(checkpoint: string, seq: number, origin: string): EngineError<"CHECKPOINT_IMPORTED"> {
  return new EngineError(
    "CHECKPOINT_IMPORTED",
    `No branch can begin with checkpoint ${seq}: it was imported from ${origin}. Nothing was changed.`,
    { checkpoint, origin },
  );
}

function inUse(branch: string, path: string | null, reason: string): EngineError<"BRANCH_IN_USE"> {
  const message = `The branch "${branch}" cannot be deleted: ${reason}. Nothing was changed.`;
  return new EngineError("BRANCH_IN_USE", message, { branch, path });
}

/** Its row in the log, and its event. */
function note(
  { store: { db }, system }: Context,
  { type, ...data }: Extract<EventDetail, { branch: string }>,
  detail: Record<string, unknown>,
): void {
  const at = system.now();
  appendOperation(db, { id: system.newId() as OperationId, kind: "branch", at, detail });
  appendEvent(db, { type, thread: null, at, data });
}
