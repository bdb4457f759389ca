/** Several processes on one workspace: no checkpoint is lost or torn, one store for one root. */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { listWorkspaces, openWorkspace } from "../src/index.ts";
import { makeDirectory } from "./support/place.ts";
import { inWorkspace, startInProcess } from "./support/temp-workspace.ts";
import { describeFile } from "./support/tree-map.ts";
import { readCheckpointMap } from "./support/workspace-model.ts";

const LIMIT_MS = 180_000;

/** Writes its own file again and again, with a checkpoint after each; returns what each checkpoint must hold. */
const WRITER = (own: string, times: number) => `
  const acknowledged = [];
  for (let n = 0; n < ${times}; n += 1) {
    fs.writeFileSync(root + "/${own}", "${own} " + n + "\\n");
    const { checkpoint } = await workspace.checkpoint();
    acknowledged.push({ id: checkpoint.id, path: "${own}", content: "${own} " + n + "\\n" });
  }
  return acknowledged;`;

interface Acknowledged {
  readonly id: string;
  readonly path: string;
  readonly content: string;
}

describe("several processes at once", { timeout: LIMIT_MS }, () => {
  test(
    "[I61, G7] 8 processes take 10 checkpoints each while files change: none is lost, each has what its process wrote",
    inWorkspace({ a: "0\n" }, async (temp) => {
      const writers = Array.from({ length: 8 }, (_, index) =>
        startInProcess<Acknowledged[]>(temp, WRITER(`w${index}`, 10)),
      );
      await expectAcknowledged(temp, (await Promise.all(writers)).flat());
    }),
  );

  test(
    "[I61, G11] pruning and gc in between take nothing that was acknowledged",
    inWorkspace({ a: "0\n" }, async (temp) => {
      const writers = Array.from({ length: 3 }, (_, index) =>
        startInProcess<Acknowledged[]>(temp, WRITER(`w${index}`, 15)),
      );
      const collector = startInProcess<number>(
        temp,
        `const policy = { name: "none", keepAllHours: 0, keepTurnsHours: 0, keepMinimum: 0, keepMaximum: 0 };
         for (let n = 0; n < 15; n += 1) { await workspace.upkeep.prune({ policy }); await workspace.upkeep.gc(); }
         return 0;`,
      );
      const all = (await Promise.all(writers)).flat();
      await collector;
      await expectAcknowledged(temp, all);
    }),
  );

  test("[I61] processes that protect the same new directory at once share one store", async () => {
    const base = makeDirectory("belay-init-");
    const temp = { root: join(base, "root"), home: join(base, "home") };
    try {
      mkdirSync(temp.root);
      const writers = Array.from({ length: 4 }, (_, index) =>
        startInProcess<Acknowledged[]>(temp, WRITER(`w${index}`, 2)),
      );
      const all = (await Promise.all(writers)).flat();
      expect(await listWorkspaces({ home: temp.home })).toHaveLength(1);
      const workspace = await openWorkspace(temp.root, { home: temp.home });
      await expectAcknowledged({ workspace }, all);
      expect(await workspace.upkeep.verify({ full: true })).toMatchObject({ ok: true });
      await workspace.close();
    } finally {
      rmSync(base, { recursive: true, force: true });
    }
  });
});

async function expectAcknowledged(
  temp: Parameters<typeof readCheckpointMap>[0],
  all: readonly Acknowledged[],
): Promise<void> {
  const listed = new Set<string>((await temp.workspace.list()).map(({ id }) => id));
  expect(all.filter(({ id }) => !listed.has(id))).toEqual([]);
  expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
  for (const { id, path, content } of all) {
    expect((await readCheckpointMap(temp, id)).get(path)).toBe(describeFile(0o644, Buffer.from(content)));
  }
}
