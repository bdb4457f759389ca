/** The one way back, with descriptions made for the purpose: what it looks at, records, refuses and reports. */
import { rmSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { inWorkspace, type TempWorkspace } from "../../test/support/temp-workspace.ts";
import type { Context } from "../capture/context.ts";
import type { Present } from "../capture/look.ts";
import { lookUp } from "../diff/compare-trees.ts";
import { headSeq } from "../history/line.ts";
import { hashBytes } from "../model/object-hash.ts";
import { EMPTY_PLAN, type Conflict, type Outcome } from "../model/plan.ts";
import { readLeases } from "../store/lease.ts";
import { at } from "../testing/written-snapshots.ts";
import type { LocalWorkspace } from "../workspace/local-workspace.ts";
import { goBack, planBack, type PlanDraft, type Sight, type WayBack } from "./go-back.ts";

const contextOf = (temp: TempWorkspace): Context => (temp.workspace as LocalWorkspace).runner.context;
const newest = (temp: TempWorkspace) => headSeq(contextOf(temp).store.db);
const code = (expected: string) => expect.objectContaining({ code: expected }) as Error;

/** A plan that puts `text` into the file `x`. */
function writeX(text: string, { present, put }: Sight, more: Partial<PlanDraft> = {}): PlanDraft {
  const bytes = Buffer.from(text);
  const from = lookUp(present.objects, present.snapshot, at("x")).entry;
  const to = { kind: "file" as const, mode: 0o644, size: bytes.length, hash: put(bytes) };
  return {
    ...EMPTY_PLAN,
    kind: "restore",
    description: `Wrote ${text}`,
    checkpoint: null,
    thread: null,
    base: present.snapshot,
    edits: from?.kind === "file" && from.hash === to.hash ? [] : [{ path: at("x"), from, to }],
    ...more,
  };
}

/** A way back that writes `x`; `more` replaces parts of it. */
function way(text: string, more: Partial<WayBack> = {}): WayBack {
  return {
    safety: { description: `Before ${text}` },
    plan: (_, sight) => writeX(text, sight),
    isWorthDoing: ({ edits, conflicts }) => edits.length > 0 && conflicts.length === 0,
    finish: ({ system }, { description }) => ({
      kind: "restore",
      description,
      thread: null,
      target: null,
      step: { id: system.newId(), kind: "restore" },
      moved: [],
    }),
    ...more,
  };
}

const CONFLICT: Conflict = { path: at("x"), reason: "cannot be saved" };

describe("a preview", () => {
  test(
    "records nothing and touches nothing",
    inWorkspace({ x: "0" }, async (temp) => {
      temp.write("x", "mine");
      const before = newest(temp);
      const { plan } = planBack(contextOf(temp), way("1"));
      expect(plan.edits).toMatchObject([{ path: "x", to: { size: 1 } }]);
      expect([newest(temp), temp.read("x")]).toEqual([before, "mine"]);
      expect(contextOf(temp).store.objects.has(hashBytes(Buffer.from("1")))).toBe(false);
    }),
  );

  test(
    "is carried out as it was shown, under the same id",
    inWorkspace({ x: "0" }, async (temp) => {
      const { plan } = planBack(contextOf(temp), way("1"));
      const outcome = goBack(contextOf(temp), way("1"), { planned: plan });
      expect(outcome).toMatchObject({
        outcome: "applied",
        modified: 1,
        plan: { id: plan.id, edits: plan.edits },
      });
      expect(temp.read("x")).toBe("1");
    }),
  );

  test(
    "[R196] no longer holds when a file changed, or when the plan would be another one",
    inWorkspace({ x: "0", y: "0" }, async (temp) => {
      const context = contextOf(temp);
      const { plan } = planBack(context, way("1"));
      temp.write("y", "1");
      const before = newest(temp);
      expect(() => goBack(context, way("1"), { planned: plan })).toThrow(code("PLAN_STALE"));
      temp.write("y", "0");
      expect(() => goBack(context, way("2"), { planned: plan })).toThrow(code("PLAN_STALE"));
      expect([newest(temp), temp.read("x")]).toEqual([before, "0"]);
      expect(goBack(context, way("1"), { planned: plan }).outcome).toBe("applied");
    }),
  );

  test(
    "[R196] no longer holds when a step is recorded between the safety checkpoint and the plan made on it",
    inWorkspace({ x: "0" }, async (temp) => {
      const context = contextOf(temp);
      const { plan } = planBack(context, way("1"));
      const overtaken = way("1", { plan: (_, sight) => writeX(sight.isRecorded ? "another's" : "1", sight) });
      expect(() => goBack(context, overtaken, { planned: plan })).toThrow(code("PLAN_STALE"));
      expect(temp.read("x")).toBe("0");
      expect(readLeases(context.store.db, "restore")).toEqual([]);
      // it may hold the changes of steps at work, which that other checkpoint counts on
      expect((await temp.workspace.list({ limit: 1 }))[0]).toMatchObject({ kind: "safety" });
    }),
  );

  test(
    "[R196] of a path that is gone since: the files changed, whatever else stands in the way",
    inWorkspace({ x: "0" }, async (temp) => {
      temp.write("new", "1");
      const plan = await temp.workspace.planRestore("@", { paths: ["new"] });
      temp.remove("new");
      await expect(temp.workspace.restore(plan)).rejects.toMatchObject({ code: "PLAN_STALE" });
    }),
  );

  test(
    "no longer holds when there is nothing left to do",
    inWorkspace({ x: "0" }, async (temp) => {
      const context = contextOf(temp);
      const { plan } = planBack(context, way("1"));
      const nothing: Partial<WayBack> = {
        planWithoutLook: () => ({ ...plan, base: hashBytes(Buffer.alloc(0)), edits: [] }),
      };
      expect(() => goBack(context, way("1", nothing), { planned: plan })).toThrow(code("PLAN_STALE"));
    }),
  );
});

describe("the safety checkpoint", () => {
  test(
    "has what was there, and the result comes after it",
    inWorkspace({ x: "0" }, async (temp) => {
      temp.write("x", "mine");
      const { safetyCheckpoint, newCheckpoint } = goBack(contextOf(temp), way("1"));
      const content = async (ref: string | null) =>
        (await temp.workspace.file(ref, at("x"), 100))?.content?.toString();
      expect(await content(safetyCheckpoint)).toBe("mine");
      expect(await content(newCheckpoint)).toBe("1");
      expect((await temp.workspace.resolve(safetyCheckpoint!)).description).toBe("Before 1");
    }),
  );

  test(
    "is not taken for what is refused: nothing to do, or conflicts",
    inWorkspace({ x: "0" }, async (temp) => {
      temp.write("x", "mine");
      const [context, before] = [contextOf(temp), newest(temp)];
      const conflicts = way("1", { plan: (_, sight) => writeX("1", sight, { conflicts: [CONFLICT] }) });
      expect(goBack(context, way("mine"))).toMatchObject({ outcome: "unchanged", safetyCheckpoint: null });
      expect(goBack(context, conflicts)).toMatchObject({ outcome: "conflicts", conflicts: [CONFLICT] });
      expect([newest(temp), temp.read("x")]).toEqual([before, "mine"]);
    }),
  );

  test(
    "comes between the plan that is judged and the plan that is carried out",
    inWorkspace({ x: "0" }, async (temp) => {
      temp.write("x", "mine");
      const context = contextOf(temp);
      const calls: { isRecorded: boolean; seq: number; isStored: boolean }[] = [];
      const spy = way("merged", {
        plan(_, sight) {
          const draft = writeX("merged", sight);
          const isStored = context.store.objects.has(hashBytes(Buffer.from("merged")));
          calls.push({ isRecorded: sight.isRecorded, seq: headSeq(context.store.db), isStored });
          return draft;
        },
      });
      const before = newest(temp);
      goBack(context, spy);
      expect(calls.map(({ isRecorded, seq }) => [isRecorded, seq])).toEqual([
        [false, before],
        [true, before + 1],
      ]);
      expect([calls[0]!.isStored, temp.read("x")]).toEqual([false, "merged"]);
    }),
  );
});

describe("the look", () => {
  test(
    "is widened to what the way asks for, in a preview and when it is carried out",
    inWorkspace({ x: "0", ".belayignore": "secret\n", secret: "s" }, async (temp) => {
      const seen: boolean[] = [];
      const hasSecret = ({ objects, snapshot }: Present) =>
        lookUp(objects, snapshot, at("secret")).entry !== undefined;
      const wide = way("1", {
        look: () => ({
          widen: (present) => (hasSecret(present) ? undefined : { included: [at("secret")] }),
        }),
        plan(_, sight) {
          seen.push(hasSecret(sight.present));
          return writeX("1", sight);
        },
      });
      const { plan } = planBack(contextOf(temp), wide);
      goBack(contextOf(temp), wide, { planned: plan });
      expect(seen).toEqual([true, true, true]);
    }),
  );

  test(
    "is spared where the way knows that there is nothing to do, and so is the lease",
    inWorkspace({ x: "0" }, async (temp) => {
      const context = contextOf(temp);
      const idle = way("1", {
        planWithoutLook: () => ({
          ...EMPTY_PLAN,
          kind: "undo",
          description: "",
          checkpoint: null,
          thread: null,
          base: hashBytes(Buffer.alloc(0)),
        }),
        plan() {
          throw new Error("it was planned all the same");
        },
        end(_, outcome) {
          expect(readLeases(context.store.db, "restore")).toEqual([]);
          return outcome;
        },
      });
      expect(planBack(context, idle).plan).toMatchObject({ kind: "undo", edits: [] });
      expect(goBack(context, idle)).toMatchObject({ outcome: "unchanged", canUndo: false });
    }),
  );

  test(
    "a missing root is made again by a way that can plan without it, and by no other",
    inWorkspace({ x: "0" }, async (temp) => {
      const context = contextOf(temp);
      rmSync(temp.root, { recursive: true });
      expect(() => planBack(context, way("1"))).toThrow(code("WORKSPACE_EMPTIED"));
      expect(() => goBack(context, way("1"))).toThrow(code("WORKSPACE_EMPTIED"));
      const target = await temp.workspace.resolve("@");
      const plan = await temp.workspace.planRestore(target.id);
      expect(plan.edits).toMatchObject([{ path: "x", from: undefined }]);
      expect(await temp.workspace.restore(plan)).toMatchObject({ outcome: "applied", created: 1 });
      expect(temp.read("x")).toBe("0");
    }),
  );
});

describe("its end", () => {
  test(
    "is told the outcome in every case, and adds to the report",
    inWorkspace({ x: "0" }, async (temp) => {
      const context = contextOf(temp);
      const ended: string[] = [];
      const ends = (text: string, more: Partial<WayBack> = {}): WayBack<Outcome & { more: string }> => ({
        ...way(text, more),
        end(_, outcome) {
          ended.push(outcome.outcome);
          return { ...outcome, more: `after ${outcome.outcome}` };
        },
      });
      const conflicts = { plan: (_: Context, sight: Sight) => writeX("2", sight, { conflicts: [CONFLICT] }) };
      expect(goBack(context, ends("1")).more).toBe("after applied");
      expect(goBack(context, ends("1")).more).toBe("after unchanged");
      expect(goBack(context, ends("2", conflicts)).more).toBe("after conflicts");
      expect(ended).toEqual(["applied", "unchanged", "conflicts"]);
    }),
  );

  test(
    "an error gives the lease back and records nothing",
    inWorkspace({ x: "0" }, async (temp) => {
      temp.write("x", "mine");
      const [context, before] = [contextOf(temp), newest(temp)];
      const broken = way("1", {
        plan() {
          throw new Error("broken");
        },
      });
      expect(() => goBack(context, broken)).toThrow("broken");
      expect([newest(temp), readLeases(context.store.db, "restore")]).toEqual([before, []]);
      expect(goBack(context, way("1")).outcome).toBe("applied");
    }),
  );

  test(
    "best effort carries out what it can, and says that it was not all",
    inWorkspace({ x: "0", y: "0" }, async (temp) => {
      const partly = way("1", {
        plan: (_, sight) =>
          writeX("1", sight, { conflicts: [{ path: at("y"), reason: "changed differently meanwhile" }] }),
        isWorthDoing: ({ edits }, bestEffort) => bestEffort && edits.length > 0,
      });
      expect(goBack(contextOf(temp), partly).outcome).toBe("conflicts");
      expect(goBack(contextOf(temp), partly, { bestEffort: true })).toMatchObject({
        outcome: "partial",
        modified: 1,
      });
      expect(temp.read("x")).toBe("1");
    }),
  );
});
