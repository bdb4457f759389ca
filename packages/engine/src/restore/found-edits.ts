/** What an interrupted operation left at each of its paths. */
import { matchesEntry } from "../capture/node-state.ts";
import type { AbsolutePath } from "../fs/absolute-path.ts";
import { Anchor } from "../fs/anchor.ts";
import { kindOf, statNode } from "../fs/file-stat.ts";
import { move, removeName } from "../fs/mutate.ts";
import type { JournalEntry } from "../history/journal.ts";
import { MODE_BITS, type Entry } from "../model/entry.ts";
import { NO_OBJECT } from "../model/object-hash.ts";
import type { Edit } from "../model/plan.ts";
import { giveName, numberEdits, type NumberedEdit, type Stage } from "./stage.ts";

/** A journalled edit and what stands at its path: its pre-image, its post-image, a step on the way, or something else. */
export interface FoundEdit extends NumberedEdit {
  readonly state: "before" | "after" | "between" | "other";
  readonly present: Entry | undefined;
}

/** Returns nodes that were moved aside and belong back, then tells in which state each path is. */
export function putAsidesBack(
  root: AbsolutePath,
  stage: Stage | undefined,
  { edits }: Pick<JournalEntry, "edits">,
): FoundEdit[] {
  using anchor = new Anchor(root);
  return numberEdits(edits).map((edit) => {
    const path = anchor.reach(edit.path);
    if (path !== undefined && stage !== undefined) putAsideBack(stage, path, edit);
    return { ...edit, ...stateOf(path, edit) };
  });
}

/** Nothing is overwritten: what stands at the path is taken first and looked at afterwards. */
function putAsideBack(stage: Stage, path: AbsolutePath, { index, from, to }: NumberedEdit): void {
  const [old, taken] = [stage.oldNode(index), stage.newNode(index)];
  if (statNode(old) === undefined) return;
  if (statNode(path) === undefined) {
    giveName(old, path);
    return;
  }
  // [R5] killed between exchange and proof: what was exchanged is not what was saved, so it is put back
  if (to?.kind === "directory" || matchesEntry(old, from) || !matchesEntry(path, to)) return;
  if (matchesEntry(taken, to)) removeName(taken);
  else if (statNode(taken) !== undefined) return;
  move(path, taken);
  giveName(matchesEntry(taken, to) ? old : taken, path);
}

function stateOf(path: AbsolutePath | undefined, { from, to }: Edit): Pick<FoundEdit, "state" | "present"> {
  const is = (entry: Edit["from"]) => (path === undefined ? entry === undefined : matchesEntry(path, entry));
  if (is(to)) return { state: "after", present: to };
  if (is(from)) return { state: "before", present: from };
  const stat = path === undefined ? undefined : statNode(path);
  const [wasDirectory, becomesDirectory] = [from?.kind === "directory", to?.kind === "directory"];
  // a directory goes before a file can come in its place; a file never goes without a copy in the stage
  if (stat === undefined)
    return { state: wasDirectory && !becomesDirectory ? "between" : "other", present: undefined };
  // a directory is made first and gets its mode last
  const isOnTheWay = kindOf(stat) === "directory" && (wasDirectory || becomesDirectory);
  const present: Entry = { kind: "directory", mode: Number(stat.mode) & MODE_BITS, hash: NO_OBJECT };
  return isOnTheWay ? { state: "between", present } : { state: "other", present: undefined };
}
