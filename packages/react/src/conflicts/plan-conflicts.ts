/** The conflicts of an undo, redo, "only this" or reset: planned again with every decision, carried out as one step. */
import type { BelayClient } from "@belay/protocol/client";
import { useMemo, useState } from "react";
import { useBelay } from "../data/belay.tsx";
import type { BrowserClient } from "../data/client.ts";
import { useVersionUnless } from "../data/facts.ts";
import { useLoaded } from "../data/loaded.ts";
import type { DetailedPlan, PlanBody } from "../plans/request.ts";
import { agentName, clock, quoted, visible } from "../words.ts";
import type { ConflictSource } from "./conflict-desk.tsx";
import { CONFLICT_WORDS, placeWords, sentence } from "./conflict-words.ts";
import type { Choice, ConflictEntry, ConflictQuestion, Excerpt, Severity, Tried } from "./question.ts";

/** Which plan has the conflicts; a restore has none. */
export type DecidablePlan = PlanBody & { readonly kind: "undo" | "redo" | "revert" | "reset" };

type Conflict = DetailedPlan["conflicts"][number];
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
  const valid = useMemo(() => stillValid(whole?.conflicts ?? [], kept), [whole, kept]);
  const keep = (next: ReadonlyMap<string, Kept>) => {
    remembered.set(name, next);
    setKept(next);
  };
  const decisions = (whole?.conflicts ?? []).flatMap((conflict) => decisionOf(conflict, valid));
  const isDecided = whole !== undefined && whole !== null && decisions.length === whole.conflicts.length;
  const made = JSON.stringify(decisions);
  const decided = useLoaded(isDecided ? `decided ${name} ${made} ${version} ${tries} !` : null, async () => ({
    by: made,
    plan: await plan(client, workspace, { ...body, decisions }),
  }));
  const source: ConflictSource = {
    conflicts: (whole?.conflicts ?? []).map((conflict) => entryOf(conflict, body, valid)),
    merged: (whole?.merged ?? []).map(({ path }) => ({
      path,
      severity: "low",
      about: "other lines changed",
    })),
    mergedTotal: whole?.mergedTotal ?? 0,
    useQuestion: (id) => useQuestion(client, { body, whole, id, kept: valid }),
    useTried: (id, choice) => useTried(client, { body, whole, id, choice }),
    decide: async (id, choice) => {
      const conflict = whole!.conflicts.find(({ path }) => path === id)!;
      keep(new Map(valid).set(id, { choice, on: sidesOf(conflict) }));
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

/** [R820] A decision counts on the lines that it was made on, and on no others. */
function stillValid(
  conflicts: readonly Conflict[],
  kept: ReadonlyMap<string, Kept>,
): ReadonlyMap<string, Kept> {
  return new Map(
    [...kept].filter(([path, { on }]) =>
      conflicts.some((conflict) => conflict.path === path && sidesOf(conflict) === on),
    ),
  );
}

function sidesOf({ ours, theirs, reason }: Conflict): string {
  return JSON.stringify([ours, theirs, reason]);
}

function decisionOf(conflict: Conflict, kept: ReadonlyMap<string, Kept>): Decision[] {
  const choice = kept.get(conflict.path)?.choice;
  return choice === undefined ? [] : [asDecision(conflict, choice)];
}

function asDecision({ path, pathBase64 }: Conflict, choice: Choice): Decision {
  const named = { path, ...(pathBase64 !== undefined && { pathBase64 }) };
  if ("text" in choice) return { ...named, take: "text", text: choice.text };
  return { ...named, take: "take" in choice && choice.take === "plan" ? "plan" : "disk" };
}

function entryOf(
  conflict: Conflict,
  { kind }: DecidablePlan,
  kept: ReadonlyMap<string, Kept>,
): ConflictEntry {
  const choice = kept.get(conflict.path)?.choice;
  const words = {
    disk: CONFLICT_WORDS.keepDisk,
    plan: CONFLICT_WORDS.take[kind],
    text: CONFLICT_WORDS.write,
  };
  return {
    id: conflict.path,
    path: conflict.path,
    severity: severityOf(conflict),
    reason: reasonOf(conflict),
    decided: choice && words[asDecision(conflict, choice).take],
    isByAgent: false,
  };
}

function severityOf({ reason, ours }: Conflict): Severity {
  const isWhole = ours !== undefined && ours.line === null;
  return reason === "binary" || reason === "too large to merge" || isWhole ? "critical" : "high";
}

const REASONS: Readonly<Record<string, string>> = {
  "changed differently meanwhile": "changed again since, in the same place",
  binary: "changed again since, and binary: it cannot be merged",
  "too large to merge": "changed again since, and too large to merge",
  "shared with another thread": "changed while several agents were at work",
  "changed while restoring": "a program wrote to it while files were put in place",
  "cannot be saved": "what is there now cannot be saved first",
};

/** Reasons that a person cannot decide: the file has to become readable, or quiet, first. */
const UNDECIDABLE: ReadonlySet<string> = new Set(["cannot be saved", "changed while restoring"]);

function reasonOf({ reason, sharedWith }: Conflict): string {
  if (sharedWith === undefined || sharedWith.length === 0) return REASONS[reason] ?? reason;
  const steps = sharedWith.map(
    ({ agent, prompt, description, at }) =>
      `${quoted(prompt ?? description, 40)} (${agentName(agent)}, ${clock(at)})`,
  );
  return `changed while ${steps.join(" and ")} was at work too`;
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
  const hasText = conflict?.ours?.kind === "file" && conflict.ours.line !== null;
  const text = useLoaded(hasText ? `disk ${workspace} ${id} ${sidesOf(conflict)}` : null, () =>
    diskText(client, workspace, conflict!),
  );
  const value = conflict && questionOf(conflict, body, { draft: text.value?.text, kept });
  return { value, error: undefined, isLoading: conflict === undefined };
}

const LONGEST_TEXT = 1024 * 1024;

/** What the file holds; undefined where it is no text, or too long to be edited here. */
async function diskText(client: BrowserClient, workspace: string, { path, pathBase64 }: Conflict) {
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

function questionOf(
  conflict: Conflict,
  { kind }: DecidablePlan,
  { draft, kept }: { readonly draft: string | undefined; readonly kept: ReadonlyMap<string, Kept> },
): ConflictQuestion {
  const { path, ours, theirs, reason } = conflict;
  const verb = CONFLICT_WORDS.verb[kind];
  const takes = {
    id: "plan",
    words: CONFLICT_WORDS.take[kind],
    about: `The file as the ${verb} would have it. What is here now goes, and can be brought back.`,
  };
  return {
    id: path,
    path,
    place: placeWords(ours?.line ?? null, (ours?.lines.length ?? 0) + (ours?.more ?? 0)),
    why: sentence(visible(reasonOf(conflict))),
    sides: [
      { id: "ours", title: CONFLICT_WORDS.onDisk, who: "", excerpts: [excerptOf(ours)] },
      { id: "theirs", title: CONFLICT_WORDS.after[kind], who: "", excerpts: [excerptOf(theirs)] },
    ],
    options: [
      {
        id: "disk",
        words: CONFLICT_WORDS.keepDisk,
        about: `The file stays as it is. The ${verb} leaves it out.`,
      },
      ...(UNDECIDABLE.has(reason) ? [] : [takes]),
    ],
    regionOptions: [],
    draft: UNDECIDABLE.has(reason) ? undefined : draft,
    chosen: kept.get(path)?.choice,
  };
}

function excerptOf(side: Conflict["ours"]): Excerpt {
  if (side === undefined || side.line === null)
    return { line: null, lines: [], more: 0, instead: CONFLICT_WORDS.instead(side?.kind ?? "file") };
  return { line: side.line, lines: side.lines, more: side.more };
}

/** The choice leaves the file as it is. */
function stays(choice: Choice): Tried {
  return { choice, hunks: [], instead: undefined, isWhole: true, problems: [], text: undefined };
}

/** The file as the plan with this decision would make it. */
function useTried(
  client: BrowserClient,
  { body, whole, id, choice }: Asked & { readonly choice: Choice | undefined },
) {
  const { workspace } = useBelay();
  const conflict = whole?.conflicts.find(({ path }) => path === id);
  const decision = conflict && choice && asDecision(conflict, choice);
  const isKept = choice !== undefined && decision?.take === "disk";
  const loaded = useLoaded(
    decision === undefined || isKept ? null : `tried ${whole!.id} ${JSON.stringify(decision)} !`,
    async (signal): Promise<Tried> => {
      const made = await plan(client, workspace, { ...body, decisions: [decision!] });
      if (made === null) return stays(choice!);
      const { path, pathBase64 } = conflict!;
      const query = { workspace, ...(pathBase64 === undefined ? { path } : { pathBase64 }) };
      const input = { params: { id: made.id }, query };
      const { hunks, after, file } = await client.call("GET /api/plans/:id/diff", input, signal);
      const instead = file !== null && after === null ? "The file is deleted." : undefined;
      return { ...stays(choice!), hunks, instead };
    },
  );
  return isKept ? { value: stays(choice), error: undefined, isLoading: false } : loaded;
}
