/** Which steps an undo, redo or revert moves, and which changes of the present belong to them already. */
import { describe, expect, test } from "vitest";
import { inWorkspace, type TempWorkspace } from "../../test/support/temp-workspace.ts";
import type { Context } from "../capture/context.ts";
import { lookNow } from "../capture/look-now.ts";
import { resolveCheckpoint } from "../history/references.ts";
import type { ThreadId } from "../model/ids.ts";
import { at } from "../testing/written-snapshots.ts";
import type { LocalWorkspace } from "../workspace/local-workspace.ts";
import {
  isNothingListed,
  isNothingSelected,
  selectSteps,
  stepToUndo,
  type SelectedSteps,
  type StepRequest,
} from "./select-steps.ts";
import { ALL_RECORDED, unrecordedIn } from "../capture/unrecorded.ts";

const contextOf = (temp: TempWorkspace): Context => (temp.workspace as LocalWorkspace).runner.context;
const code = (expected: string) => expect.objectContaining({ code: expected }) as Error;

function request(kind: StepRequest["kind"], more: Partial<StepRequest> = {}): StepRequest {
  return { kind, count: 1, thread: undefined, includeShared: false, ...more };
}

/** What would move now, looked at without recording. */
function select(
  temp: TempWorkspace,
  kind: StepRequest["kind"],
  more: Partial<StepRequest> = {},
): SelectedSteps {
  const context = contextOf(temp);
  return selectSteps(context, request(kind, more), unrecordedIn(context, lookNow(context)));
}

const names = ({ steps }: SelectedSteps) => steps.map(({ description }) => description);
const changed = ({ changes }: SelectedSteps) => changes.map((delta) => delta.map(({ path }) => path));

/** Begins a turn of an agent whose command is running. */
async function beginWork(temp: TempWorkspace, name: string): Promise<ThreadId> {
  const thread = await temp.openThread(name);
  await temp.workspace.turns.prompt(thread, { content: name });
  await temp.workspace.turns.beginTool(thread, { tool: "Bash", toolUseId: `call of ${name}` });
  return thread;
}

describe("undo and redo", () => {
  test(
    "take the last steps, newest first, with what each changed",
    inWorkspace({ x: "0" }, async (temp) => {
      await temp.turn("one", () => temp.write("x", "1"));
      await temp.turn("two", () => temp.write("y", "2"));
      const both = select(temp, "undo", { count: 2 });
      expect([names(both), changed(both)]).toEqual([
        ["two", "one"],
        [["y"], ["x"]],
      ]);
      expect(names(select(temp, "undo"))).toEqual(["two"]);
      await temp.workspace.undo();
      expect([names(select(temp, "undo")), names(select(temp, "redo"))]).toEqual([["one"], ["two"]]);
    }),
  );

  test(
    "stay in a thread when asked to",
    inWorkspace({ x: "0" }, async (temp) => {
      const [a, b] = [await temp.openThread("a"), await temp.openThread("b")];
      await temp.turn("A's", () => temp.write("x", "1"), a);
      await temp.turn("B's", () => temp.write("y", "1"), b);
      expect(names(select(temp, "undo", { thread: a }))).toEqual(["A's"]);
      expect(names(select(temp, "undo"))).toEqual(["B's"]);
    }),
  );

  test(
    "are refused where there are fewer steps than asked for",
    inWorkspace({ x: "0" }, async (temp) => {
      await temp.turn("one", () => temp.write("x", "1"));
      expect(() => select(temp, "undo", { count: 2 })).toThrow(code("STEPS_MISSING"));
      expect(() => select(temp, "undo", { count: 2 })).toThrow("There is only 1 step, not 2.");
    }),
  );

  test(
    "of nothing select nothing, and no look is needed to know it",
    inWorkspace({ x: "0" }, async (temp) => {
      const context = contextOf(temp);
      for (const kind of ["undo", "redo"] as const) {
        expect(isNothingListed(context, request(kind))).toBe(true);
        expect(isNothingSelected(request(kind), select(temp, kind, { count: 3 }))).toBe(true);
      }
      await temp.turn("nothing", () => undefined);
      expect(isNothingListed(context, request("undo"))).toBe(true);
    }),
  );

  test(
    "a turn that is open may be something, in its own thread only",
    inWorkspace({ x: "0" }, async (temp) => {
      const thread = await beginWork(temp, "go");
      const other = await temp.openThread("other");
      const isNothing = (more: Partial<StepRequest>) =>
        isNothingListed(contextOf(temp), request("undo", more));
      expect([isNothing({}), isNothing({ thread }), isNothing({ thread: other })]).toEqual([
        false,
        false,
        true,
      ]);
      expect(isNothingListed(contextOf(temp), request("redo"))).toBe(true);
    }),
  );
});

