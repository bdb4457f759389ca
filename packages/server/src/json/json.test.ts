/** From the engine's values to the contract's shapes. */
import type { BytePath, Edit, Outcome, PendingFile, Plan, WorkspaceEvent } from "@belay/engine";
import { shapes } from "@belay/protocol";
import { describe, expect, test } from "vitest";
import {
  affectedFiles,
  eventJson,
  isNothingRestorable,
  leftOut,
  listField,
  outcomeJson,
  outcomeWord,
  pathJson,
  pauseJson,
  pendingFileJson,
  planJson,
  planOperationType,
  resetOutcomeJson,
  sessionRef,
  stepsOutcomeJson,
  untouchedText,
  withPathJson,
} from "./index.ts";

const path = (text: string) => Buffer.from(text, "utf8").toString("latin1") as BytePath;
const HASH = "a".repeat(64) as Plan["base"];
const OTHER = "b".repeat(64) as Plan["base"];
const file = (hash = HASH, mode = 0o644) => ({ kind: "file", mode, size: 1, hash }) as const;
const directory = { kind: "directory", mode: 0o755, hash: HASH } as const;
const link = { kind: "symlink", size: 1, hash: HASH } as const;

const edit = (name: string, from: Edit["from"], to: Edit["to"]): Edit => ({ path: path(name), from, to });

function plan(about: Partial<Plan> = {}): Plan {
  return {
    id: "kkkkkkkkkkkkkkkk" as Plan["id"],
    kind: "restore",
    description: "Restored to checkpoint 1",
    checkpoint: "llllllllllllllll" as Plan["checkpoint"],
    thread: null,
    paths: null,
    hunks: null,
    base: HASH,
    edits: [],
    merged: [],
    kept: [],
    conflicts: [],
    meanwhile: [],
    paused: [],
    maybe: [],
    background: [],
    gaps: [],
    doubts: [],
    outside: [],
    writesOutside: false,
    otherThreads: [],
    leftAlone: [],
    git: { target: null, now: null },
    warnings: [],
    steps: [],
    ...about,
  };
}

function outcome(about: Partial<Outcome> = {}): Outcome {
  return {
    outcome: "applied",
    plan: plan(),
    restoredTo: null,
    safetyCheckpoint: null,
    newCheckpoint: null,
    created: 0,
    modified: 0,
    deleted: 0,
    bytesWritten: 0,
    merged: [],
    kept: [],
    skipped: [],
    conflicts: [],
    displaced: [],
    steps: [],
    canUndo: false,
    canRedo: true,
    durationMs: 1,
    ...about,
  };
}

describe("a path", () => {
  test("is text, with its exact bytes where text cannot hold them", () => {
    expect(pathJson(path("ä/€.ts"))).toEqual({ path: "ä/€.ts" });
    const { path: text, pathBase64 } = pathJson("a\xff.ts" as BytePath);
    expect(text).toBe("a\ufffd.ts");
    expect(Buffer.from(pathBase64!, "base64")).toEqual(Buffer.from([0x61, 0xff, 0x2e, 0x74, 0x73]));
  });

  test("keeps what is said about it", () => {
    expect(withPathJson({ path: path("a"), reason: "late", size: 3 })).toEqual({
      path: "a",
      reason: "late",
      size: 3,
    });
  });
});

test("a list comes with its total", () => {
  expect(listField("gaps", ["a", "b"])).toEqual({ gaps: ["a", "b"], gapsTotal: 2 });
  expect(listField("gaps", [])).toEqual({ gaps: [], gapsTotal: 0 });
});

test.each([
  ["create", undefined, file()],
  ["delete", file(), undefined],
  ["restore", file(), file(OTHER)],
  ["restore", file(), file(OTHER, 0o755)],
  ["mode", file(), file(HASH, 0o755)],
  ["mode", directory, { ...directory, mode: 0o700 }],
  ["replace", file(), link],
  ["replace", directory, file()],
  ["restore", link, { ...link, hash: OTHER }],
] as const)("an operation is called %s", (type, from, to) => {
  expect(planOperationType({ path: path("a"), from, to })).toBe(type);
});

test("directories alone are no affected files; what takes a directory's place is one", () => {
  const edits = [
    edit("d", undefined, directory),
    edit("e", directory, undefined),
    edit("f", directory, file()),
    edit("g", undefined, file()),
  ];
  expect(affectedFiles({ edits })).toEqual(["f", "g"]);
});

describe("what was left out", () => {
  const forgotten = { path: path("secret"), reason: "forgotten", size: 0 } as const;
  const late = { path: path("big"), reason: "too-large", size: 9 } as const;
  const chosen = [path("secret"), path("a")];

  test.each([
    ["a whole restore leaves nothing out", plan({ gaps: [forgotten] }), []],
    ["a chosen path with its reason", plan({ paths: chosen, gaps: [forgotten] }), ["secret"]],
    [
      "once, by the reason of its gap",
      plan({
        paths: chosen,
        gaps: [forgotten],
        kept: [{ path: path("secret"), reason: "the target has a gap here" }],
      }),
      ["secret"],
    ],
    [
      "not what the caller keeps",
      plan({ paths: chosen, kept: [{ path: path("a"), reason: "keep-new" }] }),
      [],
    ],
    ["of an undo what was forgotten", plan({ kind: "undo", gaps: [forgotten, late] }), ["secret"]],
    ["of a redo what was forgotten", plan({ kind: "redo", gaps: [forgotten] }), ["secret"]],
    ["of a reset nothing", plan({ kind: "reset", gaps: [forgotten] }), []],
  ])("%s", (_, made, expected) => {
    expect(leftOut(made).map((each) => each.path)).toEqual(expected);
    expect(leftOut(made).every(({ reason }) => reason === "forgotten")).toBe(true);
  });

  test("is everything only without an edit and a conflict", () => {
    const nothing = plan({ paths: chosen, gaps: [forgotten] });
    expect(isNothingRestorable(nothing)).toBe(true);
    expect(isNothingRestorable({ ...nothing, edits: [edit("a", undefined, file())] })).toBe(false);
    expect(isNothingRestorable({ ...nothing, conflicts: [{ path: path("a"), reason: "binary" }] })).toBe(
      false,
    );
    expect(isNothingRestorable(plan({ paths: chosen }))).toBe(false);
  });

  test.each([
    ["chosen by its name", [path("secret")], "applied", "partial"],
    ["inside a directory that was left out", [path("secret/deep/file")], "applied", "partial"],
    ["inside a chosen directory", [path("")], "applied", "applied"],
    ["and nothing was done", [path("secret")], "unchanged", "unchanged"],
    ["and conflicts kept everything", [path("secret")], "conflicts", "conflicts"],
  ] as const)("makes an outcome partial when it was %s", (_, paths, word, expected) => {
    expect(outcomeWord({ outcome: word, plan: plan({ paths, gaps: [forgotten] }) })).toBe(expected);
  });
});

