/** Which rows does a person look for? Words, and fields such as `agent:codex file:src/** is:undone`. */
import type { Context } from "../capture/context.ts";
import type { Happening } from "../history/happenings.ts";
import { findPaths, findTags, findWords, type Found } from "../history/find-words.ts";
import { readBrief, type Brief } from "../history/timeline-facts.ts";
import { listThreads } from "../history/threads.ts";
import { parseTime } from "../history/time-text.ts";
import type { ThreadSummary } from "../model/conversation.ts";
import type { TimelineRow } from "../model/timeline.ts";

/** What a filter looks at: what happened, its facts, and the row where a question needs it. */
interface Candidate {
  readonly happening: Happening;
  readonly brief: Brief;
  row(): TimelineRow | undefined;
}

type Question = (candidate: Candidate) => boolean;

/** Whether something that happened is what a person looks for. */
export type TimelineFilter = (happening: Happening, row: () => TimelineRow | undefined) => boolean;

/** The fields of a search; everything else is words. */
const FIELDS: Readonly<Record<string, (context: Context, value: string) => Question>> = {
  agent: (context, value) => ofThreads(context, ({ agent }) => beginsWith(agent, value)),
  thread: (context, value) =>
    ofThreads(
      context,
      ({ id, externalId, title }) =>
        beginsWith(id, value) || externalId === value || contains(title ?? "", value),
    ),
  file: (context, value) => isAmong(findPaths(context.store.db, value)),
  tag: ({ store }, value) => {
    const tagged = findTags(store.db, value);
    return ({ happening: { kind, seq } }) => kind !== "hand" && tagged.has(seq);
  },
  kind:
    (_, value) =>
    ({ brief }) =>
      beginsWith(brief.kind, value),
  session: (_, value) => {
    const name = value.startsWith("session_") ? value : `session_${value}`;
    return ({ brief }) => brief.session === name;
  },
  before: (context, value) => {
    const time = parseTime(value, context.system);
    return ({ happening }) => time !== undefined && happening.at < time.from;
  },
  after: (context, value) => {
    const time = parseTime(value, context.system);
    return ({ happening }) => time !== undefined && happening.at >= time.from;
  },
  has: (_, value) => HAS[value] ?? nothing,
  is: (_, value) => IS[value] ?? nothing,
};

const HAS: Readonly<Record<string, Question>> = {
  changes: ({ brief }) => brief.isChanging,
  name: ({ brief }) => brief.name !== null,
  note: ({ brief }) => brief.note !== null,
  tags: ({ row }) => (row()?.tags.length ?? 0) > 0,
  gaps: ({ row }) => (row()?.gaps ?? 0) > 0,
  late: ({ row }) => (row()?.late ?? 0) > 0,
  steps: ({ row }) => (row()?.steps ?? 0) > 0,
};

const IS: Readonly<Record<string, Question>> = {
  undone: ({ brief }) => brief.state === "undone",
  applied: ({ brief }) => brief.state === "applied",
  open: ({ brief }) => brief.state === "open",
  empty: ({ brief }) => brief.state === "empty",
  working: ({ brief, row }) => brief.state === "open" && row()?.status === "working",
  interrupted: ({ happening, row }) => happening.kind === "turn" && row()?.status === "interrupted",
  failed: ({ happening, row }) => happening.kind === "turn" && row()?.status === "failed",
  approved: ({ row }) => row()?.approved === true,
  pending: ({ happening, row }) => happening.kind === "turn" && row()?.approved === false,
  current: ({ row }) => row()?.sameAsNow === true,
};

const nothing: Question = () => false;

/** Reads what a person typed; every word and field of it has to hold. Undefined where nothing was typed. */
export function parseFilter(context: Context, text: string): TimelineFilter | undefined {
  const questions = [...text.matchAll(/(?:([a-z]+):)?(?:"([^"]*)"?|(\S+))/gi)].map(
    ([whole, name, quoted, plain]) => questionOf(context, { whole, name, value: quoted ?? plain ?? "" }),
  );
  if (questions.length === 0) return undefined;
  return (happening, row) => {
    const brief = readBrief(context.store.db, happening);
    return brief !== undefined && questions.every((question) => question({ happening, brief, row }));
  };
}

function questionOf(
  context: Context,
  { whole, name, value }: { whole: string; name: string | undefined; value: string },
): Question {
  const field = name === undefined || !Object.hasOwn(FIELDS, name) ? undefined : FIELDS[name];
  if (field !== undefined) return field(context, value);
  return isAmong(findWords(context.store.db, name === undefined ? value : whole.replaceAll('"', "")));
}

function isAmong({ steps, annotated, described, outside }: Found): Question {
  return ({ happening: { kind, seq, step, captures } }) => {
    if (kind === "hand") return captures.some((capture) => outside.has(capture));
    if (kind === "point") return annotated.has(seq) || described.has(seq) || outside.has(seq);
    return steps.has(step) || annotated.has(seq);
  };
}

function ofThreads({ store }: Context, isMeant: (thread: ThreadSummary) => boolean): Question {
  const ids = new Set<string | null>(
    listThreads(store.db)
      .filter(isMeant)
      .map(({ id }) => id),
  );
  return ({ brief }) => ids.has(brief.thread);
}

function beginsWith(text: string, beginning: string): boolean {
  return text.toLowerCase().startsWith(beginning.toLowerCase());
}

function contains(text: string, part: string): boolean {
  return text.toLowerCase().includes(part.toLowerCase());
}
