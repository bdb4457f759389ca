/** The table of an event's journey, walked from end to end, and the deadlines along each way. */
import { describe, expect, test } from "vitest";
import {
  beganAt,
  DEADLINES,
  eventId,
  hookDeadline,
  JOURNEY,
  travel,
  type JourneyState,
  type Legs,
} from "./event-journey.ts";

interface Step {
  readonly state: JourneyState;
  readonly outcome: string;
}

/** Every way from a state to an end, as the steps taken. */
function waysFrom(state: JourneyState, taken: readonly Step[] = []): Step[][] {
  const outcomes = Object.entries(JOURNEY[state].next) as [string, JourneyState][];
  if (outcomes.length === 0) return [[...taken, { state, outcome: "" }]];
  return outcomes.flatMap(([outcome, next]) => waysFrom(next, [...taken, { state, outcome }]));
}

const WAYS = waysFrom("looking");
const states = Object.keys(JOURNEY) as JourneyState[];

describe("the table", () => {
  test("has no way in a circle, and every way ends with the agent going on", () => {
    // a circle would have overflowed the stack
    expect(WAYS.length).toBeGreaterThan(10);
    for (const way of WAYS) expect(["answered", "left"]).toContain(way.at(-1)!.state);
  });

  test("has no state that no event gets into", () => {
    const reached = new Set(WAYS.flatMap((way) => way.map(({ state }) => state)));
    expect([...reached].toSorted()).toEqual(states.toSorted());
  });

  test("hands over from `belay-hook` to `belay hook` once, and never back", () => {
    for (const way of WAYS) {
      const programs = way.map(({ state }) => JOURNEY[state].in).filter((program) => program !== null);
      expect(programs.toSorted().toReversed()).toEqual(programs);
    }
  });

  test("leaves an event only when its time is up or its worker failed", () => {
    const before = WAYS.filter((way) => way.at(-1)!.state === "left").map((way) => way.at(-3)!.outcome);
    expect(new Set(before)).toEqual(new Set(["late", "failed"]));
  });

  test("warns only about events that are left: each other end has an answer", () => {
    const last = WAYS.filter((way) => way.at(-1)!.state === "answered").map((way) => way.at(-2)!.outcome);
    expect(new Set(last)).toEqual(new Set(["unprotected", "answer", "just done", "late"]));
    // the one late answer is that of a slash command, which changes nothing by being late
    const late = WAYS.filter((way) => way.at(-1)!.state === "answered" && way.at(-2)!.outcome === "late");
    expect(new Set(late.map((way) => way.at(-2)!.state))).toEqual(new Set(["waiting"]));
  });
});

/** The longest that the agent is held up in a state of a way. */
function longestMs({ state, outcome }: Step, spent: number): number {
  const { ASK_MS, HOOK_MS, PROCESS_MS } = DEADLINES;
  if (state === "asking") return outcome === "late" ? ASK_MS : ASK_MS - 1;
  // `belay hook` waits once, in whichever state its deadline comes
  const waits = (state === "delivering" && outcome !== "no resident") || state === "working";
  if (!waits) return 0;
  const now = spent + PROCESS_MS;
  const allowed = HOOK_MS - spent;
  const deadline = hookDeadline({ began: spent, now, allowed, waited: 0 });
  return PROCESS_MS + (deadline - now);
}

