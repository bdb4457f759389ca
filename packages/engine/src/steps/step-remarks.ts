/** What a person should know of an undo, redo or revert besides what it changes. */
import { readCheckpointRows, readWindows, type Change } from "../history/changes.ts";
import { checkpointAt, newestCheckpoint } from "../history/checkpoints.ts";
import { countPausedTurns, pausedStretches } from "../history/paused-stretches.ts";
import { approvedStretches } from "../history/sessions.ts";
import { listUncaptured } from "../history/uncaptured.ts";
import { findStep, listSteps, type Step } from "../history/steps.ts";
import { backgroundCalls } from "../history/tool-calls.ts";
import { pathFromBytes, pathToBytes, type BytePath } from "../model/byte-path.ts";
import type { Doubt } from "../model/checkpoint.ts";
import type { ThreadId } from "../model/ids.ts";
import type { BackgroundWork, Conflict, Edit, Plan, StepSummary } from "../model/plan.ts";
import type { Context } from "../capture/context.ts";
import { momentOf } from "../capture/moment.ts";
import { sharersOf, type Deltas, type StepRequest } from "./select-steps.ts";
import { isCommandRunning } from "../history/liveness.ts";

export function summaryOf({ id, kind, thread, agent, prompt, description }: Step): StepSummary {
  return { id, kind, thread, agent, prompt, description };
}

/** Whose later change stands in the way. */
export function ownerOf({ store }: Context, path: BytePath, steps: readonly Step[]): { thread?: ThreadId } {
  const row = store.db.get(
    `SELECT s.thread AS thread FROM change g JOIN step s ON s.id = g.step
       WHERE g.path = ? AND s.thread IS NOT NULL AND s.id NOT IN (SELECT value FROM json_each(?)) ORDER BY g.checkpoint DESC LIMIT 1`,
    pathToBytes(path),
    JSON.stringify(steps.map(({ id }) => id)),
  );
  return row === undefined ? {} : { thread: row["thread"] as ThreadId };
}

/** Changes by nobody's tool since the oldest of these steps: they stay, and the person is told. */
export function changedOutside(
  { store }: Context,
  deltas: Deltas,
  chosen: (path: BytePath) => boolean,
): BytePath[] {
  const since = Math.min(...deltas.steps.map(({ before }) => before ?? Infinity));
  if (!Number.isFinite(since)) return [];
  const rows = store.db.all(
    "SELECT DISTINCT path FROM change WHERE checkpoint > ? AND attribution = 'outside'",
    since,
  );
  const recorded = rows.map((row) => pathFromBytes(row["path"] as Uint8Array));
  return [...new Set([...recorded, ...deltas.outside.map(({ path }) => path)])].filter(chosen).sort();
}

/** [R144] Those of them that may have been made while captures were paused: maybe by a tool, of which nothing is known. */
export function changedWhilePaused(
  { store: { db }, system }: Context,
  { steps, outside }: Deltas,
  meanwhile: readonly BytePath[],
): BytePath[] {
  const stretches = meanwhile.length === 0 ? [] : pausedStretches(db);
  if (stretches.length === 0) return [];
  const isIn = (after: number, until: number) =>
    stretches.some((stretch) => stretch.from < until && stretch.until > after);
  const rows = db.all(
    `SELECT g.path AS path, c.created_at AS taken,
       (SELECT p.created_at FROM checkpoint p WHERE p.seq < c.seq ORDER BY p.seq DESC LIMIT 1) AS previous
       FROM change g JOIN checkpoint c ON c.seq = g.checkpoint WHERE g.checkpoint > ? AND g.attribution = 'outside'`,
    Math.min(...steps.map(({ before }) => before ?? Infinity)),
  );
  const recorded = rows
    .filter((row) => isIn(Number(row["previous"] ?? 0), Number(row["taken"])))
    .map((row) => pathFromBytes(row["path"] as Uint8Array));
  const isPending = isIn(newestCheckpoint(db)?.createdAt ?? 0, system.now());
  const paused = new Set([...recorded, ...(isPending ? outside.map(({ path }) => path) : [])]);
  return meanwhile.filter((path) => paused.has(path));
}

/** [R144] The newest turns may be no steps: an undo takes another, and says so. */
export function pausedWarnings({ store: { db } }: Context, steps: readonly Step[]): string[] {
  const befores = steps.flatMap(({ before }) => before ?? []);
  const since = befores.length === 0 ? undefined : checkpointAt(db, Math.min(...befores));
  const turns = since === undefined ? 0 : countPausedTurns(db, since.createdAt);
  if (turns === 0) return [];
  return [
    `${turns === 1 ? "1 turn since then was" : `${turns} turns since then were`} made while captures were paused, and cannot be undone`,
  ];
}

/** Undo may go back behind an approval; what it leaves is unapproved. */
export function approvalWarnings({ store }: Context, steps: readonly Step[]): string[] {
  return steps
    .filter(({ thread, after }) => {
      if (thread === null || after === null) return false;
      return approvedStretches(store.db).some(
        (each) => each.thread === thread && each.base < after && after <= each.approved,
      );
    })
    .map(({ description }) => `"${description}" was approved; without it the state is unapproved`);
}

