/**
 * The journey of one event, from the agent's hook to the answer that lets the agent go on: one picture, one table of
 * states, one table of deadlines. The hook and opencode's plugin are given these numbers, `belay hook`
 * walks these states, and the process that captures the event works to the same deadline.
 *
 *     the agent runs its hook
 *        │
 *        ▼                      in belay-hook
 *     looking ──── no protected directory here ─────────────► answered, with {}
 *        │    │
 *        │    │ ordinary
 *        │    ▼
 *        │  asking ──── the resident process answers ───────► answered
 *        │    │
 *        │    │ refused, or no answer within ASK_MS
 *        ▼    ▼                 in `belay hook`
 *     delivering ──── the resident process answers ─────────► answered
 *        │    │
 *        │    │ there is none
 *        │    ▼
 *        │  working ──── a worker process answers ──────────► answered
 *        │    │
 *        │    │ late, or the worker failed
 *   late │    │
 *        ▼    ▼
 *     leaving ──── the work ended at this very moment ──────► answered
 *        │    │
 *        │    │ a slash command, which the user waits for
 *        │    ▼
 *        │  waiting ──── it ended, or COMMAND_MS passed ────► answered
 *        │
 *        └──────── the event is noted in agents/overdue ────► left, with a warning
 *
 * opencode's plugin begins at `looking` too; where it gets no answer it starts `belay-hook`, which hands on to `belay hook`.
 *
 * A left event ends in one of two ways. The process that was at it finishes: its checkpoint is marked `late`. That process
 * died: the next event from the same place carries it out first, and its checkpoint is marked `missed`.
 */

/** Every deadline of an event, in milliseconds. Those of one event add up to less than `AGENT_MS`; a test checks it. */
export const DEADLINES = {
  /** No hook holds its agent up for longer; nor do all the late hooks of one turn together, but for `LEAST_MS` each. */
  AGENT_MS: 1000,
  /** `belay-hook` and plugin: how long the resident process has to answer before the event goes to `belay hook`. */
  ASK_MS: 600,
  /** What asking and `belay hook` may take together. The rest of `AGENT_MS` is for `belay-hook` itself. */
  HOOK_MS: 950,
  /** `belay hook`: what it needs to start and to end. */
  PROCESS_MS: 150,
  /** `belay hook`: what it waits at least. Enough for an ordinary event, also after one that took long. */
  LEAST_MS: 250,
  /** When the work on an event takes its agent to go on, counted from the start of the hook. */
  WORK_MS: 850,
  /** Work that ends this shortly before its deadline may find that the hook is leaving: it looks for a note. */
  LEAVING_MS: 100,
  /** An answer this shortly before the deadline may come from work that took the hook for gone: the hook clears up. */
  CLOSE_MS: 200,
  /** This long after the deadline, the hook has left. */
  LEFT_MS: 5000,
  /** An answer needs this long to reach its agent: news for the model is kept for the next event after that. */
  ANSWER_MS: 50,
  /** How long an event waits for an earlier one from the same place that another process is at. */
  EARLIER_MS: 30_000,
  /** A slash command is something the user waits for. */
  COMMAND_MS: 60_000,
  /** The resident process gives the same answer to an event that is delivered again for this long. */
  REPEATED_MS: 60_000,
  /** Work on an event is given up after this long. */
  GIVEN_UP_MS: 600_000,
  /** opencode's plugin: when it stops waiting for a hook that has hung. */
  PLUGIN_MS: 15_000,
} as const;

/** Larger events are not sent to the resident process, which takes bodies of a mebibyte. */
export const MOST_EVENT_BYTES = 800_000;

/** Which program is at an event: the one that agents start, or `belay hook`. */
export type Program = "belay-hook" | "belay hook";

/** What can happen to an event in each state, and the state that follows. `null`: the journey is over. */
export const JOURNEY = {
  looking: {
    in: "belay-hook",
    next: { unprotected: "answered", ordinary: "asking", unusual: "delivering" },
  },
  asking: {
    in: "belay-hook",
    next: { answer: "answered", refused: "delivering", late: "delivering" },
  },
  delivering: {
    in: "belay hook",
    next: { answer: "answered", "no resident": "working", late: "leaving" },
  },
  working: {
    in: "belay hook",
    next: { answer: "answered", failed: "leaving", late: "leaving" },
  },
  leaving: {
    in: "belay hook",
    next: { "just done": "answered", command: "waiting", noted: "left" },
  },
  waiting: { in: "belay hook", next: { answer: "answered", late: "answered" } },
  answered: { in: null, next: {} },
  left: { in: null, next: {} },
} as const satisfies Readonly<
  Record<string, { readonly in: Program | null; readonly next: Readonly<Record<string, string>> }>
>;

/** Where an event is. */
export type JourneyState = keyof typeof JOURNEY;

/** The states in which there is still something to do. */
export type OpenState = {
  [State in JourneyState]: (typeof JOURNEY)[State]["in"] extends null ? never : State;
}[JourneyState];

/** What can happen in a state. */
export type Outcome<State extends JourneyState> = keyof (typeof JOURNEY)[State]["next"];

/** What to do in each state that a program is in charge of; each says what happened. */
export type Legs<In extends Program> = {
  readonly [State in OpenState as (typeof JOURNEY)[State]["in"] extends In ? State : never]: () => Promise<
    Outcome<State>
  >;
};

/** Walks from a state to an end of the journey, leg by leg. */
export async function travel(from: "delivering", legs: Legs<"belay hook">): Promise<"answered" | "left"> {
  let state: JourneyState = from;
  while (state !== "answered" && state !== "left") {
    const outcome = await (legs as Readonly<Record<string, () => Promise<string>>>)[state]!();
    state = (JOURNEY[state].next as Readonly<Record<string, JourneyState>>)[outcome]!;
  }
  return state;
}

/** When a hook's own process stops waiting: it began at `began`, and late hooks of its turn have waited `waited` already. */
export function hookDeadline(times: {
  readonly began: number;
  readonly now: number;
  /** `BELAY_WAIT_MS`: what `belay-hook` has left, or what the user would rather wait. */
  readonly allowed: number | undefined;
  readonly waited: number;
}): number {
  const allowed = times.allowed || DEADLINES.AGENT_MS;
  const shared = times.began + allowed - DEADLINES.PROCESS_MS - times.waited;
  return Math.max(shared, times.now + Math.min(allowed, DEADLINES.LEAST_MS));
}

/** A name for an event: when its hook began and in which process. The same event delivered again has the same name. */
export function eventId(began: number, pid: number): string {
  return `${began}-${pid}`;
}

/** When the hook of an event began; undefined where the name is not one of ours. */
export function beganAt(id: string): number | undefined {
  const began = /^(\d{13})-\d+$/.exec(id)?.[1];
  return began === undefined ? undefined : Number(began);
}