describe("the deadlines", () => {
  test.each(WAYS.filter((way) => !way.some(({ state }) => state === "waiting")).map((way) => [way]))(
    "[R60] %j holds the agent up for a second at most",
    (way) => {
      let spent = 0;
      for (const step of way) spent += longestMs(step, spent);
      expect(spent).toBeLessThanOrEqual(DEADLINES.AGENT_MS);
    },
  );

  test("fit into each other", () => {
    const { AGENT_MS, ASK_MS, HOOK_MS, PROCESS_MS, LEAST_MS, WORK_MS } = DEADLINES;
    expect(ASK_MS + PROCESS_MS + LEAST_MS).toBeLessThanOrEqual(AGENT_MS);
    expect(HOOK_MS).toBeLessThan(AGENT_MS);
    // the moment that work takes for the agent's is never after the agent has gone
    expect(WORK_MS).toBe(AGENT_MS - PROCESS_MS);
    expect(WORK_MS).toBeGreaterThan(ASK_MS);
  });

  test("of leaving overlap: the hook clears up whatever work may have noted", () => {
    const { LEAVING_MS, CLOSE_MS, LEFT_MS, ANSWER_MS } = DEADLINES;
    expect(CLOSE_MS).toBeGreaterThan(LEAVING_MS);
    expect(LEFT_MS).toBeGreaterThan(CLOSE_MS);
    expect(ANSWER_MS).toBeLessThan(LEAVING_MS);
  });

  test("of repeated deliveries outlast the hooks that could repeat one", () => {
    expect(DEADLINES.REPEATED_MS).toBeGreaterThan(DEADLINES.AGENT_MS + DEADLINES.PLUGIN_MS);
    expect(DEADLINES.GIVEN_UP_MS).toBeGreaterThan(DEADLINES.COMMAND_MS);
  });
});

describe("when a hook stops waiting", () => {
  const began = 1_000_000;

  test("within a second of its start, its own start and end included", () => {
    expect(hookDeadline({ began, now: began + 40, allowed: undefined, waited: 0 })).toBe(began + 850);
  });

  test("later where the user would rather wait", () => {
    expect(hookDeadline({ began, now: began + 40, allowed: 5000, waited: 0 })).toBe(began + 4850);
  });

  test("sooner in a turn whose hooks have waited, but not at once", () => {
    expect(hookDeadline({ began, now: began + 40, allowed: undefined, waited: 300 })).toBe(began + 550);
    expect(hookDeadline({ began, now: began + 40, allowed: undefined, waited: 5000 })).toBe(began + 290);
  });

  test("as soon as it is told to, where it is told less than the least", () => {
    expect(hookDeadline({ began, now: began + 40, allowed: 100, waited: 0 })).toBe(began + 140);
  });

  test("what is no number counts as nothing said", () => {
    expect(hookDeadline({ began, now: began, allowed: Number.NaN, waited: 0 })).toBe(began + 850);
  });
});

describe("walking", () => {
  /** Plays outcomes in order, and notes in which state each was asked for. */
  function play(outcomes: readonly string[]): { legs: Legs<"belay hook">; seen: string[] } {
    const seen: string[] = [];
    const rest = [...outcomes];
    const leg = (state: string) => async () => (seen.push(state), rest.shift() as never);
    return {
      seen,
      legs: {
        delivering: leg("delivering"),
        working: leg("working"),
        leaving: leg("leaving"),
        waiting: leg("waiting"),
      },
    };
  }

  test.each(waysFrom("delivering").map((way) => [way]))("goes the way %j", async (way) => {
    const { legs, seen } = play(way.slice(0, -1).map(({ outcome }) => outcome));
    expect(await travel("delivering", legs)).toBe(way.at(-1)!.state);
    expect(seen).toEqual(way.slice(0, -1).map(({ state }) => state));
  });

  test("ends with the error of a leg that fails", async () => {
    const { legs } = play([]);
    const failing = { ...legs, delivering: () => Promise.reject(new Error("broken")) };
    await expect(travel("delivering", failing)).rejects.toThrow("broken");
  });
});

describe("the name of an event", () => {
  test("tells when its hook began", () => {
    expect(beganAt(eventId(1_794_894_854_814, 77))).toBe(1_794_894_854_814);
  });

  test.each(["", "1-2", "1794894854814", "1794894854814-", "x1794894854814-1", "1794894854814-1 2"])(
    "%j is not one",
    (id) => expect(beganAt(id)).toBeUndefined(),
  );

  test("of later events come later in the order of names", () => {
    const names = [1_794_894_854_814, 1_794_894_854_815, 1_794_894_964_814].map((at) => eventId(at, 5));
    expect(names.toSorted()).toEqual(names);
  });
});
