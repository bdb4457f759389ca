/** The conflicts of an undo, redo, "only this" or reset: planned again with every decision, carried out as one step. */
import type { BelayClient } from "@belay/protocol/client";
import { useMemo, useState } from "react";
import { useBelay } from "../data/belay.tsx";
import type { BrowserClient } from "../data/client.ts";
import { useVersionUnless } from "../data/facts.ts";
import { useLoaded } from "../data/loaded.ts";
import type { DetailedPlan, PlanBody } from "../plans/request.ts";
import type { ConflictSource } from "./conflict-desk.tsx";
import { CONFLICT_WORDS } from "./conflict-words.ts";
import {
  AS_MERGED,
  mergedQuestion,
  questionOf,
  reasonOf,
  severityOf,
  type Conflict,
  type DecidablePlan,
  type Merged,
} from "./plan-question.ts";
import type { Choice, ConflictEntry, Tried } from "./question.ts";

type Decision = NonNullable<PlanBody["decisions"]>[number];

interface Kept {
  readonly choice: Choice;
  /** What both sides had when it was decided. */
  readonly on: string;
}

/** Decisions of plans that were left: coming back goes on with them, where both sides are still the same. */
const remembered = new Map<string, ReadonlyMap<string, Kept>>();

/** The conflicts of a plan, and the plan with all decisions. */
export function usePlanConflicts(body: DecidablePlan, isApplying: boolean) {
  const belay = useBelay();
  const { client, workspace } = belay;
  const version = useVersionUnless(isApplying);
  const [tries, setTries] = useState(0);
  const name = `${workspace} ${JSON.stringify(body)}`;
  const [kept, setKept] = useState(remembered.get(name) ?? new Map<string, Kept>());
  const asked = useLoaded(`conflicts ${name} ${version} ${tries} !`, () => plan(client, workspace, body));
  const whole = asked.value;
  const valid = useMemo(() => stillValid(whole, kept), [whole, kept]);
  const keep = (next: ReadonlyMap<string, Kept>) => {
    remembered.set(name, next);
    setKept(next);
  };
  const merged = mergedOf(whole);
  const decisions = [...(whole?.conflicts ?? []), ...merged].flatMap((of) => decisionOf(of, valid));
  const isDecided = !!whole && whole.conflicts.every(({ path }) => valid.has(path));
  const made = JSON.stringify(decisions);
  const decided = useLoaded(isDecided ? `decided ${name} ${made} ${version} ${tries} !` : null, async () => ({
    by: made,
    plan: await plan(client, workspace, { ...body, decisions }),
  }));
  const source: ConflictSource = {
    conflicts: [
      ...(whole?.conflicts ?? []).map((conflict) => entryOf(conflict, body, valid)),
      ...merged.map(({ path }) => mergedEntry(path, body, valid)),
    ],
    useQuestion: (id) => useQuestion(client, { body, whole, id, kept: valid }),
    useTried: (id, choice) => useTried(client, { body, whole, id, choice }),
    decide: async (id, choice) => {
      const next = new Map(valid).set(id, { choice, on: basisOf(whole!, id)! });
      // as it was merged needs no decision
      if ("take" in choice && choice.take === AS_MERGED) next.delete(id);
      keep(next);
    },
    reopen: async (id) => {
      const next = new Map(valid);
      next.delete(id);
      keep(next);
    },
  };
  return {
    source,
    whole,
    error: asked.error ?? decided.error,
    /** The plan with every decision; undefined until it is made. It stands while a newer one is being made. */
    ready: isDecided && decided.value?.by === made ? decided.value.plan : undefined,
    again: () => setTries(tries + 1),
    forget: () => remembered.delete(name),
  };
}

async function plan(client: BelayClient, workspace: string, body: PlanBody) {
  return (await client.call("POST /api/plans", { query: { workspace }, body })).plan;
}

/** What was merged line by line and is in no conflict. */
function mergedOf(whole: DetailedPlan | null | undefined): Merged[] {
  const contested = new Set(whole?.conflicts.map(({ path }) => path));
  return (whole?.merged ?? []).filter(({ path }) => !contested.has(path));
}

/** [R820] A decision counts on the lines that it was made on, and on no others. */
function stillValid(
  whole: DetailedPlan | null | undefined,
  kept: ReadonlyMap<string, Kept>,
): ReadonlyMap<string, Kept> {
  return new Map([...kept].filter(([path, { on }]) => !!whole && basisOf(whole, path) === on));
}

/** What a decision about a path is made on; undefined where there is nothing to decide. */
function basisOf(whole: DetailedPlan, id: string): string | undefined {
  const conflict = whole.conflicts.find(({ path }) => path === id);
  if (conflict !== undefined) return sidesOf(conflict);
  const merged = whole.merged.find(({ path }) => path === id);
  return merged && JSON.stringify([merged.from, merged.to]);
}

function sidesOf({ ours, theirs, reason }: Conflict): string {
  return JSON.stringify([ours, theirs, reason]);
}

type Decidable = Pick<Conflict, "path" | "pathBase64">;

function decisionOf(of: Decidable, kept: ReadonlyMap<string, Kept>): Decision[] {
  const choice = kept.get(of.path)?.choice;
  return choice === undefined ? [] : [asDecision(of, choice)];
}

