/**
 * A restore that is stopped or killed in the middle, and what others do in the meantime: a second restore, a
 * checkpoint, a write to a file that is just being exchanged. Theirs is never lost.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openWorkspace, type Workspace } from "../src/index.ts";
import { FaultLab, hasCompiler, type Fault } from "./support/fault-lab.ts";
import { REHEARSED_FILES, rehearseRestore } from "./support/rehearse-restore.ts";
import { untilStandingStill } from "./support/standing-still.ts";
import { startInProcess } from "./support/temp-workspace.ts";
import { describeFile, findStageLeftovers, readTreeMap, type TreeMap } from "./support/tree-map.ts";
import { readCheckpointMap } from "./support/workspace-model.ts";

const LIMIT_MS = 180_000;
const THEIRS = "another program's\n";

/** A restore to checkpoint 1 that rewrites four files, after `rehearsal` the same again. */
interface Interrupted {
  readonly lab: FaultLab;
  readonly before: TreeMap;
  /** The number of the call that moves a file into the stage, or puts the new one into its place. */
  readonly takingAway: (name: string) => number;
  readonly placing: (name: string) => number;
}

async function inLab(body: (interrupted: Interrupted) => Promise<void>): Promise<void> {
  const lab = new FaultLab();
  try {
    const calls = await rehearseRestore(lab);
    const placing = (name: string) => calls.indexOf(`link ${lab.root}/${name}`) + 1;
    await body({ lab, before: readTreeMap(lab.root), placing, takingAway: (name) => placing(name) - 1 });
    expect(findStageLeftovers(lab.root)).toEqual([]);
  } finally {
    lab.remove();
  }
}

async function inOpened(lab: FaultLab, body: (workspace: Workspace) => Promise<void>): Promise<void> {
  const workspace = await openWorkspace(lab.root, { home: lab.home });
  await body(workspace);
  expect(await workspace.upkeep.verify({ full: true })).toMatchObject({ ok: true, problems: [] });
  await workspace.close();
}

const contentOf = (lab: FaultLab, name: string) => readFileSync(join(lab.root, name), "utf8");

