import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeDirectory } from "../../test/support/place.ts";
import { setPauseOfAll, WorkspacePauses } from "./pauses.ts";

let base: string;
let home: string;
let now: number;
beforeEach(() => {
  base = makeDirectory("belay-pauses-");
  home = join(base, "home");
  now = 1000;
});
afterEach(() => {
  rmSync(base, { recursive: true, force: true });
});

const pausesOf = (id: string) => new WorkspacePauses(home, id, () => now);
const file = () => JSON.parse(readFileSync(join(home, "paused.json"), "utf8")) as unknown;
const put = (content: unknown) => {
  mkdirSync(home, { recursive: true });
  const text = typeof content === "string" ? content : JSON.stringify(content);
  writeFileSync(join(home, "paused.json"), text);
};

describe("a pause", () => {
  test("holds from its beginning to the moment before its end, and ends by itself", () => {
    const pauses = pausesOf("a");
    const pause = { since: 1000, until: 2000 };
    expect(pauses.current).toBeNull();
    pauses.set(pause, "workspace");
    for (const [time, isPaused] of [
      [999, false],
      [1000, true],
      [1999, true],
      [2000, false],
      [2001, false],
    ] as const) {
      now = time;
      expect(pauses.current, `at ${time}`).toEqual(isPaused ? pause : null);
    }
  });

  test("is the workspace's own: another one goes on", () => {
    pausesOf("a").set({ since: 0, until: 5000 }, "workspace");
    expect(pausesOf("a").current).not.toBeNull();
    expect(pausesOf("b").current).toBeNull();
  });

  test("is seen by objects that were there before it, and its end too", () => {
    const [one, other] = [pausesOf("a"), pausesOf("a")];
    expect(other.current).toBeNull();
    one.set({ since: 0, until: 5000 }, "workspace");
    expect(other.current).toEqual({ since: 0, until: 5000 });
    one.set(null, "workspace");
    expect(other.current).toBeNull();
  });

  test("can be made longer or shorter", () => {
    const pauses = pausesOf("a");
    pauses.set({ since: 0, until: 5000 }, "workspace");
    pauses.set({ since: 0, until: 9000 }, "workspace");
    expect(pauses.current?.until).toBe(9000);
    pauses.set({ since: 0, until: 1001 }, "workspace");
    now = 1001;
    expect(pauses.current).toBeNull();
  });

  test("that ends before it begins pauses nothing", () => {
    const pauses = pausesOf("a");
    pauses.set({ since: 2000, until: 1000 }, "workspace");
    now = 1500;
    expect(pauses.current).toBeNull();
  });
});

describe("the pause of all", () => {
  test("holds everywhere", () => {
    setPauseOfAll(home, { since: 0, until: 5000 });
    expect([pausesOf("a").current, pausesOf("b").current]).toEqual([
      { since: 0, until: 5000 },
      { since: 0, until: 5000 },
    ]);
  });

  test("and one's own: the one that lasts longest is told", () => {
    const pauses = pausesOf("a");
    pauses.set({ since: 0, until: 3000 }, "workspace");
    pauses.set({ since: 0, until: 5000 }, "all");
    expect(pauses.current?.until).toBe(5000);
    pauses.set({ since: 0, until: 7000 }, "workspace");
    expect(pauses.current?.until).toBe(7000);
  });

  test("goes on when a workspace's own ends", () => {
    const pauses = pausesOf("a");
    pauses.set({ since: 0, until: 3000 }, "workspace");
    pauses.set({ since: 0, until: 5000 }, "all");
    pauses.set(null, "workspace");
    expect(pauses.current?.until).toBe(5000);
  });

  test("takes every other pause with it when it ends", () => {
    const [a, b] = [pausesOf("a"), pausesOf("b")];
    a.set({ since: 0, until: 3000 }, "workspace");
    setPauseOfAll(home, { since: 0, until: 5000 });
    b.set(null, "all");
    expect([a.current, b.current]).toEqual([null, null]);
    expect(file()).toEqual({});
  });
});

describe("the file", () => {
  test("keeps the active pauses of other workspaces, and drops what has passed", () => {
    pausesOf("old").set({ since: 0, until: 1500 }, "workspace");
    pausesOf("other").set({ since: 0, until: 9000 }, "workspace");
    now = 2000;
    pausesOf("a").set({ since: 2000, until: 3000 }, "workspace");
    expect(file()).toEqual({ other: { since: 0, until: 9000 }, a: { since: 2000, until: 3000 } });
  });

  test.each([
    ["nothing", ""],
    ["half of it", '{"a": {"since": 0'],
    ["a list", "[1]"],
    ["null", "null"],
    ["a text", '"all"'],
    ["a pause that is a text", { a: "forever", all: true }],
    ["a pause that is a list", { a: [0, 5000] }],
    ["a pause without an end", { a: { since: 0 }, all: { until: 5000 } }],
    ["times that are texts", { a: { since: "0", until: "5000" } }],
    ["times that are null", { a: { since: null, until: null } }],
  ])("[N2] with %s in it pauses nothing, and can be written again", (_name, content) => {
    put(content);
    const pauses = pausesOf("a");
    expect(pauses.current).toBeNull();
    pauses.set({ since: 0, until: 5000 }, "workspace");
    expect(pauses.current).toEqual({ since: 0, until: 5000 });
  });

  test("with one bad entry still holds the good ones", () => {
    put({ a: { since: 0, until: 5000 }, b: 7 });
    expect(pausesOf("a").current).toEqual({ since: 0, until: 5000 });
    expect(pausesOf("b").current).toBeNull();
  });

  test("that is a directory pauses nothing", () => {
    mkdirSync(join(home, "paused.json"), { recursive: true });
    expect(pausesOf("a").current).toBeNull();
  });

  test("ids that are names of every object are ids", () => {
    expect(pausesOf("constructor").current).toBeNull();
    pausesOf("constructor").set({ since: 0, until: 5000 }, "workspace");
    expect(pausesOf("constructor").current?.until).toBe(5000);
    expect(pausesOf("toString").current).toBeNull();
  });
});