describe("what no checkpoint has yet", () => {
  test(
    "belongs to the turn whose tool runs, and makes that the newest step",
    inWorkspace({ x: "0" }, async (temp) => {
      await temp.turn("earlier", () => temp.write("y", "1"));
      await beginWork(temp, "go");
      expect(names(select(temp, "undo"))).toEqual(["earlier"]);
      temp.write("x", "1");
      const selected = select(temp, "undo");
      expect([names(selected), changed(selected), selected.changing.length]).toEqual([["go"], [["x"]], 1]);
      expect(stepToUndo(contextOf(temp), lookNow(contextOf(temp)))?.description).toBe("go");
      // once everything is recorded, there is nothing of it left to add
      await temp.workspace.checkpoint();
      const recorded = selectSteps(contextOf(temp), request("undo"), ALL_RECORDED);
      expect([names(recorded), changed(recorded), recorded.changing]).toEqual([["go"], [["x"]], []]);
    }),
  );

  test(
    "is a person's where no tool runs: no step, but named",
    inWorkspace({ x: "0" }, async (temp) => {
      await temp.turn("one", () => temp.write("y", "1"));
      temp.write("x", "mine");
      const selected = select(temp, "undo");
      expect([names(selected), changed(selected)]).toEqual([["one"], [["y"]]]);
      expect(selected.outside.map(({ path }) => path)).toEqual(["x"]);
    }),
  );

  test(
    "is shared by the turns whose tools run together, unless all of them move",
    inWorkspace({ x: "0" }, async (temp) => {
      await beginWork(temp, "a");
      await beginWork(temp, "b");
      temp.write("x", "1");
      expect(select(temp, "undo").changes.flat()).toMatchObject([{ path: "x", shared: true }]);
      const both = select(temp, "undo", { count: 2 });
      expect([new Set(names(both)), both.windows.length]).toEqual([new Set(["a", "b"]), 2]);
      expect(both.changes.flat().map(({ shared }) => shared)).toEqual([false, false]);
    }),
  );

  test(
    "that cancels out what the turn did before leaves the turn out",
    inWorkspace({ x: "0" }, async (temp) => {
      await temp.turn("earlier", () => temp.write("y", "1"));
      await beginWork(temp, "go");
      temp.write("x", "1");
      await temp.workspace.checkpoint();
      temp.write("x", "0");
      expect(names(select(temp, "undo"))).toEqual(["earlier"]);
    }),
  );

  test(
    "after a restore is a new piece of the turn",
    inWorkspace({ x: "0" }, async (temp) => {
      const start = await temp.workspace.resolve("@");
      await beginWork(temp, "go");
      temp.write("x", "1");
      await temp.workspace.restoreTo(start.id);
      temp.write("x", "2");
      const selected = select(temp, "undo", { count: 3 });
      expect(names(selected)).toMatchObject([
        expect.stringMatching(/^go .*continued/),
        expect.stringMatching(/^Restored/),
        "go",
      ]);
      expect(changed(selected)).toEqual([["x"], ["x"], ["x"]]);
    }),
  );

  test(
    "is none of redo's business",
    inWorkspace({ x: "0" }, async (temp) => {
      await temp.turn("one", () => temp.write("y", "1"));
      await temp.workspace.undo();
      await beginWork(temp, "go");
      temp.write("x", "1");
      const selected = select(temp, "redo");
      expect([names(selected), changed(selected)]).toEqual([["one"], [["y"]]]);
    }),
  );
});

describe("revert", () => {
  test(
    "takes the whole step of a checkpoint, or what the checkpoint itself changed",
    inWorkspace({ x: "0" }, async (temp) => {
      await temp.turn("one", () => {
        temp.write("x", "1");
        temp.write("y", "1");
      });
      const ofTurn = resolveCheckpoint(contextOf(temp).store.db, "@");
      temp.write("z", "mine");
      const { checkpoint: byHand } = await temp.workspace.checkpoint();
      const step = select(temp, "revert", { target: ofTurn });
      expect([names(step), changed(step)]).toEqual([["one"], [["x", "y"]]]);
      const rows = select(temp, "revert", { target: byHand });
      expect([names(rows), changed(rows)]).toEqual([[], [["z"]]]);
    }),
  );

  test(
    "[R199] of a path that was not changed is refused; of nothing is nothing",
    inWorkspace({ x: "0" }, async (temp) => {
      await temp.turn("one", () => temp.write("d/x", "1"));
      const target = resolveCheckpoint(contextOf(temp).store.db, "@");
      const paths = (path: string) => ({ target, paths: [at(path)] });
      expect(changed(select(temp, "revert", paths("d")))).toEqual([["d", "d/x"]]);
      expect(() => select(temp, "revert", paths("x"))).toThrow(code("PATH_NOT_IN_CHECKPOINT"));
      expect(() => select(temp, "revert", paths(".git"))).toThrow("never captured");
      const { checkpoint: empty } = await temp.workspace.checkpoint();
      const selected = select(temp, "revert", { target: empty, paths: [at("x")] });
      expect(isNothingSelected(request("revert"), selected)).toBe(true);
      expect(isNothingListed(contextOf(temp), request("revert"))).toBe(false);
    }),
  );
});

test(
  "[R161] a step whose checkpoints were dropped is refused by name, and not skipped",
  inWorkspace({ x: "0" }, async (temp) => {
    await temp.turn("first", () => temp.write("x", "1"));
    await temp.turn("second", () => temp.write("x", "2"));
    contextOf(temp).store.db.transaction(() =>
      contextOf(temp).store.db.run("UPDATE step SET pruned = 1 WHERE description = 'second'"),
    );
    expect(() => select(temp, "undo")).toThrow(code("CONTENT_PRUNED"));
    expect(() => select(temp, "undo")).toThrow('The newest change, turn "second", can no longer be undone');
    expect(stepToUndo(contextOf(temp), lookNow(contextOf(temp)))).toBeNull();
  }),
);
