/** Programs that look at a merge before it changes a file: checks, and files that are generated again. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import type { CheckRun, MergePlan, MergePrograms } from "../src/index.ts";
import { inWorkspace, type TempWorkspace } from "./support/temp-workspace.ts";

const LINES = Array.from({ length: 12 }, (_, at) => `line ${at + 1}\n`).join("");

async function switchTo({ workspace }: TempWorkspace, name: string): Promise<void> {
  expect(await workspace.restore(await workspace.planSwitch(name))).toMatchObject({ outcome: "applied" });
}

/** Branches that begin together, each with its own work. */
async function work(temp: TempWorkspace, branches: Readonly<Record<string, () => void>>): Promise<void> {
  for (const name of Object.keys(branches)) await temp.workspace.createBranch(name);
  for (const [name, change] of Object.entries(branches)) {
    await switchTo(temp, name);
    change();
  }
  await switchTo(temp, "main");
}

/** A check that fails while both of two files are there, and notes every state it saw. */
function never(...together: readonly string[]): { seen: string[][]; check: MergePrograms["check"] } {
  const seen: string[][] = [];
  const check = async (directory: string): Promise<CheckRun> => {
    seen.push(readdirSync(directory).sort());
    const isBad = together.every((name) => existsSync(join(directory, name)));
    return { command: ["check"], exitCode: isBad ? 1 : 0, durationMs: 1, output: isBad ? "too many\n" : "" };
  };
  return { seen, check };
}

const leftovers = ({ root }: TempWorkspace) =>
  readdirSync(dirname(root)).filter((name) => name === ".belay-forks");

const outcomes = ({ merge }: MergePlan) => merge.sources.map(({ name, outcome }) => `${name} ${outcome}`);

test(
  "[R793] a check tries the result in a scratch copy with its dependencies, before any file changes",
  inWorkspace({ a: LINES, "node_modules/x/index.js": "x", ".gitignore": "node_modules\n" }, async (temp) => {
    await work(temp, { f: () => temp.write("b", "by f\n") });
    const seen: string[] = [];
    const plan = await temp.workspace.planMerge(["f"], {
      programs: {
        check: async (directory) => {
          seen.push(directory);
          expect(readFileSync(join(directory, "b"), "utf8")).toBe("by f\n");
          expect(readFileSync(join(directory, "node_modules/x/index.js"), "utf8")).toBe("x");
          expect(existsSync(join(temp.root, "b"))).toBe(false);
          // what a check writes stays where it is
          writeFileSync(join(directory, "a"), "broken");
          return { command: ["true"], exitCode: 0, durationMs: 3, output: "" };
        },
      },
    });
    expect(seen).toHaveLength(1);
    expect(existsSync(seen[0]!)).toBe(false);
    expect(leftovers(temp)).toEqual([]);
    expect(plan.merge.checks).toEqual([{ command: ["true"], source: null, exitCode: 0, durationMs: 3 }]);
    const done = await temp.workspace.merge(plan);
    expect(done).toMatchObject({ outcome: "applied", merge: { checks: [{ exitCode: 0 }] } });
    expect([temp.read("a"), temp.read("b")]).toEqual([LINES, "by f\n"]);
  }),
);

test(
  "[R793] the source whose addition makes the check fail is held back whole; it comes in only when a person says so",
  inWorkspace({ a: LINES }, async (temp) => {
    await work(temp, {
      one: () => temp.write("one", "1\n"),
      two: () => temp.write("two", "2\n"),
      three: () => temp.write("three", "3\n"),
    });
    const { seen, check } = never("one", "two");
    const { merges } = temp.workspace;
    const plan = await temp.workspace.planMerge(["one", "two", "three"], { programs: { check } });
    expect(outcomes(plan)).toEqual(["one merged", "two held", "three merged"]);
    // all; none; one; one and two; one and three
    expect(seen.map((names) => names.filter((name) => name !== "a").join())).toEqual([
      "one,three,two",
      "",
      "one",
      "one,two",
      "one,three",
    ]);
    expect(await temp.workspace.merge(plan)).toMatchObject({ outcome: "partial", created: 2 });
    const [conflict, ...others] = await temp.workspace.conflicts();
    expect(others).toEqual([]);
    expect(conflict).toMatchObject({
      path: "",
      kind: "check",
      severity: "critical",
      source: "two",
      options: ["theirs"],
      reason: "check ends with 1 once two is merged: too many",
      regions: [],
      base: null,
    });
    await expect(temp.workspace.resolve(conflict!.id, { content: Buffer.from("x") })).rejects.toMatchObject({
      code: "ANSWER_REFUSED",
    });
    expect(await temp.workspace.resolve(conflict!.id, { take: "theirs" })).toMatchObject({ open: 0 });
    const rest = await merges.planRest(plan.merge.id, { programs: { check } });
    expect(await temp.workspace.merge(rest)).toMatchObject({
      outcome: "applied",
      merge: { state: "applied" },
    });
    expect(temp.read("two")).toBe("2\n");
    for (let times = 0; times < 2; times += 1) await temp.workspace.undo();
    expect(Object.keys(temp.tree())).not.toContain("one");
  }),
);

