/** Fidelity at sizes that take their time: a huge file, a hundred thousand small ones. Only with BELAY_HEAVY=1. */
import { statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { inProject, runScript } from "./support/project.ts";
import { readIdentities } from "./support/tree-map.ts";

const isHeavy = process.env["BELAY_HEAVY"] === "1";

test.skipIf(!isHeavy)(
  "3,000,000,000 bytes: a gap by default, captured with a raised limit in bounded memory",
  { timeout: 900_000 },
  inProject({ small: "1" }, async (project) => {
    const huge = join(project.root, "huge.bin");
    writeFileSync(huge, "start");
    truncateSync(huge, 3_000_000_000);
    const workspace = await project.open();
    expect((await workspace.checkpoint()).gaps).toEqual([
      { path: "huge.bin", reason: "too-large", size: 3_000_000_000 },
    ]);
    const identity = readIdentities(project.root).get("huge.bin");
    project.write("small", "2");
    await workspace.restoreTo("@");
    expect(readIdentities(project.root).get("huge.bin")).toBe(identity);
    await project.close(workspace);
    project.configure({ "limits.fileBytes": "4GB", "limits.checkpointBytes": "8GB" });
    const measured = runScript<Record<string, number>>(
      project,
      `
      const time = async (work) => { const start = performance.now(); await work(); return Math.round(performance.now() - start); };
      const captureMs = await time(() => workspace.checkpoint({ name: "huge" }));
      fs.rmSync(root + "/huge.bin");
      const restoreMs = await time(() => workspace.restoreTo("huge"));
      return { captureMs, restoreMs, rssMiB: Math.round(process.resourceUsage().maxRSS / 1024), storeBytes: (await workspace.upkeep.stats()).diskBytes };`,
    );
    console.log("3,000,000,000 bytes:", measured, "blocks on disk", statSync(huge).blocks * 512);
    expect(statSync(huge).size).toBe(3_000_000_000);
    expect(measured["rssMiB"]).toBeLessThan(400);
    await project.open();
  }),
);

test.skipIf(!isHeavy)(
  "100,000 files captured, removed, restored",
  { timeout: 900_000 },
  inProject({}, async (project) => {
    for (let index = 0; index < 100_000; index += 1)
      project.write(`d${index % 500}/s${index % 7}/f${index}`, `content ${index}\n`);
    const before = project.tree();
    const measured = runScript<Record<string, number>>(
      project,
      `
      const time = async (work) => { const start = performance.now(); await work(); return Math.round(performance.now() - start); };
      // the process has done nothing else so far than start and make the first capture
      const firstMs = Math.round(performance.now());
      const againMs = await time(() => workspace.checkpoint({ name: "all" }));
      for (const name of fs.readdirSync(root)) fs.rmSync(root + "/" + name, { recursive: true });
      const restoreMs = await time(() => workspace.restoreTo("all"));
      const undoMs = await time(() => workspace.undo());
      const redoMs = await time(() => workspace.redo());
      return { firstMs, againMs, restoreMs, undoMs, redoMs, rssMiB: Math.round(process.resourceUsage().maxRSS / 1024), storeBytes: (await workspace.upkeep.stats()).diskBytes };`,
    );
    console.log("100,000 files:", measured);
    expect(project.tree()).toEqual(before);
    await project.open();
  }),
);
