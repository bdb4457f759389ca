/**
 * A restore is killed at any of its calls below a parent that never reaps, as the first process of many
 * containers: a zombie is left. The next command recognises it as dead, recovers, and does its own work.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expectSound, type States } from "../../packages/engine/test/support/fault-check.ts";
import { FaultLab, hasCompiler } from "../../packages/engine/test/support/fault-lab.ts";
import { buildFaultProject } from "../../packages/engine/test/support/fault-project.ts";
import { readTreeMap } from "../../packages/engine/test/support/tree-map.ts";
import type { Suite } from "../suite.ts";

const COMMAND = join(import.meta.dirname, "../../packages/cli/bin/belay.js");
const KILLED_A_ROUND = 20;

export const zombie: Suite = {
  name: "zombie",
  unit: "restores killed and not reaped",
  goal: 200,
  short: 4,
  missing: () => (hasCompiler && existsSync("/proc/self/status") ? undefined : "no compiler, or no /proc"),
  async round(round) {
    const lab = new FaultLab();
    try {
      const known = await buildFaultProject(lab, round.random);
      lab.putBack("start");
      lab.counted = [lab.root];
      const before = readTreeMap(lab.root);
      const { calls } = await lab.run("restore");
      const states = { found: before, before, after: readTreeMap(lab.root), known };
      for (let number = 0; number < KILLED_A_ROUND && !round.isOver; number += 1) {
        const at = 1 + round.random.below(calls.length);
        await killAndGoOn(lab, at, states).catch((cause: unknown) => {
          throw new Error(`killed at call ${at} of ${calls.length}: ${calls[at - 1]}`, { cause });
        });
        round.count(calls[at - 1]!.split(" ")[0]!);
      }
    } finally {
      lab.remove();
    }
  },
};

async function killAndGoOn(lab: FaultLab, at: number, states: States): Promise<void> {
  lab.putBack("start");
  const parent = await lab.runUnreaped("restore", { at, how: "kill" });
  try {
    const { status, stdout } = spawnSync(process.execPath, [COMMAND, "restore", "1", "--yes", "--json"], {
      cwd: lab.root,
      env: { ...process.env, BELAY_HOME: lab.home },
      encoding: "utf8",
    });
    assert.equal(status, 0, stdout);
    assert.deepEqual(readTreeMap(lab.root), states.after);
    await expectSound(lab, states, { restore: false });
  } finally {
    parent.kill("SIGKILL");
  }
}
