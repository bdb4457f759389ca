/** What would a decision about a conflict come to? Nothing is recorded, and no file is touched. */
import { findConflict, warningsOf, type DecisionFacts } from "../merging/decide-conflicts.ts";
import { takenNames } from "../merging/planned-source.ts";
import { resultOf, type Choice } from "../merging/resolution-result.ts";
import type { Context } from "../capture/context.ts";
import type { ConflictRecord, ResultEntry } from "../history/merge-rows.ts";
import { displayPath, type BytePath } from "../model/byte-path.ts";
import { sameEntry, type Entry } from "../model/entry.ts";
import type { FileDiff } from "../model/file-diff.ts";
import type { MergeOption, ResolutionProblem } from "../model/merge.ts";
import { hashBytes, type ObjectHash } from "../model/object-hash.ts";
import type { ObjectSource } from "../store/object-store.ts";
import { compareIn } from "./compare-file.ts";

/** A decision to try: an option, other content, or an option for each region, counted from 1. */
export type TriedChoice = (Choice | { readonly regions: Readonly<Record<number, MergeOption>> }) &
  Pick<DecisionFacts, "syntax">;

/** What a decision would come to. */
export interface TriedDecision {
  /** What would become of our side, file by file; nothing where it stays as it is. */
  readonly files: readonly FileDiff[];
  /** What the path itself would hold; null where there would be no file, or regions are left to decide. */
  readonly content: Buffer | null;
  readonly warnings: readonly ResolutionProblem[];
  /** False while regions are left to decide. */
  readonly isWhole: boolean;
  /** Whether the path would be free of syntax errors; null where its language is not known. */
  readonly parses: boolean | null;
}

/** Tries a decision out; throws `CONFLICT_NOT_FOUND` and `ANSWER_REFUSED` as deciding does. */
export function tryDecision(context: Context, ref: string, choice: TriedChoice): TriedDecision {
  const conflict = findConflict(context, ref);
  const made = new Map<ObjectHash, Buffer>();
  const objects = withMade(context.store.objects, made);
  const contents = {
    read: (hash: ObjectHash) => objects.read(hash),
    put: (content: Buffer) => {
      const name = hashBytes(content);
      made.set(name, content);
      return name;
    },
    isTaken: takenNames(context, conflict),
  };
  const { result } = resultOf(...asOne(conflict, choice), contents);
  if (result === undefined) return { files: [], content: null, warnings: [], isWhole: false, parses: null };
  const edits = result
    .map(([path, to]) => ({ path, from: oursAt(conflict, path) ?? undefined, to: to ?? undefined }))
    .filter(({ from, to }) => !sameEntry(from, to));
  const entry = entryAt(result, conflict.path);
  const decided: ConflictRecord = { ...conflict, state: "resolved", result };
  const content = entry?.kind === "file" ? objects.read(entry.hash) : null;
  const name = displayPath(conflict.path);
  return {
    files: edits.flatMap(({ path }) => compareIn({ edits, objects }, { path }) ?? []),
    content,
    parses: (content && choice.syntax?.parses(name, content.toString("utf8"))) ?? null,
    warnings: warningsOf(context, decided, { choice: asOne(conflict, choice)[1], objects, ...choice }),
    isWhole: true,
  };
}

/** Choices for several regions as the last of them: those before it count as chosen. */
function asOne(conflict: ConflictRecord, choice: TriedChoice): [ConflictRecord, Choice] {
  if (!("regions" in choice)) return [conflict, choice];
  const [last, ...before] = Object.entries(choice.regions).reverse();
  const chosen = Object.fromEntries(before);
  const [region, take] = last ?? ["0", "ours"];
  return [
    { ...conflict, note: { ...conflict.note, chosen } },
    { take, region: Number(region) },
  ];
}

function oursAt({ path, facts: { here, other } }: ConflictRecord, at: BytePath): Entry | null {
  if (at === path) return here.ours;
  return at === other?.path ? other.ours : null;
}

function entryAt(result: readonly ResultEntry[], at: BytePath): Entry | null {
  return result.find(([path]) => path === at)?.[1] ?? null;
}

function withMade(objects: ObjectSource, made: ReadonlyMap<ObjectHash, Buffer>): ObjectSource {
  return {
    has: (name) => made.has(name) || objects.has(name),
    read: (name) => made.get(name) ?? objects.read(name),
    pieces: (name) => (made.has(name) ? [made.get(name)!] : objects.pieces(name)),
  };
}
