/** How far a restore is, for those who wait for it. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createSystem, openWorkspace, type WorkspaceEvent } from "../src/index.ts";
import { makeDirectory } from "./support/place.ts";

test("[R2340] a restore that takes long tells how far it is", async () => {
  const base = makeDirectory("belay-progress-");
  const [root, home] = [join(base, "root"), join(base, "home")];
  let elapsedMs = 0;
  // a clock on which every look takes a fifth of a second: the last file falls between two times to tell
  const system = { ...createSystem(), elapsed: () => (elapsedMs += 200) };
  try {
    mkdirSync(root);
    for (let at = 0; at < 10; at += 1) writeFileSync(join(root, `${at}`), "0\n");
    await using workspace = await openWorkspace(root, { home, system });
    for (let at = 0; at < 10; at += 1) writeFileSync(join(root, `${at}`), "1\n");
    const events = workspace.events.read({ after: 0 });
    await workspace.restoreTo("1");
    const told: WorkspaceEvent[] = [];
    for await (const event of events) {
      if (event.type.startsWith("restore")) told.push(event);
      if (event.type === "restore_progress" && event.phase === "clearing" && event.done === event.total)
        break;
    }
    const progress = told.filter((event) => event.type === "restore_progress");
    expect(progress.every(({ total }) => total === 10)).toBe(true);
    expect(new Set(told.map((event) => ("operation" in event ? event.operation : "")))).toHaveLength(1);
    for (const phase of ["saving", "staging", "changing", "clearing"]) {
      const done = progress.filter((each) => each.phase === phase).map((each) => each.done);
      expect(done.length, phase).toBeGreaterThan(1);
      expect(done).toEqual(done.toSorted((a, b) => a - b));
    }
    expect(progress.at(-1), "also the last file").toMatchObject({ phase: "clearing", done: 10 });
    // no file is touched before `restore_started`
    const order = told.map((event) => (event.type === "restore_progress" ? event.phase : event.type));
    expect(order.filter((each, at) => each !== order[at - 1])).toEqual([
      "saving",
      "staging",
      "restore_started",
      "changing",
      "restore_finished",
      "clearing",
    ]);
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
});

test("[R262] a restore tells its caller, between two files, what it is doing and how far it is", async () => {
  const base = makeDirectory("belay-progress-");
  const [root, home] = [join(base, "root"), join(base, "home")];
  try {
    mkdirSync(root);
    for (let at = 0; at < 10; at += 1) writeFileSync(join(root, `${at}`), "0\n");
    await using workspace = await openWorkspace(root, { home });
    for (let at = 0; at < 10; at += 1) writeFileSync(join(root, `${at}`), "1\n");
    const told: string[] = [];
    workspace.tellProgress(({ phase, done, total }) => told.push(`${phase} ${done}/${total}`));
    await workspace.restoreTo("1");
    const counted = (phase: string, from: number) =>
      Array.from({ length: 10 }, (_, at) => `${phase} ${at + from}/10`);
    const phases = [
      ...counted("saving", 0),
      "saving 10/10",
      ...counted("staging", 0),
      ...counted("changing", 1),
      // when it is recorded: how much there is, as it begins, and its end
      "clearing 0/10",
      "clearing 10/10",
    ];
    expect(told).toEqual(phases);
    workspace.tellProgress(undefined);
    await workspace.undo();
    expect(told).toHaveLength(phases.length);
    const gc: number[][] = [];
    await workspace.upkeep.gc({ progress: (...at) => gc.push(at) });
    expect(gc.length).toBeGreaterThan(0);
    const checked: number[][] = [];
    const { objects } = await workspace.upkeep.verify({ full: true, progress: (...at) => checked.push(at) });
    expect(checked.at(-1)).toEqual([objects, objects]);
    expect(checked.map(([done]) => done)).toEqual(checked.map((_, at) => at + 1));
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
});
