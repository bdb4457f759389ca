/** Everything that the rows of one page need to know, each kind of fact with one question to the store. */
import type { Context } from "../capture/context.ts";
import type { Happening } from "../history/happenings.ts";
import { pausedStretches } from "../history/paused-stretches.ts";
import {
  approvedSessions,
  backgroundStretches,
  continuedAmong,
  countChangingCalls,
  countDoubts,
  listCaptureChanges,
  listStepChanges,
  previousSeqs,
  readAgents,
  readEnds,
  readStepFacts,
  runEndsAmong,
  turnsOpenIn,
  type EndFacts,
  type ListedChange,
  type OpenStretch,
  type StepFacts,
} from "../history/timeline-facts.ts";
import { damagedCheckpoints } from "../upkeep/known-damage.ts";
import { turnNumbers } from "../history/turn-numbers.ts";
import type { ThreadId } from "../model/ids.ts";
import type { RunEnd } from "../model/run.ts";

/** What is known of the things on a page. */
export interface PageFacts {
  /** By the seqs of steps: their facts, and the numbers of turns. */
  readonly steps: ReadonlyMap<number, StepFacts>;
  readonly numbers: ReadonlyMap<number, number>;
  /** By the ids of steps: what they changed, with how many tool calls, and which others continue. */
  readonly changes: ReadonlyMap<string, readonly ListedChange[]>;
  readonly calls: ReadonlyMap<string, number>;
  readonly continued: ReadonlySet<string>;
  /** How those ended that Belay ran itself. */
  readonly runEnds: ReadonlyMap<string, RunEnd>;
  /** By the seqs of checkpoints: themselves, those before them, and what they found. */
  readonly ends: ReadonlyMap<number, EndFacts>;
  readonly previous: ReadonlyMap<number, number>;
  readonly outside: ReadonlyMap<number, readonly ListedChange[]>;
  readonly backs: ReadonlyMap<number, readonly ListedChange[]>;
  /** All that it found, of any author. */
  readonly found: ReadonlyMap<number, readonly ListedChange[]>;
  readonly doubts: ReadonlyMap<number, number>;
  /** Ids of checkpoints that are known to be damaged. */
  readonly damaged: ReadonlySet<string>;
  readonly agents: ReadonlyMap<ThreadId, string>;
  readonly approved: ReadonlySet<string>;
  /** Whether a turn was open when one of these captures was taken, or had left a command running: an agent may have written. */
  wasAgentAbout(captures: readonly number[]): boolean;
  paused(): ReturnType<typeof pausedStretches>;
}

/** The facts of a page of the timeline. */
export function gatherFacts({ store: { db } }: Context, happenings: readonly Happening[]): PageFacts {
  const of = (kind: Happening["kind"]) => happenings.filter((each) => each.kind === kind);
  const [turns, backs, points, hands] = [of("turn"), of("back"), of("point"), of("hand")];
  const flat = of("capture");
  const steps = readStepFacts(
    db,
    [...turns, ...backs].map(({ step }) => step),
  );
  const mergeIds = mergesAmong(backs, steps);
  const turnIds = turns.flatMap(({ step }) => steps.get(step)?.id ?? []);
  const previous = previousSeqs(db, [
    ...[...points, ...backs, ...flat].map(({ seq }) => seq),
    ...hands.map(({ seq, captures }) => captures.at(-1) ?? seq),
    ...hands.map(({ seq }) => seq),
  ]);
  const ends = readEnds(db, [
    ...[...steps.values()].flatMap(({ before, after }) => (after === null ? [before] : [before, after])),
    ...[...points, ...backs, ...hands, ...flat].map(({ seq }) => seq),
    ...previous.values(),
  ]);
  const own = [...points, ...backs, ...hands, ...flat].map(({ seq }) => seq);
  const unstopped = turns.flatMap(({ step }) => {
    const facts = steps.get(step);
    const after = ends.get(facts?.after ?? 0);
    return facts === undefined || after === undefined || isStop(after) ? [] : [facts.id];
  });
  const open = hands.length === 0 ? [] : [...turnsOpenIn(db, spanOf(hands)), ...backgroundStretches(db)];
  let stretches: ReturnType<typeof pausedStretches> | undefined;
  return {
    steps,
    numbers: turnNumbers(
      db,
      turns.map(({ step }) => step),
    ),
    changes: listStepChanges(db, [...turnIds, ...mergeIds]),
    calls: countChangingCalls(db, turnIds),
    runEnds: unstopped.length === 0 ? new Map() : runEndsAmong(db, unstopped),
    continued: unstopped.length === 0 ? new Set() : continuedAmong(db, unstopped),
    ends,
    previous,
    outside: listCaptureChanges(
      db,
      [...hands.flatMap(({ captures }) => captures), ...points.map(({ seq }) => seq)],
      "outside",
    ),
    found: listCaptureChanges(
      db,
      flat.map(({ seq }) => seq),
      "any",
    ),
    backs: listCaptureChanges(
      db,
      backs.map(({ seq }) => seq),
      "belay",
    ),
    doubts: countDoubts(db, own),
    damaged: damagedCheckpoints(db),
    agents: readAgents(
      db,
      own.flatMap((seq) => ends.get(seq)?.thread ?? []),
    ),
    approved: approvedSessions(db),
    // a turn that began with a capture came after what that found
    wasAgentAbout: (captures) =>
      captures.some((seq) => open.some(({ before, after }) => before < seq && after >= seq)),
    paused: () => (stretches ??= pausedStretches(db)),
  };
}

/** The merges among ways back: each has one checkpoint for each source. */
function mergesAmong(
  backs: readonly { step: number }[],
  steps: ReadonlyMap<number, StepFacts>,
): StepFacts["id"][] {
  return backs.flatMap(({ step }) => {
    const facts = steps.get(step);
    return facts?.kind === "merge" ? [facts.id] : [];
  });
}

/** True for the checkpoint that an agent's stop takes. */
export function isStop({ kind, phase }: EndFacts): boolean {
  return kind === "turn" && phase === "after";
}

function spanOf(hands: readonly Happening[]): OpenStretch {
  return {
    before: Math.min(...hands.map(({ seq, captures }) => captures.at(-1) ?? seq)),
    after: Math.max(...hands.map(({ seq }) => seq)),
  };
}