test(
  "[R793] a check that fails without the merge blames no source: nothing is merged; with partial, what fails is held all the same",
  inWorkspace({ a: LINES, one: "1\n" }, async (temp) => {
    await work(temp, { f: () => temp.write("b", "b\n"), g: () => temp.write("g", "g\n") });
    await expect(
      temp.workspace.planMerge(["f"], { programs: { check: never("one").check } }),
    ).rejects.toMatchObject({
      code: "CHECK_FAILED",
      facts: { exitCode: 1, output: "too many\n" },
    });
    const partly = await temp.workspace.planMerge(["f", "g"], {
      onConflict: "partial",
      programs: { check: never("g").check },
    });
    expect(outcomes(partly)).toEqual(["f merged", "g held"]);
    expect(await temp.workspace.merge(partly)).toMatchObject({ outcome: "partial", created: 1 });
    expect(temp.read("b")).toBe("b\n");
  }),
);

/** A lock that lists what the manifest names: only the sum of both manifests gives the right one. */
const lockOf = (manifest: string) =>
  `${JSON.stringify({ lockfileVersion: 3, packages: JSON.parse(manifest) as string[] }, undefined, 2)}\n`;

test(
  "[R794] a lock file is generated again from the merged manifest, source by source, and is not decided by anyone",
  inWorkspace({ "p/list.json": '[\n"a",\n\n"m",\n\n"z"\n]\n', a: LINES }, async (temp) => {
    const set = (manifest: string) => {
      temp.write("p/list.json", manifest);
      temp.write("p/package-lock.json", lockOf(manifest));
    };
    set('[\n"a",\n\n"m",\n\n"z"\n]\n');
    await work(temp, {
      f: () => set('[\n"a", "f",\n\n"m",\n\n"z"\n]\n'),
      g: () => set('[\n"a",\n\n"m", "g",\n\n"z"\n]\n'),
      h: () => set('[\n"a",\n\n"m",\n\n"z", "h"\n]\n'),
    });
    const plain = await temp.workspace.planMerge(["f", "g", "h"]);
    expect(plain.merge.conflicts.map(({ kind, path }) => `${kind} ${path}`)).toContain(
      "lock p/package-lock.json",
    );
    const asked: string[] = [];
    const plan = await temp.workspace.planMerge(["f", "g", "h"], {
      programs: {
        regenerate: async (directory, path, kind) => {
          asked.push(`${kind} ${path}`);
          return Buffer.from(lockOf(readFileSync(join(directory, dirname(path), "list.json"), "utf8")));
        },
      },
    });
    expect(plan.merge).toMatchObject({ conflicts: [], state: "applied" });
    expect(outcomes(plan)).toEqual(["f merged", "g merged", "h merged"]);
    expect(new Set(asked)).toEqual(new Set(["lock p/package-lock.json"]));
    expect(plan.merge.merged).toContainEqual(
      expect.objectContaining({ path: "p/package-lock.json", how: "lock", severity: "medium" }),
    );
    expect(await temp.workspace.merge(plan)).toMatchObject({ outcome: "applied" });
    expect(JSON.parse(temp.read("p/package-lock.json"))).toEqual({
      lockfileVersion: 3,
      packages: ["a", "f", "m", "g", "z", "h"],
    });
    expect(temp.read("p/package-lock.json")).toBe(lockOf(temp.read("p/list.json")));
  }),
);

test(
  "[R794] where the manifest itself is to be decided, the lock waits for it, and is generated then",
  inWorkspace({ "package.json": '{"v":1}\n', "package-lock.json": '{"v":1}\n' }, async (temp) => {
    const set = (version: number) => {
      temp.write("package.json", `{"v":${version}}\n`);
      temp.write("package-lock.json", `{"v":${version},"at":${version}}\n`);
    };
    await work(temp, { f: () => set(2) });
    set(3);
    const { merges } = temp.workspace;
    let runs = 0;
    const regenerate = async (directory: string) => {
      runs += 1;
      return Buffer.from(readFileSync(join(directory, "package.json")).toString().replace("v", "made"));
    };
    const held = await temp.workspace.merge(
      await temp.workspace.planMerge(["f"], { programs: { regenerate } }),
    );
    expect(held).toMatchObject({ outcome: "conflicts" });
    expect(runs).toBe(0);
    const { id } = held.merge;
    expect(await merges.regenerate(id, { regenerate })).toEqual([]);
    await temp.workspace.resolve("package.json", { take: "theirs" });
    expect(await merges.regenerate(id, { regenerate })).toMatchObject([
      { open: 0, conflict: { path: "package-lock.json", resolution: { by: "auto", take: "regenerate" } } },
    ]);
    const done = await temp.workspace.merge(await merges.planRest(id));
    expect(done).toMatchObject({
      outcome: "applied",
      merge: { resolution: { autoResolved: 1, userResolved: 1, success: true } },
    });
    expect(temp.read("package-lock.json")).toBe('{"made":2}\n');
  }),
);

test(
  "[R793] what a killed process left of a scratch copy is removed by the next one",
  inWorkspace({ a: LINES }, async (temp) => {
    await work(temp, { f: () => temp.write("b", "b\n") });
    const dead = Buffer.from(JSON.stringify([999_999_999, "1", ""])).toString("base64url");
    const place = join(dirname(temp.root), ".belay-forks", "root");
    const left = join(place, `.scratch-kkkkkkkkkkkkkkkk-${dead}`);
    mkdirSync(join(left, "root"), { recursive: true });
    writeFileSync(join(left, "root", "a"), "half");
    const plan = await temp.workspace.planMerge(["f"], { programs: { check: never("none").check } });
    expect(existsSync(left)).toBe(false);
    expect(leftovers(temp)).toEqual([]);
    await temp.workspace.merge(plan);
  }),
);
