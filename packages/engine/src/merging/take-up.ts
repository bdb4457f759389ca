/**
 * Takes up a path that a source which is held back combines by itself, so that a person can decide it otherwise. It is a
 * conflict of the merge from then on, decided as it was combined: until it is decided again, the result is the same.
 */
import type { Context } from "../capture/context.ts";
import { lookNow } from "../capture/look-now.ts";
import { listConflicts, putConflict, type ConflictRecord } from "../history/merge-rows.ts";
import type { Combination, MergedChanges, PathConflict } from "../merge/change-set.ts";
import type { SourceConflict } from "../merge/merge-sources.ts";
import type { Syntax } from "../merge/syntax.ts";
import { displayPath, type BytePath } from "../model/byte-path.ts";
import type { Entry } from "../model/entry.ts";
import { EngineError } from "../model/errors.ts";
import type { MergeConflictKind, MergedPath } from "../model/merge.ts";
import type { ObjectHash } from "../model/object-hash.ts";
import { assertRootThere } from "../scan/root.ts";
import type { ObjectSource } from "../store/object-store.ts";
import { ObjectWriter } from "../store/object-writer.ts";
import { combineSources, type Combined } from "./combine-sources.ts";
import { openHere } from "./plan-merge.ts";
import { sourceAt, toRecord, type PlannedSource } from "./planned-source.ts";
import { resultOf } from "./resolution-result.ts";
import { settleConflicts } from "./settle-conflicts.ts";

/** Which path of which merge. */
export interface TakeUpRequest {
  readonly merge: string;
  readonly path: BytePath;
  readonly syntax: Syntax | undefined;
}

/** The conflict at the path; throws `CONFLICT_NOT_FOUND` where nothing is combined there. No file is touched. */
export function takeUp(context: Context, request: TakeUpRequest): ConflictRecord {
  const { store, system } = context;
  const { id, sources } = openHere(context, request.merge);
  const known = listConflicts(store.db, id);
  const before = known.find(({ path }) => path === request.path);
  if (before !== undefined) return before;
  assertRootThere(context.workingCopy.root);
  const held = sources.flatMap((source, number) =>
    source.outcome === "held" ? [sourceAt(context, source, number)] : [],
  );
  const { merge, found } = combined(context, request, { held, known });
  if (found === undefined) throw nothingThere(request.path);
  const made = new Map<ObjectHash, Buffer>();
  const source = held[found.source]!;
  const conflict = toRecord(context, found, { record: { id }, source, merge, made, known });
  const writer = new ObjectWriter(store.db, store.objects, system.owner);
  return writer.commit(() => {
    keepContents(writer, merge.objects, conflict);
    for (const content of made.values()) writer.put(content);
    writer.storeNow();
    const contents = {
      read: (hash: ObjectHash) => made.get(hash) ?? merge.objects.read(hash),
      put: (content: Buffer) => writer.put(content),
    };
    const { result } = resultOf(conflict, { take: "proposal" }, contents);
    writer.storeNow();
    const taken: ConflictRecord = {
      ...conflict,
      state: "resolved",
      result: result!,
      by: "auto",
      note: { take: "proposal" },
      at: system.now(),
    };
    putConflict(store.db, taken);
    return taken;
  });
}

/** Merges what is held back as its plan would, and finds what is combined at the path. */
function combined(
  context: Context,
  { path, syntax }: TakeUpRequest,
  { held, known }: { readonly held: readonly PlannedSource[]; readonly known: readonly ConflictRecord[] },
): { readonly merge: Combined; readonly found: SourceConflict | undefined } {
  const at: { source: number; changes: MergedChanges }[] = [];
  const merge = combineSources(context, lookNow(context), {
    onConflict: "hold",
    syntax,
    sources: held,
    settle: (changes, number, place) => {
      const { branch, head } = held[number]!;
      const resolved = known.filter(
        ({ sourceBranch, state }) => sourceBranch === branch && state === "resolved",
      );
      const settled = settleConflicts(changes, resolved, { ...place, head: head.snapshot });
      if (settled.merged.some((merged) => merged.path === path))
        at.push({ source: number, changes: settled });
      return settled;
    },
  });
  const [first] = at;
  if (first === undefined) return { merge, found: undefined };
  const merged = [...merge.clean, ...merge.merged].find((each) => each.path === path)!;
  const combination = first.changes.combined.get(path)!;
  const conflict = asConflict(merged, combination, merge.objects);
  return { merge, found: { ...conflict, source: first.source, agents: merged.agents } };
}

const KINDS: Readonly<Record<MergedPath["how"], MergeConflictKind>> = {
  lines: "content",
  format: "content",
  rename: "rename",
  lock: "lock",
  generated: "generated",
};

const FACTS: Readonly<Record<MergedPath["how"], string>> = {
  lines: "both sides changed the file, in different lines",
  format: "both sides changed the file, one of them only its layout",
  rename: "one side moved the file that the other changed",
  lock: "both sides changed the lock file",
  generated: "both sides changed the generated file",
};

/** What was combined, as something to decide: the combination is the proposal. */
function asConflict(
  { path, how, severity }: MergedPath,
  { result, ...versions }: Combination,
  objects: ObjectSource,
): PathConflict {
  const hasBase = versions.base !== undefined && how !== "rename";
  return {
    taken: false,
    kind: KINDS[how],
    severity,
    facts: [{ code: how === "rename" ? "renamed" : "disjoint", line: null, detail: FACTS[how] }],
    regions: [],
    options: ["ours", "theirs", ...(hasBase ? (["base"] as const) : []), "proposal"],
    proposal: result.kind === "file" ? objects.read(result.hash) : null,
    path,
    ...versions,
  };
}

/** [R96] What a conflict names is in the store: what our side has may so far be on disk alone. */
function keepContents(writer: ObjectWriter, objects: ObjectSource, { ours, facts }: ConflictRecord): void {
  const entries: (Entry | null | undefined)[] = [ours, facts.here.ours, facts.other?.ours];
  for (const entry of entries) if (entry?.kind === "file") writer.put(objects.read(entry.hash));
}

function nothingThere(path: BytePath): EngineError<"CONFLICT_NOT_FOUND"> {
  const name = displayPath(path);
  const message = `Nothing that waits is combined at "${name}" now: it is in, or in conflict, or changed on one side only. Nothing was changed.`;
  return new EngineError("CONFLICT_NOT_FOUND", message, { conflict: name });
}
