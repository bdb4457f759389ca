/**
 * Random rollbacks: each is whole, or nothing changed. Some are stopped in the middle. The long form:
 * `BELAY_ROLLBACKS=1000 npx vitest run packages/engine/test/rollback.property.test.ts`.
 */
import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { EngineError, type CheckpointId } from "../src/index.ts";
import { createSeededRandom } from "./support/seeded-random.ts";
import { inWorkspace, type TempWorkspace } from "./support/temp-workspace.ts";
import type { TreeMap } from "./support/tree-map.ts";

const ROLLBACKS = Number(process.env["BELAY_ROLLBACKS"] ?? 60);
const SEED = Number(process.env["BELAY_SEED"] ?? 20_261_117);

type Random = ReturnType<typeof createSeededRandom>;

/** Files and links: empty directories are the user's, and stay. */
function nodesOf(tree: TreeMap): [string, string][] {
  return [...tree].filter(([, node]) => !node.startsWith("directory"));
}

const NAMES = ["a", "b", "dir/a", "dir/b", "dir/deep/a", "other/a", "other/b"];

/** Writes, deletes and replaces files, and makes links and directories in their place. */
function change({ root, write }: TempWorkspace, random: Random): void {
  for (let left = 1 + random.below(6); left > 0; left -= 1) {
    const name = NAMES[random.below(NAMES.length)]!;
    rmSync(join(root, name), { recursive: true, force: true });
    const kind = random.below(8);
    if (kind === 0) continue;
    const path = join(root, name);
    mkdirSync(join(path, ".."), { recursive: true });
    if (kind === 1) symlinkSync(`to-${random.below(9)}`, path);
    else if (kind === 2) write(`${name}/inside`, `${random.below(1e6)}\n`);
    else write(name, `${random.below(1e6)}\n`);
  }
}

test(
  `[Y78] [Y83] ${ROLLBACKS} random rollbacks, some of them stopped: each whole, or nothing (seed ${SEED})`,
  inWorkspace({ a: "0\n", "dir/a": "0\n" }, async (temp) => {
    const { workspace } = temp;
    const random = createSeededRandom(SEED);
    const states: { id: CheckpointId; nodes: [string, string][] }[] = [];
    const counts = { whole: 0, stopped: 0 };
    for (let round = 0; round < ROLLBACKS; round += 1) {
      change(temp, random);
      states.push({ id: (await workspace.checkpoint()).id, nodes: nodesOf(temp.tree()) });
      change(temp, random);
      const before = temp.tree();
      const target = states[random.below(states.length)]!;
      const stopAfter = random.below(3) === 0 ? random.below(8) : Infinity;
      let asked = 0;
      workspace.interruptedBy({
        count: () => ((asked += 1) > stopAfter ? 1 : 0),
        takingBack: () => undefined,
      });
      try {
        const { outcome } = await workspace.restoreTo(target.id);
        expect(["applied", "unchanged"]).toContain(outcome);
        expect(nodesOf(temp.tree())).toEqual(target.nodes);
        counts.whole += 1;
      } catch (error) {
        if (!(error instanceof EngineError) || error.code !== "INTERRUPTED") throw error;
        expect(temp.tree()).toEqual(before);
        counts.stopped += 1;
      } finally {
        workspace.interruptedBy(undefined);
      }
    }
    expect(counts.whole + counts.stopped).toBe(ROLLBACKS);
    // both ends were reached, or nothing was shown
    expect(Math.min(counts.whole, counts.stopped)).toBeGreaterThan(0);
  }),
  120_000,
);
