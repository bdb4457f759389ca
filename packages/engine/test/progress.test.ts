/** How far a restore is, for those who wait for it. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createSystem, openWorkspace, type WorkspaceEvent } from "../src/index.ts";
import { makeDirectory } from "./support/place.ts";

test("a restore that takes long tells how far it is", async () => {
  const base = makeDirectory("belay-progress-");
  const [root, home] = [join(base, "root"), join(base, "home")];
  let elapsedMs = 0;
  // a clock on which every look takes a third of a second
  const system = { ...createSystem(), elapsed: () => (elapsedMs += 333) };
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
      if (event.type === "restore_finished") break;
    }
    const progress = told.slice(1, -1) as Extract<WorkspaceEvent, { type: "restore_progress" }>[];
    expect([told[0]!.type, told.at(-1)!.type]).toEqual(["restore_started", "restore_finished"]);
    expect(progress.length).toBeGreaterThan(1);
    expect(progress.every(({ type, total }) => type === "restore_progress" && total === 10)).toBe(true);
    const done = progress.map((each) => each.done);
    expect(done).toEqual(done.toSorted((a, b) => a - b));
    expect(done.at(-1)).toBeLessThanOrEqual(10);
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
});