/** [R153] The newest change may be of a turn that nothing is known of: an undo takes another, and says so. */
export function uncapturedWarnings({ store: { db } }: Context, steps: readonly Step[]): string[] {
  const since = Math.min(...steps.map(({ before }) => before ?? Infinity));
  const lost = listUncaptured(db, undefined).filter(({ after }) => after >= since);
  if (lost.length === 0) return [];
  const turns = lost.length === 1 ? "1 turn since then was" : `${lost.length} turns since then were`;
  return [
    `${turns} not captured: what ${lost.length === 1 ? "it" : "they"} changed is not taken back (\`belay list\`)`,
  ];
}

/** [R125] Paths of which a capture before a tool came too late: what the tool did to them may count as there before. */
export function lateDoubts({ store: { db } }: Context, steps: readonly Step[]): Doubt[] {
  const byPath = new Map<BytePath, Doubt>();
  for (const { id, kind, thread, before, after } of steps) {
    if (kind !== "turn" || thread === null || before === null) continue;
    const rows = db.all(
      `SELECT DISTINCT d.path AS path, d.reason AS reason FROM doubt d JOIN checkpoint c ON c.seq = d.checkpoint
         JOIN change g ON g.checkpoint = d.checkpoint AND g.path = d.path AND g.step IS NOT ?4
         WHERE d.reason IN ('late', 'missed') AND c.thread = ?1 AND c.seq >= ?2 AND c.seq <= ?3 ORDER BY d.path`,
      thread,
      before,
      after ?? Number.MAX_SAFE_INTEGER,
      id,
    );
    for (const row of rows) {
      const path = pathFromBytes(row["path"] as Uint8Array);
      byPath.set(path, { path, reason: row["reason"] as Doubt["reason"] });
    }
  }
  return [...byPath.values()];
}

/** [R124] Edits of paths that a tool may not have changed although it ran. */
export function maybeOf({ changes }: Deltas, edits: readonly Edit[]): Plan["maybe"] {
  const touched = new Set(edits.map(({ path }) => path));
  const tools = new Map<BytePath, string>();
  for (const { path, during } of changes.flat())
    if (during !== null && during !== undefined && touched.has(path)) tools.set(path, during);
  return [...tools].map(([path, tool]) => ({ path, tool }));
}

/** [R126] Names the steps that a path is shared with, and how many steps are to be undone together. */
export function withSharers(
  { store: { db } }: Context,
  conflict: Conflict,
  { request, deltas }: { request: StepRequest; deltas: Deltas },
): Conflict {
  if (conflict.reason !== "shared with another thread") return conflict;
  const list = request.kind === "redo" ? "undone" : "applied";
  const windows = deltas.changes
    .flat()
    .filter(({ shared, path }) => shared && path === conflict.path)
    .flatMap(({ checkpoint }) =>
      checkpoint === Number.MAX_SAFE_INTEGER ? deltas.windows : readWindows(db, checkpoint),
    );
  const others = sharersOf(db, list, { windows: [...new Set(windows)], steps: deltas.steps });
  const sharedWith = others.flatMap((id) => findStep(db, id) ?? []).map(summaryOf);
  const wanted = new Set([...others, ...deltas.steps.map(({ id }) => id)]);
  const changing = list === "applied" ? deltas.changing : [];
  const listed = listSteps(db, list, { limit: wanted.size + changing.length }).map(({ id }) => id);
  const last = [...new Set([...changing, ...listed])].slice(0, wanted.size);
  const areLast = request.kind !== "revert" && last.every((id) => wanted.has(id));
  return { ...conflict, sharedWith, together: areLast && last.length === wanted.size ? wanted.size : null };
}

/** [R127] What changed since the turn ended, if a command that it left in the background still runs. */
export function backgroundWork(
  context: Context,
  deltas: Deltas,
  meanwhile: readonly BytePath[],
): BackgroundWork[] {
  const { db } = context.store;
  const moment = momentOf(context);
  const left = new Set(meanwhile);
  return deltas.steps.flatMap((step) => {
    if (step.after === null || left.size === 0) return [];
    const call = backgroundCalls(db, step.id).find((each) => isCommandRunning(db, each, moment));
    if (call === undefined) return [];
    const rows = db.all(
      "SELECT DISTINCT path FROM change WHERE checkpoint > ? AND attribution = 'outside'",
      step.after,
    );
    const recorded = rows.map((row) => pathFromBytes(row["path"] as Uint8Array));
    const paths = [...recorded, ...deltas.outside.map(({ path }) => path)].filter((path) =>
      left.delete(path),
    );
    return paths.length === 0 ? [] : [{ step: summaryOf(step), tool: call.tool, paths }];
  });
}

/** Those changes, to be taken back with the step. */
export function changesOf(
  { store: { db } }: Context,
  background: readonly BackgroundWork[],
  { outside, steps }: Deltas,
): Change[] {
  const paths = new Set(background.flatMap((work) => work.paths));
  if (paths.size === 0) return [];
  const since = Math.min(...steps.map(({ after }) => after ?? Infinity));
  const seqs = db.all(
    "SELECT DISTINCT checkpoint FROM change WHERE checkpoint > ? AND attribution = 'outside' ORDER BY checkpoint",
    since,
  );
  const recorded = seqs.flatMap(({ checkpoint }) =>
    readCheckpointRows(db, Number(checkpoint)).filter(({ attribution }) => attribution === "outside"),
  );
  return [...recorded, ...outside].filter(({ path }) => paths.has(path));
}
