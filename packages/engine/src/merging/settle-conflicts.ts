/**
 * Puts decisions about conflicts in the place of the conflicts. Where our side has changed at such a path since, the
 * decision is merged onto it; where that is not clean, the conflict is open again.
 */
import { compareTrees, lookUp } from "../diff/compare-trees.ts";
import type { ConflictRecord, ResultEntry } from "../history/merge-rows.ts";
import type { MergedChanges, PathConflict } from "../merge/change-set.ts";
import { mergeText } from "../merge/merge3.ts";
import { ancestorPaths, isAtOrBelow, type BytePath } from "../model/byte-path.ts";
import { sameEntry, sameNode, type Entry } from "../model/entry.ts";
import { NO_OBJECT, type ObjectHash } from "../model/object-hash.ts";
import type { Edit } from "../model/plan.ts";
import type { SettlePlace } from "./combine-sources.ts";

/** The changes of a source with what was decided about its conflicts; `head` is the source's snapshot. */
export function settleConflicts(
  changes: MergedChanges,
  resolved: readonly ConflictRecord[],
  place: SettlePlace & { readonly head: ObjectHash },
): MergedChanges {
  if (resolved.length === 0) return changes;
  const isSettled = (path: BytePath) => resolved.some((conflict) => isAbout(conflict, path));
  const edits = new Map(
    changes.edits.filter(({ path }) => !isSettled(path)).map((edit) => [edit.path, edit]),
  );
  const conflicts = changes.conflicts.filter(({ path }) => !isSettled(path));
  const merged = changes.merged.filter(({ path }) => !isSettled(path));
  for (const conflict of resolved) {
    const settled = settle(conflict, place);
    const fresh = changes.conflicts.find(({ path }) => path === conflict.path);
    if (settled === undefined) conflicts.push(fresh ?? openAgain(conflict, place));
    else for (const edit of settled) edits.set(edit.path, edit);
    if (settled !== undefined && conflict.by === "auto") merged.push(asMerged(conflict));
  }
  withDirectories(edits, place);
  const sorted = [...edits.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  return { ...changes, edits: sorted, conflicts, merged };
}

/** What a program generated again, or what was taken up and left as it was merged, is combined and not decided. */
function asMerged({ path, kind, severity }: ConflictRecord): MergedChanges["merged"][number] {
  if (kind === "lock" || kind === "generated") return { path, severity: "medium", how: kind };
  return { path, severity: severity === "low" ? "low" : "medium", how: kind === "rename" ? kind : "lines" };
}

function isAbout({ path, kind, facts, result }: ConflictRecord, other: BytePath): boolean {
  if (kind === "check") return false;
  if (kind === "type") return isAtOrBelow(other, path);
  return other === path || other === facts.other?.path || (result ?? []).some(([each]) => each === other);
}

/** The edits of one decision; undefined where it does not fit what is there now. */
function settle(
  conflict: ConflictRecord,
  place: SettlePlace & { readonly head: ObjectHash },
): readonly Edit[] | undefined {
  if (conflict.kind === "type") return settleType(conflict, place);
  const edits: Edit[] = [];
  for (const [path, to] of conflict.result ?? []) {
    const edit = settlePath({ path, to: to ?? undefined, before: oursThen(conflict, path) }, place);
    if (edit === undefined) return undefined;
    if (!sameNode(edit.from, edit.to)) edits.push(edit);
  }
  return edits;
}

/** What our side had at a path when the conflict was found. */
function oursThen({ path, facts }: ConflictRecord, at: BytePath): Entry | undefined {
  if (at === path) return facts.here.ours ?? undefined;
  return at === facts.other?.path ? (facts.other.ours ?? undefined) : undefined;
}

function settlePath(
  { path, to, before }: { path: BytePath; to: Entry | undefined; before: Entry | undefined },
  { snapshot, objects, put }: SettlePlace,
): Edit | undefined {
  const now = lookUp(objects, snapshot, path).entry;
  if (sameNode(now, before) || sameNode(now, to)) return { path, from: now, to };
  if (sameNode(to, before)) return { path, from: now, to: now };
  if (now?.kind !== "file" || to?.kind !== "file" || before?.kind !== "file") return undefined;
  const merged = mergeText(objects.read(before.hash), objects.read(now.hash), objects.read(to.hash));
  if (!merged.clean) return undefined;
  const mode = now.mode === before.mode ? to.mode : now.mode;
  return {
    path,
    from: now,
    to: { kind: "file", mode, size: merged.content.length, hash: put(merged.content) },
  };
}

/** A file in the place of a directory, or the reverse: all of one side. */
function settleType(
  { path, facts, result }: ConflictRecord,
  { snapshot, head, objects }: SettlePlace & { readonly head: ObjectHash },
): readonly Edit[] | undefined {
  const [taken] = result as readonly ResultEntry[];
  if (sameEntry(taken?.[1] ?? undefined, facts.here.ours ?? undefined)) return [];
  const now = lookUp(objects, snapshot, path).entry;
  if (!sameEntry(now, facts.here.ours ?? undefined)) return undefined;
  return compareTrees(objects, snapshot, head).filter((edit) => isAtOrBelow(edit.path, path));
}

/** Makes the directories that what was decided needs. */
function withDirectories(
  edits: Map<BytePath, Edit>,
  { snapshot, head, objects }: SettlePlace & { readonly head: ObjectHash },
): void {
  const kept = [...edits.values()].filter(({ to }) => to !== undefined && to.kind !== "directory");
  for (const above of kept.flatMap(({ path }) => ancestorPaths(path))) {
    const known = edits.get(above);
    if (known === undefined ? lookUp(objects, snapshot, above).entry !== undefined : known.to !== undefined)
      continue;
    const theirs = lookUp(objects, head, above).entry;
    const mode = theirs?.kind === "directory" ? theirs.mode : 0o755;
    const from = known?.from;
    edits.set(above, { path: above, from, to: { kind: "directory", mode, hash: NO_OBJECT } });
  }
}

/** The conflict as it is now that our side has changed. */
function openAgain(conflict: ConflictRecord, { snapshot, objects }: SettlePlace): PathConflict {
  const { path, kind, severity, base, theirs, facts } = conflict;
  return {
    taken: false,
    path,
    otherPath: facts.other?.path,
    kind,
    severity,
    facts: facts.reasons,
    regions: facts.regions,
    options: facts.options.filter((option) => option !== "proposal"),
    proposal: null,
    base: base ?? undefined,
    ours: lookUp(objects, snapshot, path).entry,
    theirs: theirs ?? undefined,
  };
}
