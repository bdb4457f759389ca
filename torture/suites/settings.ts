/**
 * Other processes change settings at random while a resident process works: its next work uses them, and the
 * defaults again once they are unset.
 */
import assert from "node:assert/strict";
import { writeSetting } from "../../packages/engine/src/index.ts";
import { ServedProject } from "../../packages/server/test/support/served-project.ts";
import type { Round, Suite } from "../suite.ts";

const CHANGES_A_ROUND = 60;
const MIB = 1024 * 1024;

/** The model: what is set at present. */
type Set = Map<string, string>;

export const settings: Suite = {
  name: "settings",
  unit: "changes",
  goal: 3_000,
  short: 40,
  async round(round) {
    await using project = await ServedProject.start({ "small.bin": "x".repeat(3000) });
    const set: Set = new Map();
    for (let change = 0; change < CHANGES_A_ROUND && !round.isOver; change += 1) {
      changeOne(project, set, round);
      await expectInEffect(project, set);
    }
  },
};

const VALUES: Readonly<Record<string, readonly string[]>> = {
  "limits.fileBytes": ["1000", "2000", "5000"],
  "disk.capBytes": [String(64 * MIB), String(128 * MIB)],
  "retention.policy": ["supervisor", "moldable"],
  "checkpoints.automatic": ["off", "on"],
};

function changeOne(project: ServedProject, set: Set, { random, count }: Round): void {
  const key = random.pick(Object.keys(VALUES));
  const value = random.below(3) === 0 ? undefined : random.pick(VALUES[key]!);
  if (random.below(8) === 0) {
    const { status } = project.belay("config", key, value ?? "--unset");
    assert.equal(status, 0);
  } else writeSetting(project.home, key, value ?? null);
  if (value === undefined) set.delete(key);
  else set.set(key, value);
  count(value === undefined ? "taken back" : "set");
}

async function expectInEffect(project: ServedProject, set: Set): Promise<void> {
  const { checkpoint } = await project.ok("POST", "/api/checkpoints", {});
  const { disk } = await project.ok("GET", "/api/status");
  const { thread } = await project.ok("POST", "/api/threads", {});
  const prompt = { role: "user", content: "go on" };
  const { message } = await project.ok("POST", `/api/threads/${thread.id}/messages`, prompt);
  assert.deepEqual(
    { gaps: checkpoint.gaps.length, cap: disk.capBytes, isAutomatic: message.checkpoint !== null },
    {
      gaps: Number(set.get("limits.fileBytes") ?? Infinity) < 3000 ? 1 : 0,
      cap: Number(set.get("disk.capBytes") ?? 10 * 1024 * MIB),
      isAutomatic: set.get("checkpoints.automatic") !== "off",
    },
  );
}
