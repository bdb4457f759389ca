/**
 * Turns of several tool calls under narrow settings: files outgrow the limit, give way to FIFOs, leave the
 * rules by a `.belayignore`, and the store reaches its cap meanwhile. After undo, everything is as before the
 * turn.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { appendFileSync, existsSync, lstatSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { writeSetting } from "../../packages/engine/src/index.ts";
import { inWorkspace, type TempWorkspace } from "../../packages/engine/test/support/temp-workspace.ts";
import type { Round, Suite } from "../suite.ts";

const FILES = { a: "a\n", "b.txt": "b\n", "d/x": "x\n", "d/e/y.txt": "y\n" };
const FILE_LIMIT_BYTES = 700_000;
const CAP_BYTES = 3_100_000;
const EARLIER_TURNS = 4;
const TURNS_A_ROUND = 40;

export const narrow: Suite = {
  name: "narrow",
  unit: "turns",
  goal: 3_000,
  short: 12,
  async round(round) {
    for (let turn = 0; turn < TURNS_A_ROUND && !round.isOver; turn += 1) {
      const isCapped = round.random.below(4) === 0;
      await inWorkspace(FILES, (temp) => playTurn(temp, round, isCapped))();
      round.count(isCapped ? "at the cap" : "with room");
    }
  },
};

async function playTurn(temp: TempWorkspace, { random }: Round, isCapped: boolean): Promise<void> {
  writeSetting(temp.home, "limits.fileBytes", String(FILE_LIMIT_BYTES));
  if (isCapped) writeSetting(temp.home, "disk.capBytes", String(CAP_BYTES));
  await temp.reopen();
  const { workspace, root } = temp;
  for (let turn = 0; isCapped && turn < EARLIER_TURNS; turn += 1)
    await temp.turn(`earlier ${turn}`, () => writeFileSync(join(root, "noise"), randomBytes(600_000)));
  const before = temp.tree();
  const done: string[] = [];
  const { places, changes } = random.pick(WORLDS);
  const thread = await temp.openThread("agent");
  await workspace.turns.prompt(thread, { content: "narrow" });
  for (let call = 0; call < 4; call += 1) {
    const toolUseId = `call ${call}`;
    await workspace.turns.beginTool(thread, { tool: "Bash", toolUseId });
    if (isCapped) writeFileSync(join(root, `noise-${call}`), randomBytes(250_000));
    for (let edits = random.below(3); edits >= 0; edits -= 1)
      done.push(change(root, random.pick(places), random.pick(changes)));
    await workspace.turns.endTool(thread, { toolUseId });
    done.push("captured");
  }
  if (random.below(2) === 0) await workspace.turns.end(thread);
  const { outcome, conflicts } = await workspace.undo();
  const after = temp.tree();
  const differing = [...before].filter(([path, node]) => after.get(path) !== node).map(([path]) => path);
  const refused = conflicts.map(({ path, reason }) => `${path}: ${reason}`);
  const told = [`${outcome}: ${done.join(", ")}`, ...refused].join("\n");
  assert.deepEqual(differing, [], told);
}

type Change = readonly [name: string, make: (path: string) => void];

const WRITTEN: Change = ["written", (path) => writeFileSync(path, `${Math.random()}\n`)];
const REMOVED: Change = ["removed", () => undefined];

/**
 * What leaves the rules stays what it is, or goes: what comes new in a place that is left out was never captured, and is
 * not to be taken away.
 */
const WORLDS: readonly { readonly places: readonly string[]; readonly changes: readonly Change[] }[] = [
  {
    places: Object.keys(FILES),
    changes: [["edited", WRITTEN[1]], REMOVED, ["ignored", () => undefined]],
  },
  {
    places: [...Object.keys(FILES), "d", "d/e", "new"],
    changes: [
      WRITTEN,
      REMOVED,
      ["over the limit", (path) => writeFileSync(path, "y".repeat(FILE_LIMIT_BYTES + 1))],
      ["a FIFO", (path) => execFileSync("mkfifo", [path])],
    ],
  },
];

/** Puts something else into a place; where a file stands in the way of its directory nothing is done. */
function change(root: string, place: string, [name, make]: Change): string {
  const path = join(root, place);
  if (name === "ignored") appendFileSync(join(root, ".belayignore"), `${place}\n`);
  else if (isBlocked(root, dirname(place)) || (name === "edited" && !existsSync(path)))
    return `${place} not ${name}`;
  else {
    rmSync(path, { recursive: true, force: true });
    if (name !== "removed") mkdirSync(dirname(path), { recursive: true });
    make(path);
  }
  return `${place} ${name}`;
}

function isBlocked(root: string, directory: string): boolean {
  if (directory === ".") return false;
  if (isBlocked(root, dirname(directory))) return true;
  return lstatSync(join(root, directory), { throwIfNoEntry: false })?.isDirectory() === false;
}