describe.skipIf(!hasCompiler)("while a restore stands still", { timeout: LIMIT_MS }, () => {
  test("[R11, R21, I61] a second one is refused; checkpoints go on and say what is in doubt", () =>
    inLab(async ({ lab, before, placing }) => {
      const { child, ended } = lab.start("restore", { at: placing("c"), how: "stop" });
      await untilStandingStill(child.pid!);
      await inOpened(lab, async (workspace) => {
        for (const refused of [() => workspace.restoreTo("1"), () => workspace.revert("1")]) {
          await expect(refused()).rejects.toMatchObject({
            code: "RESTORE_RUNNING",
            facts: { pid: child.pid },
          });
        }
        const { checkpoint } = await workspace.checkpoint();
        const { doubts } = await workspace.show(checkpoint.id);
        expect(doubts.map(({ path, reason }) => `${path} ${reason}`)).toContain("c mid-restore");
        expect(findStageLeftovers(lab.root)).toHaveLength(1);
        child.kill("SIGCONT");
        expect(await ended).toMatchObject({ said: { done: true, outcome: "applied" } });
        const restored = describeFile(0o644, Buffer.from("0\n"));
        expect([...readTreeMap(lab.root).values()]).toEqual(REHEARSED_FILES.map(() => restored));
        expect(await workspace.undo()).toMatchObject({ outcome: "applied" });
        expect(readTreeMap(lab.root)).toEqual(before);
      });
    }));

  test("[R11] what it has done so far is not the doing of a turn that is open, and what that turn does is not lost", () =>
    inLab(async ({ lab, before, takingAway }) => {
      await inOpened(lab, async (workspace) => {
        const { changed } = await workspace.turns.run({ prompt: "t1" }, async () => {
          const { child, ended } = lab.start("restore", { at: takingAway("c"), how: "stop" });
          await untilStandingStill(child.pid!);
          writeFileSync(join(lab.root, "new"), THEIRS);
          await workspace.checkpoint();
          child.kill("SIGCONT");
          await ended;
        });
        expect(changed).toBe(true);
        const [after] = await workspace.list({ limit: 1 });
        const restored = readTreeMap(lab.root);
        expect(await readCheckpointMap({ workspace }, after!.id)).toEqual(restored);
        // the restore was made while the turn was open: it comes after what the turn had done by then
        expect(await workspace.undo()).toMatchObject({
          steps: [{ kind: "restore" }],
          modified: 4,
          deleted: 0,
          plan: { meanwhile: [] },
        });
        expect(readTreeMap(lab.root)).toEqual(new Map(before).set("new", restored.get("new")!));
        expect(await workspace.undo()).toMatchObject({ steps: [{ prompt: "t1" }], deleted: 1, modified: 0 });
        expect(readTreeMap(lab.root)).toEqual(before);
      });
    }));

  /** Stops the restore at a call, lets another program write, and continues it. */
  async function writeAt(lab: FaultLab, at: number, work: () => void, ...more: Fault[]) {
    const { child, ended } = lab.start("restore", { at, how: "stop" }, ...more);
    await untilStandingStill(child.pid!);
    work();
    child.kill("SIGCONT");
    return ended;
  }

  const writeInPlace = (path: string) => writeFileSync(path, THEIRS);
  /** As editors save. */
  const writeAnew = (path: string) => {
    writeFileSync(`${path}.tmp`, THEIRS);
    renameSync(`${path}.tmp`, path);
  };

  test.each([
    { moment: "takingAway", way: "in place", write: writeInPlace },
    { moment: "takingAway", way: "as a new file", write: writeAnew },
    { moment: "placing", way: "in place", write: writeInPlace },
    { moment: "placing", way: "as a new file", write: writeAnew },
  ] as const)(
    "[R5, N0, Y83] a file written $way at the moment of $moment is a conflict: theirs stays, the rest is taken back",
    ({ moment, write }) =>
      inLab(async (interrupted) => {
        const { lab, before } = interrupted;
        const report = await writeAt(lab, interrupted[moment]("c"), () => write(join(lab.root, "c")));
        expect(report).toMatchObject({ said: { outcome: "conflicts" } });
        expect(readTreeMap(lab.root)).toEqual(
          new Map(before).set("c", describeFile(0o644, Buffer.from(THEIRS))),
        );
        await inOpened(lab, async () => expect(contentOf(lab, "c")).toBe(THEIRS));
      }),
  );

  test("[R5, N0] what another program writes into a restored file is not taken back with it", () =>
    inLab(async ({ lab, takingAway }) => {
      const write = () => ["a", "d"].forEach((name) => writeFileSync(join(lab.root, name), THEIRS));
      expect(await writeAt(lab, takingAway("d"), write)).toMatchObject({ said: { outcome: "conflicts" } });
      expect(REHEARSED_FILES.map((name) => contentOf(lab, name))).toEqual([THEIRS, "1\n", "1\n", THEIRS]);
      await inOpened(lab, async () => expect(contentOf(lab, "a")).toBe(THEIRS));
    }));

  test("[R5, R10, N0] killed right after it had exchanged a file that another program wrote to: its content is put back", () =>
    inLab(async ({ lab, takingAway }) => {
      const write = () => writeFileSync(join(lab.root, "c"), THEIRS);
      const report = await writeAt(lab, takingAway("c"), write, { at: takingAway("c") + 2, how: "kill" });
      expect(report.signal).toBe("SIGKILL");
      const blocked = openWorkspace(lab.root, { home: lab.home });
      await expect(blocked).rejects.toMatchObject({ code: "RECOVERY_BLOCKED", facts: { paths: ["c"] } });
      await inOpened(lab, async () => expect(contentOf(lab, "c")).toBe(THEIRS));
    }));
});