describe("an outcome", () => {
  test("has the contract's shape, whatever its kind", () => {
    expect(shapes.outcome.safeParse(outcomeJson(outcome())).error).toBeUndefined();
    expect(shapes.stepsOutcome.safeParse(stepsOutcomeJson(outcome())).error).toBeUndefined();
    expect(shapes.plan.safeParse(planJson(plan())).error).toBeUndefined();
  });

  test("warns of what the plan warned of, and of what was done because of it", () => {
    const warned = outcome({ plan: plan({ warnings: ["look at it"] }), notices: ["hooks were put back"] });
    expect(outcomeJson(warned).warnings).toEqual(["look at it", "hooks were put back"]);
  });

  test("of a reset says what it went back to, also as a plan that was carried out", () => {
    const target = plan({ kind: "reset" });
    expect(resetOutcomeJson(outcome({ plan: target }))).toMatchObject({
      resetTo: target.checkpoint,
      newSession: null,
    });
    const done = { ...outcome({ plan: target }), resetTo: null, newSession: "session_2" as const };
    expect(resetOutcomeJson(done)).toMatchObject({ resetTo: null, newSession: "session_2" });
  });

  test("that was refused says what it touched", () => {
    const displaced = (...names: string[]) =>
      names.map((name) => ({ path: path(name), checkpoint: "kkkkkkkkkkkkkkkk" as never }));
    expect(untouchedText({ displaced: [] })).toBe("Nothing was changed.");
    expect(untouchedText({ displaced: displaced("a") })).toContain("one file");
    expect(untouchedText({ displaced: displaced("a", "a", "b") })).toContain("2 files");
  });
});

test.each([
  ["added", "added"],
  ["deleted", "deleted"],
  ["modified", "modified"],
  ["renamed", "modified"],
  ["mode", "modified"],
] as const)("a pending file that was %s is %s, with lines as numbers", (type, status) => {
  const pending: PendingFile = {
    path: path("a"),
    type,
    linesAdded: null,
    linesDeleted: 2,
    binary: true,
    tooLarge: false,
    attribution: null,
    baseContent: null,
  };
  const json = pendingFileJson(pending);
  expect(json).toEqual({
    path: "a",
    status,
    additions: 0,
    deletions: 2,
    diff: null,
    baseContent: null,
    isBinary: true,
    isTooLarge: false,
  });
  expect(shapes.pendingFile.safeParse(json).error).toBeUndefined();
});

test("a session's reference and a pause are null where there is none", () => {
  expect(sessionRef(null)).toBeNull();
  expect(sessionRef("session_3")).toBe("refs/heads/session_3");
  expect(pauseJson(null)).toBeNull();
  expect(pauseJson({ since: 0, until: 60_000 })).toEqual({
    since: "1970-01-01T00:00:00.000Z",
    until: "1970-01-01T00:01:00.000Z",
  });
});

describe("an event", () => {
  const facts = { seq: 7, at: 0, thread: "tttttttttttttttt" as WorkspaceEvent["thread"] };
  const json = (event: object) => eventJson({ ...facts, ...event } as WorkspaceEvent, "w");

  test("names its place and time, and not its number, which is the stream's", () => {
    expect(json({ type: "capture_resumed" })).toEqual({
      type: "capture_resumed",
      workspace: "w",
      thread: facts.thread,
      dialog_id: facts.thread,
      at: "1970-01-01T00:00:00.000Z",
    });
  });

  test.each([
    [{ type: "checkpoint_deleted", checkpointId: "c" }, { checkpoint_id: "c" }],
    [{ type: "capture_paused", until: 0 }, { until: "1970-01-01T00:00:00.000Z" }],
    [
      { type: "capture_failed", events: 2, problem: "no room" },
      { events: 2, problem: "no room" },
    ],
    [
      { type: "session_approved", session: "session_1", newSession: "session_2", checkpoint: "c" },
      { new_session: "session_2", approved: "c" },
    ],
    [
      { type: "session_reset", session: "session_1", newSession: "session_2", checkpoint: null },
      { new_session: "session_2", reset_to: null },
    ],
    [{ type: "checkpoint_updated", checkpoint: null }, { checkpoint: null }],
    [
      { type: "undo", steps: ["s"], checkpoint: "c" },
      { steps: ["s"], checkpoint: "c" },
    ],
  ])("has the contract's names: %j", (event, expected) => {
    expect(json(event)).toMatchObject({ type: event.type, ...expected });
  });
});
