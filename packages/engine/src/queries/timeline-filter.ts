/**
 * Which rows does a person look for? Words, and fields such as `agent:codex file:src/** is:undone`. What one scan of the
 * store answers is asked first; only what is left is made into rows.
 */
import type { Context } from "../capture/context.ts";
import {
  findIdleCheckpoints,
  findIdleTurns,
  findOfThreads,
  findPaths,
  findStepsIn,
  findTags,
  findWords,
  type Found,
} from "../history/find-words.ts";
import type { Happening } from "../history/happenings.ts";
import { listThreads } from "../history/threads.ts";
import { parseTime } from "../history/time-text.ts";
import type { ThreadSummary } from "../model/conversation.ts";
import type { TimelineRow } from "../model/timeline.ts";
import { NO_LINES } from "./net-changes.ts";
import { rowsOf } from "./timeline-row.ts";

/** One condition, on what happened or on its row. */
type Question =
  | { readonly holds: (happening: Happening) => boolean }
  | { readonly holdsOfRow: (row: TimelineRow) => boolean };

/** How many rows are made at once. */
const BATCH = 128;

/** Those that a person looks for: every word and field has to hold. */
export function* filterHappenings(
  context: Context,
  { q, present }: { readonly q: string; readonly present: string | undefined },
  happenings: Iterable<Happening>,
): Generator<Happening> {
  const questions = parseQuestions(context, q);
  const ofHappenings = questions.flatMap((question) => ("holds" in question ? [question.holds] : []));
  const ofRows = questions.flatMap((question) => ("holdsOfRow" in question ? [question.holdsOfRow] : []));
  let waiting: Happening[] = [];
  const select = () => {
    const rows = rowsOf(context, waiting, { lines: NO_LINES, present });
    const isMeant = (row: TimelineRow | undefined) =>
      row !== undefined && ofRows.every((holds) => holds(row));
    return waiting.splice(0).filter((_, index) => isMeant(rows[index]));
  };
  for (const happening of happenings) {
    if (!ofHappenings.every((holds) => holds(happening))) continue;
    if (ofRows.length === 0) yield happening;
    else waiting.push(happening);
    if (waiting.length >= BATCH) yield* select();
  }
  yield* select();
}

/** A field of a search whose value means nothing, and what it may be; undefined where all of them mean something. */
export function meaninglessField(
  text: string,
  system: Parameters<typeof parseTime>[1],
): { readonly field: string; readonly allowed: readonly string[] } | undefined {
  for (const [whole, name = "", quoted, plain] of text.matchAll(TERMS)) {
    const value = quoted ?? plain ?? "";
    const allowed = VALUES[name];
    const isTime = name === "before" || name === "after";
    if (isTime && parseTime(value, system) === undefined) return { field: whole, allowed: TIMES };
    if (
      allowed !== undefined &&
      !allowed.some((each) => (name === "kind" ? beginsWith(each, value) : each === value))
    )
      return { field: whole, allowed: allowed.map((each) => `${name}:${each}`) };
  }
  return undefined;
}

const TERMS = /(?:([a-z]+):)?(?:"([^"]*)"?|(\S+))/gi;
const TIMES = ["10m", "2h", "3d", "14:30", "yesterday", "2026-11-01"];

function parseQuestions(context: Context, text: string): Question[] {
  return [...text.matchAll(TERMS)].map(([whole, name, quoted, plain]) => {
    const value = quoted ?? plain ?? "";
    const field = name === undefined || !Object.hasOwn(FIELDS, name) ? undefined : FIELDS[name];
    if (field !== undefined) return field(context, value);
    // an unknown field is a word with a colon in it
    return isAmong(findWords(context.store.db, name === undefined ? value : whole.replaceAll('"', "")));
  });
}

