import { describe, expect, test } from "vitest";
import { dropsWatches, hasTree, nextState, takesTree, type LiveEvent, type LiveState } from "./live-state.ts";

const STATES: readonly LiveState[] = ["cold", "unproven", "live", "closed"];
const EVENTS: readonly LiveEvent[] = ["loaded", "swept", "scanned", "outdated", "eventsLost", "closed"];
const PAIRS = STATES.flatMap((state) => EVENTS.map((event) => [state, event] as const));

describe("[R45] the states of live capture", () => {
  test.each<[LiveState, Record<LiveEvent, LiveState>]>([
    [
      "cold",
      {
        loaded: "unproven",
        swept: "cold",
        scanned: "live",
        outdated: "cold",
        eventsLost: "cold",
        closed: "closed",
      },
    ],
    [
      "unproven",
      {
        loaded: "unproven",
        swept: "live",
        scanned: "live",
        outdated: "cold",
        eventsLost: "cold",
        closed: "closed",
      },
    ],
    [
      "live",
      {
        loaded: "live",
        swept: "live",
        scanned: "live",
        outdated: "cold",
        eventsLost: "cold",
        closed: "closed",
      },
    ],
    [
      "closed",
      {
        loaded: "closed",
        swept: "closed",
        scanned: "closed",
        outdated: "closed",
        eventsLost: "closed",
        closed: "closed",
      },
    ],
  ])("from %s", (state, expected) => {
    expect(Object.fromEntries(EVENTS.map((event) => [event, nextState(state, event)]))).toEqual(expected);
  });

  test.each(PAIRS)("%s + %s: a tree is known exactly where it was kept or taken", (state, event) => {
    const next = nextState(state, event);
    const isKept = hasTree(state) && event !== "outdated" && !dropsWatches(event);
    expect(hasTree(next)).toBe(takesTree(state, event) || isKept);
  });

  test.each(PAIRS)("%s + %s: only a scan or a sweep makes it live", (state, event) => {
    if (state === "live" || nextState(state, event) !== "live") return;
    expect(["scanned", "swept"]).toContain(event);
    // a sweep proves a tree that is known, never one that is not
    if (event === "swept") expect(hasTree(state)).toBe(true);
  });

  test.each(EVENTS)("closed stays closed after %s, and takes no tree", (event) => {
    expect(nextState("closed", event)).toBe("closed");
    expect(takesTree("closed", event)).toBe(false);
  });

  test("a tree that was read from a file never replaces one that a scan has seen", () => {
    expect(takesTree("live", "loaded")).toBe(false);
    expect(takesTree("unproven", "loaded")).toBe(false);
    expect(takesTree("cold", "loaded")).toBe(true);
  });

  test("every walk from cold ends in a state of the table", () => {
    const reached = new Set<LiveState>(["cold"]);
    for (let size = 0; size !== reached.size;) {
      size = reached.size;
      for (const state of reached) for (const event of EVENTS) reached.add(nextState(state, event));
    }
    expect([...reached].sort()).toEqual([...STATES].sort());
  });

  test("watches are dropped when events are missing or watching ends, and never otherwise", () => {
    expect(EVENTS.filter(dropsWatches)).toEqual(["eventsLost", "closed"]);
  });
});
