/**
 * What changed between two looks that may have gone by different rules. Absent is not "did not exist" (N6):
 * what the earlier rules left out is not new, what the later ones leave out is not gone. Undo deletes and
 * creates by these changes, so every doubt is no change.
 */
import { compareTrees } from "../diff/compare-trees.ts";
import type { BytePath } from "../model/byte-path.ts";
import type { ObjectHash } from "../model/object-hash.ts";
import type { Edit } from "../model/plan.ts";
import { decodeRules } from "../model/rules.ts";
import type { ObjectSource } from "../store/object-store.ts";
import { createRecordedMatcher, type RecordedMatcher } from "./recorded-rules.ts";

/** A snapshot and the rules it was taken by. */
export interface RuledSnapshot {
  readonly snapshot: ObjectHash;
  readonly rules: ObjectHash;
}

/** The changes from one to the other; `knownAbsent`: paths that were not there at the first, whatever its rules. */
export function provenChanges(
  objects: ObjectSource,
  { from, to }: { from: RuledSnapshot; to: RuledSnapshot },
  knownAbsent: ReadonlySet<BytePath>,
): Edit[] {
  const edits = compareTrees(objects, from.snapshot, to.snapshot);
  if (from.rules === to.rules || edits.length === 0) return edits;
  const [before, after] = [matcherOf(objects, from.rules), matcherOf(objects, to.rules)];
  return edits.filter((edit) => {
    if (edit.from === undefined) return knownAbsent.has(edit.path) || before.wouldCapture(edit.path, edit.to?.kind === "directory");
    return edit.to !== undefined || after.wouldCapture(edit.path, edit.from.kind === "directory");
  });
}

function matcherOf(objects: ObjectSource, rules: ObjectHash): RecordedMatcher {
  return createRecordedMatcher(decodeRules(objects.read(rules), rules));
}