/** The fields of a search. */
const FIELDS: Readonly<Record<string, (context: Context, value: string) => Question>> = {
  agent: (context, value) => ofThreads(context, ({ agent }) => beginsWith(agent, value)),
  thread: (context, value) =>
    ofThreads(
      context,
      ({ id, externalId, title }) =>
        beginsWith(id, value) || externalId === value || contains(title ?? "", value),
    ),
  file: ({ store }, value) => isAmong(findPaths(store.db, value)),
  tag: ({ store }, value) => {
    const tagged = findTags(store.db, value);
    return { holds: ({ kind, seq }) => kind !== "hand" && tagged.has(seq) };
  },
  kind: (_, value) =>
    value === "turn" || value === "hand"
      ? { holds: ({ kind }) => kind === value }
      : { holdsOfRow: ({ kind }) => beginsWith(kind, value) },
  session: (_, value) => {
    const name = value.startsWith("session_") ? value : `session_${value}`;
    return { holdsOfRow: ({ session }) => session === name };
  },
  before: ({ system }, value) => {
    const time = parseTime(value, system);
    return { holds: ({ at }) => time !== undefined && at < time.from };
  },
  after: ({ system }, value) => {
    const time = parseTime(value, system);
    return { holds: ({ at }) => time !== undefined && at >= time.from };
  },
  has: ({ store }, value) => {
    if (value === "changes") {
      const [turns, checkpoints] = [findIdleTurns(store.db), findIdleCheckpoints(store.db)];
      return {
        holds: ({ kind, step, seq }) => !turns.has(step) && !(kind === "capture" && checkpoints.has(seq)),
      };
    }
    return { holdsOfRow: HAS[value] ?? never };
  },
  is: ({ store }, value) => {
    if (value === "undone" || value === "open") {
      const steps = findStepsIn(store.db, value);
      return { holds: ({ step }) => steps.has(step) };
    }
    return { holdsOfRow: IS[value] ?? never };
  },
};

type OfRow = (row: TimelineRow) => boolean;

const HAS: Readonly<Record<string, OfRow>> = {
  name: ({ name }) => name !== null,
  note: ({ note }) => note !== null,
  tags: ({ tags }) => tags.length > 0,
  gaps: ({ gaps }) => gaps > 0,
  late: ({ late }) => late > 0,
  damage: ({ damaged }) => damaged,
  steps: ({ steps }) => steps > 0,
};

const IS: Readonly<Record<string, OfRow>> = {
  applied: ({ state }) => state === "applied",
  empty: ({ state }) => state === "empty",
  working: ({ status }) => status === "working",
  interrupted: ({ status }) => status === "interrupted",
  failed: ({ status }) => status === "failed",
  approved: ({ approved }) => approved,
  pending: ({ kind, approved, state }) => kind === "turn" && !approved && state !== "undone",
  current: ({ sameAsNow }) => sameAsNow === true,
};

const never: OfRow = () => false;

/** The values of fields that take only some. */
const VALUES: Readonly<Partial<Record<string, readonly string[]>>> = {
  has: ["changes", ...Object.keys(HAS)],
  is: ["undone", "open", ...Object.keys(IS)],
  kind: ["turn", "hand", "checkpoint", "restore", "revert", "reset", "approved", "initial", "safety"],
};

function isAmong({ steps, annotated, described, outside }: Found): Question {
  return {
    holds: ({ kind, seq, step, captures }) => {
      if (kind === "hand") return captures.some((capture) => outside.has(capture));
      if (kind === "point" || kind === "capture")
        return annotated.has(seq) || described.has(seq) || outside.has(seq);
      return steps.has(step) || annotated.has(seq);
    },
  };
}

function ofThreads({ store }: Context, isMeant: (thread: ThreadSummary) => boolean): Question {
  const meant = listThreads(store.db).filter(isMeant);
  return isAmong(
    findOfThreads(
      store.db,
      meant.map(({ id }) => id),
    ),
  );
}

function beginsWith(text: string, beginning: string): boolean {
  return text.toLowerCase().startsWith(beginning.toLowerCase());
}

function contains(text: string, part: string): boolean {
  return text.toLowerCase().includes(part.toLowerCase());
}
