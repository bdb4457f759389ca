/** Several processes on one workspace: no checkpoint is lost or torn, one restore at a time, one store for one root. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { listWorkspaces, openWorkspace } from "../src/index.ts";
import { FaultLab, hasCompiler } from "./support/fault-lab.ts";
import { inWorkspace, makeTempDirectory, startInProcess } from "./support/temp-workspace.ts";
import { findStageLeftovers, describeFile, readTreeMap } from "./support/tree-map.ts";
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
      const writers = Array.from({ length: 8 }, (_, index) => startInProcess<Acknowledged[]>(temp, WRITER(`w${index}`, 10)));
      await expectAcknowledged(temp, (await Promise.all(writers)).flat());
    }),
  );

  test(
    "[I61, G11] pruning and gc in between take nothing that was acknowledged",
    inWorkspace({ a: "0\n" }, async (temp) => {
      const writers = Array.from({ length: 3 }, (_, index) => startInProcess<Acknowledged[]>(temp, WRITER(`w${index}`, 15)));
      const collector = startInProcess<number>(
        temp,
        `const policy = { name: "none", keepAllHours: 0, keepTurnsHours: 0, keepMinimum: 0, keepMaximum: 0 };
         for (let n = 0; n < 15; n += 1) { await workspace.prune({ policy }); await workspace.gc(); }
         return 0;`,
      );
      const all = (await Promise.all(writers)).flat();
      await collector;
      await expectAcknowledged(temp, all);
    }),
  );

  test("[I61] processes that protect the same new directory at once share one store", async () => {
    const base = makeTempDirectory("belay-init-");
    const temp = { root: join(base, "root"), home: join(base, "home") };
    try {
      mkdirSync(temp.root);
      const writers = Array.from({ length: 4 }, (_, index) => startInProcess<Acknowledged[]>(temp, WRITER(`w${index}`, 2)));
      const all = (await Promise.all(writers)).flat();
      expect(await listWorkspaces({ home: temp.home })).toHaveLength(1);
      const workspace = await openWorkspace(temp.root, { home: temp.home });
      await expectAcknowledged({ workspace }, all);
      expect(await workspace.verify({ full: true })).toMatchObject({ ok: true });
      await workspace.close();
    } finally {
      rmSync(base, { recursive: true, force: true });
    }
  });
});

async function expectAcknowledged(temp: Parameters<typeof readCheckpointMap>[0], all: readonly Acknowledged[]): Promise<void> {
  const listed = new Set<string>((await temp.workspace.list()).map(({ id }) => id));
  expect(all.filter(({ id }) => !listed.has(id))).toEqual([]);
  expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
  for (const { id, path, content } of all) {
    expect((await readCheckpointMap(temp, id)).get(path)).toBe(describeFile(0o644, Buffer.from(content)));
  }
}

describe.skipIf(!hasCompiler)("a restore that does not end", { timeout: LIMIT_MS }, () => {
  const FILES = ["a", "b", "c", "d"];

  /** A workspace whose restore to checkpoint 1 rewrites four files. */
  async function inLab(body: (lab: FaultLab, calls: readonly string[]) => Promise<void>): Promise<void> {
    const lab = new FaultLab();
    try {
      const writeAll = (content: string) => FILES.forEach((name) => writeFileSync(join(lab.root, name), content));
      writeAll("0\n");
      const workspace = await openWorkspace(lab.root, { home: lab.home });
      writeAll("1\n");
      await workspace.close();
      lab.keep("start");
      const { calls } = await lab.run("restore", { at: 0, how: "kill" });
      lab.putBack("start");
      await body(lab, calls);
    } finally {
      lab.remove();
    }
  }

  /** The call that puts a file into its place. */
  const placing = ({ root }: FaultLab, calls: readonly string[], name: string) => calls.indexOf(`rename ${root}/${name}`) + 1;

  test("[R11, R21, I61] a second restore is refused while one runs; checkpoints go on and say what is in doubt", () =>
    inLab(async (lab, calls) => {
      const { child, ended } = lab.start("restore", { at: placing(lab, calls, "c"), how: "stop" });
      const before = readTreeMap(lab.root);
      while (isSameTree(readTreeMap(lab.root), before)) await sleep(20);
      await sleep(200);
      const workspace = await openWorkspace(lab.root, { home: lab.home });
      for (const refused of [() => workspace.restoreTo("1"), () => workspace.revert("1")]) {
        await expect(refused()).rejects.toMatchObject({ code: "RESTORE_RUNNING", facts: { pid: child.pid } });
      }
      const { checkpoint, doubts } = await workspace.checkpoint();
      expect(doubts.concat((await workspace.show(checkpoint.id)).doubts).map(({ reason }) => reason)).toContain("mid-restore");
      expect(findStageLeftovers(lab.root)).toHaveLength(1);
      child.kill("SIGCONT");
      expect(await ended).toMatchObject({ said: { done: true } });
      expect(FILES.map((name) => readTreeMap(lab.root).get(name))).toEqual(FILES.map(() => describeFile(0o644, Buffer.from("0\n"))));
      expect(await workspace.undo()).toMatchObject({ outcome: "applied" });
      expect(readTreeMap(lab.root)).toEqual(before);
      expect(await workspace.verify({ full: true })).toMatchObject({ ok: true });
      await workspace.close();
    }));

  test("[R10, N0] killed, and a file in its way edited afterwards: blocked once, the tree kept and saved", () =>
    inLab(async (lab, calls) => {
      await lab.run("restore", { at: placing(lab, calls, "c"), how: "kill" });
      writeFileSync(join(lab.root, "a"), "somebody's\n");
      const kept = readTreeMap(lab.root);
      const blocked = openWorkspace(lab.root, { home: lab.home });
      await expect(blocked).rejects.toMatchObject({ code: "RECOVERY_BLOCKED", facts: { paths: ["a"] } });
      expect(readTreeMap(lab.root)).toEqual(kept);
      const workspace = await openWorkspace(lab.root, { home: lab.home });
      expect(readTreeMap(lab.root)).toEqual(kept);
      expect(findStageLeftovers(lab.root)).toEqual([]);
      const [interrupted] = await workspace.list({ limit: 1 });
      expect(await readCheckpointMap({ workspace }, interrupted!.id)).toEqual(kept);
      expect(await workspace.verify({ full: true })).toMatchObject({ ok: true });
      await workspace.close();
    }));

  test("[R10, N0] killed, and a file in its way deleted afterwards: blocked as well", () =>
    inLab(async (lab, calls) => {
      await lab.run("restore", { at: placing(lab, calls, "c"), how: "kill" });
      rmSync(join(lab.root, "d"));
      const kept = readTreeMap(lab.root);
      const blocked = openWorkspace(lab.root, { home: lab.home });
      await expect(blocked).rejects.toMatchObject({ code: "RECOVERY_BLOCKED", facts: { paths: ["d"] } });
      expect(readTreeMap(lab.root)).toEqual(kept);
    }));

  test("several processes that find it at once: one recovers, none fails, it is one step", () =>
    inLab(async (lab, calls) => {
      const before = readTreeMap(lab.root);
      await lab.run("restore", { at: placing(lab, calls, "c"), how: "kill" });
      const openers = Array.from({ length: 6 }, () => startInProcess(lab, `return workspace.notices;`));
      const notices = await Promise.all(openers);
      expect(notices.flat()).toHaveLength(1);
      const workspace = await openWorkspace(lab.root, { home: lab.home });
      expect(await workspace.undo()).toMatchObject({ outcome: "applied", canUndo: false });
      expect(readTreeMap(lab.root)).toEqual(before);
      expect(await workspace.verify({ full: true })).toMatchObject({ ok: true });
      await workspace.close();
    }));
});

function isSameTree(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean {
  return a.size === b.size && [...a].every(([path, node]) => b.get(path) === node);
}