function asDecision({ path, pathBase64 }: Decidable, choice: Choice): Decision {
  const named = { path, ...(pathBase64 !== undefined && { pathBase64 }) };
  if ("text" in choice) return { ...named, take: "text", text: choice.text };
  const taken = "take" in choice ? choice.take : "disk";
  return { ...named, take: taken === "plan" || taken === "merged" ? taken : "disk" };
}

/** A file that was merged by lines: it needs no decision. */
function mergedEntry(path: string, { kind }: DecidablePlan, kept: ReadonlyMap<string, Kept>): ConflictEntry {
  const choice = kept.get(path)?.choice;
  return {
    id: path,
    path,
    severity: "low",
    reason: CONFLICT_WORDS.byLines,
    decided: choice === undefined ? CONFLICT_WORDS.byLines : decidedWords(kind)[takeOf(choice)],
    group: "lines",
  };
}

function takeOf(choice: Choice): Decision["take"] {
  return asDecision({ path: "" }, choice).take;
}

function decidedWords(kind: DecidablePlan["kind"]): Readonly<Record<Decision["take"], string>> {
  return {
    disk: CONFLICT_WORDS.keepDisk,
    plan: CONFLICT_WORDS.take[kind],
    merged: CONFLICT_WORDS.merge,
    text: CONFLICT_WORDS.write,
  };
}

function entryOf(
  conflict: Conflict,
  { kind }: DecidablePlan,
  kept: ReadonlyMap<string, Kept>,
): ConflictEntry {
  const choice = kept.get(conflict.path)?.choice;
  return {
    id: conflict.path,
    path: conflict.path,
    severity: severityOf(conflict),
    reason: reasonOf(conflict),
    decided: choice && decidedWords(kind)[takeOf(choice)],
    group: "yours",
  };
}

interface Asked {
  readonly body: DecidablePlan;
  readonly whole: DetailedPlan | null | undefined;
  readonly id: string | undefined;
}

function useQuestion(
  client: BrowserClient,
  { body, whole, id, kept }: Asked & { readonly kept: ReadonlyMap<string, Kept> },
) {
  const { workspace } = useBelay();
  const conflict = whole?.conflicts.find(({ path }) => path === id);
  const merged = conflict === undefined ? mergedOf(whole).find(({ path }) => path === id) : undefined;
  const hasText = merged !== undefined || (conflict?.ours?.kind === "file" && conflict.ours.line !== null);
  const of = conflict ?? merged;
  const basis = whole && id !== undefined ? basisOf(whole, id) : undefined;
  const text = useLoaded(hasText ? `disk ${workspace} ${id} ${basis}` : null, () =>
    diskText(client, workspace, of!),
  );
  const told = { draft: text.value?.text, chosen: of && kept.get(of.path)?.choice };
  const value = conflict
    ? questionOf(conflict, body, { ...told, step: whole?.steps[0] })
    : merged && mergedQuestion(merged, body, told);
  return { value, error: undefined, isLoading: of === undefined };
}

const LONGEST_TEXT = 1024 * 1024;

/** What the file holds; undefined where it is not text, or too long to be edited here. */
async function diskText(client: BrowserClient, workspace: string, { path, pathBase64 }: Decidable) {
  const query = new URLSearchParams({ workspace, ...(pathBase64 ? { pathBase64 } : { path }) });
  const bytes = await client.bytes(`/api/checkpoints/disk/blob?${query}`);
  if (bytes.size > LONGEST_TEXT) return { text: undefined };
  try {
    return {
      text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(await bytes.arrayBuffer()),
    };
  } catch {
    return { text: undefined };
  }
}

/** The choice leaves the file as it is. */
function stays(choice: Choice): Tried {
  return {
    choice,
    hunks: [],
    instead: undefined,
    isWhole: true,
    problems: [],
    parses: null,
    text: undefined,
  };
}

/** The file as the plan with this decision would make it. */
function useTried(
  client: BrowserClient,
  { body, whole, id, choice }: Asked & { readonly choice: Choice | undefined },
) {
  const { workspace } = useBelay();
  const of = [...(whole?.conflicts ?? []), ...mergedOf(whole)].find(({ path }) => path === id);
  const isAsMerged = choice !== undefined && "take" in choice && choice.take === AS_MERGED;
  const decision = of && choice && !isAsMerged ? asDecision(of, choice) : undefined;
  const isKept = choice !== undefined && decision?.take === "disk";
  const isAsked = of !== undefined && choice !== undefined && !isKept;
  const loaded = useLoaded(
    isAsked ? `tried ${whole!.id} ${id} ${JSON.stringify(decision ?? AS_MERGED)} !` : null,
    async (signal): Promise<Tried> => {
      const made =
        decision === undefined ? whole : await plan(client, workspace, { ...body, decisions: [decision] });
      if (!made) return stays(choice!);
      const { path, pathBase64 } = of!;
      const query = { workspace, ...(pathBase64 === undefined ? { path } : { pathBase64 }) };
      const input = { params: { id: made.id }, query };
      const { hunks, after, file } = await client.call("GET /api/plans/:id/diff", input, signal);
      const instead = file !== null && after === null ? "The file is deleted." : undefined;
      return { ...stays(choice!), hunks, instead };
    },
  );
  return isKept ? { value: stays(choice), error: undefined, isLoading: false } : loaded;
}