describe.skipIf(!hasCompiler)("after a restore was killed", { timeout: LIMIT_MS }, () => {
  test("[R10, N0] a file in its way was edited: blocked once, the tree kept and saved", () =>
    inLab(async ({ lab, takingAway }) => {
      await lab.run("restore", { at: takingAway("c"), how: "kill" });
      writeFileSync(join(lab.root, "a"), THEIRS);
      const kept = readTreeMap(lab.root);
      const blocked = openWorkspace(lab.root, { home: lab.home });
      await expect(blocked).rejects.toMatchObject({ code: "RECOVERY_BLOCKED", facts: { paths: ["a"] } });
      expect(readTreeMap(lab.root)).toEqual(kept);
      await inOpened(lab, async (workspace) => {
        expect(readTreeMap(lab.root)).toEqual(kept);
        const [interrupted] = await workspace.list({ limit: 1 });
        expect(await readCheckpointMap({ workspace }, interrupted!.id)).toEqual(kept);
      });
    }));

  test("[R10, N0] a file in its way was deleted: blocked as well", () =>
    inLab(async ({ lab, takingAway }) => {
      await lab.run("restore", { at: takingAway("c"), how: "kill" });
      rmSync(join(lab.root, "d"));
      const kept = readTreeMap(lab.root);
      const blocked = openWorkspace(lab.root, { home: lab.home });
      await expect(blocked).rejects.toMatchObject({ code: "RECOVERY_BLOCKED", facts: { paths: ["d"] } });
      expect(readTreeMap(lab.root)).toEqual(kept);
      await inOpened(lab, async () => expect(readTreeMap(lab.root)).toEqual(kept));
    }));

  test("[R10] a process that had the store open all the time recovers before its next capture, and says so", () =>
    inLab(async ({ lab, before, placing }) => {
      await inOpened(lab, async (workspace) => {
        await lab.run("restore", { at: placing("c"), how: "kill" });
        const { warnings, unchanged } = await workspace.checkpoint();
        expect(warnings).toEqual([expect.stringMatching(/^An interrupted restore was finished/)]);
        expect(unchanged).toBe(true);
        expect(REHEARSED_FILES.map((name) => contentOf(lab, name))).toEqual(["0\n", "0\n", "0\n", "0\n"]);
        expect(await workspace.undo()).toMatchObject({ outcome: "applied" });
        expect(readTreeMap(lab.root)).toEqual(before);
      });
    }));

  test("[R10] a process that had the store open all the time recovers before its next undo, too", () =>
    inLab(async ({ lab, before, placing }) => {
      await inOpened(lab, async (workspace) => {
        await lab.run("restore", { at: placing("c"), how: "kill" });
        const { outcome, notices } = await workspace.undo();
        expect(outcome).toBe("applied");
        expect(notices).toEqual([expect.stringMatching(/^An interrupted restore was finished/)]);
        expect(readTreeMap(lab.root)).toEqual(before);
      });
    }));

  test("[R113, R10, I77] as a zombie, whose parent never takes notice: it is dead, and the next command recovers", () =>
    inLab(async ({ lab, before, placing }) => {
      const parent = await lab.runUnreaped("restore", { at: placing("c"), how: "kill" });
      try {
        await inOpened(lab, async (workspace) => {
          expect(workspace.notices).toEqual([expect.stringMatching(/^An interrupted restore was finished/)]);
          expect(await workspace.undo()).toMatchObject({ outcome: "applied" });
          expect(readTreeMap(lab.root)).toEqual(before);
        });
      } finally {
        parent.kill("SIGKILL");
      }
    }));

  test("several processes find it at once: one recovers, none fails, it is one step", () =>
    inLab(async ({ lab, before, placing }) => {
      await lab.run("restore", { at: placing("c"), how: "kill" });
      const openers = Array.from({ length: 6 }, () =>
        startInProcess<string[]>(lab, `return workspace.notices;`),
      );
      expect((await Promise.all(openers)).flat()).toHaveLength(1);
      await inOpened(lab, async (workspace) => {
        expect(await workspace.undo()).toMatchObject({ outcome: "applied", canUndo: false });
        expect(readTreeMap(lab.root)).toEqual(before);
      });
    }));
});
