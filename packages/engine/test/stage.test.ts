/**
 * The end of a staging directory. A restore is stopped or killed in the middle; another program writes to what it has
 * taken away, or swaps the stage for something else. What it wrote is in a checkpoint; nothing outside is touched.
 */
import {
  chownSync,
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { openWorkspace, type Workspace } from "../src/index.ts";
import { FaultLab, hasCompiler, type Fault } from "./support/fault-lab.ts";
import { REHEARSED_FILES, rehearseRestore } from "./support/rehearse-restore.ts";
import { untilStandingStill } from "./support/standing-still.ts";
import { findStageLeftovers, readTreeMap } from "./support/tree-map.ts";

const CHILD = fileURLToPath(new URL("support/fault-child.ts", import.meta.url));
/** A user who is not root. */
const NOBODY = 65_534;

interface Scene {
  readonly lab: FaultLab;
  /** The number of the call that gives a restored file its name; the one before it took the old one away. */
  readonly placing: (name: string) => number;
  /** A directory beside the workspace that must stay as it is. */
  readonly outside: string;
}

/** A restore to checkpoint 1 rewrites four files. */
async function inScene(body: (scene: Scene) => Promise<void>): Promise<void> {
  const lab = new FaultLab();
  try {
    const calls = await rehearseRestore(lab);
    const outside = join(lab.root, "../outside");
    mkdirSync(outside, { mode: 0o700 });
    for (const name of ["precious", "n0", "o0", "n1", "o1", "o2"]) writeFileSync(join(outside, name), name);
    const before = readTreeMap(outside);
    await body({ lab, outside, placing: (name) => calls.indexOf(`link ${lab.root}/${name}`) + 1 });
    expect(readTreeMap(outside)).toEqual(before);
  } finally {
    lab.remove();
  }
}

/** Stops the restore at a call, does something, and lets it go on. */
async function during(lab: FaultLab, at: number, work: () => void, ...more: Fault[]) {
  const { child, ended } = lab.start("restore", { at, how: "stop" }, ...more);
  await untilStandingStill(child.pid!);
  work();
  child.kill("SIGCONT");
  return ended;
}

async function inOpened(lab: FaultLab, body: (workspace: Workspace) => Promise<void>): Promise<void> {
  const workspace = await openWorkspace(lab.root, { home: lab.home });
  await body(workspace);
  expect(await workspace.upkeep.verify({ full: true })).toMatchObject({ ok: true, problems: [] });
  await workspace.close();
}

const contentOf = ({ root }: FaultLab, name: string) => readFileSync(join(root, name), "utf8");

/** The one checkpoint that holds what another program wrote; it is listed, survives gc and can be restored. */
async function expectDisplaced(lab: FaultLab, path: string, text: string): Promise<void> {
  await inOpened(lab, async (workspace) => {
    await workspace.upkeep.gc();
    const held = (await workspace.list()).filter(({ description }) => description.startsWith("Written by"));
    expect(held).toMatchObject([{ kind: "safety", changes: { modified: 1 } }]);
    const { outcome } = await workspace.restoreTo(held[0]!.id, { paths: [path] });
    expect(outcome).toBe("applied");
    expect(contentOf(lab, path)).toBe(text);
  });
}

/** Opens the workspace as a user whose everything is but a stage. */
function openAsAnother(lab: FaultLab, stage: string): unknown {
  const everything = join(lab.root, "..");
  execFileSync("chown", ["-R", String(NOBODY), everything]);
  chownSync(stage, 0, 0);
  const words = ["--disable-warning=ExperimentalWarning", CHILD, "open", lab.root, lab.home];
  const said = execFileSync(process.execPath, words, { uid: NOBODY, encoding: "utf8" });
  execFileSync("chown", ["-R", "0", everything]);
  return JSON.parse(said);
}

function swapStage({ lab, outside }: Scene): void {
  const [stage] = findStageLeftovers(lab.root);
  renameSync(join(lab.root, stage!), join(lab.root, "../moved-stage"));
  symlinkSync(outside, join(lab.root, stage!));
}

describe.skipIf(!hasCompiler)("a program that had a replaced file open", { timeout: 180_000 }, () => {
  test("[R110, R112, N0, I76] what it writes after the exchange is in a checkpoint, and the outcome says so", () =>
    inScene(async ({ lab, placing }) => {
      const descriptor = openSync(join(lab.root, "a"), "a");
      const { said } = await during(lab, placing("d"), () => {
        writeSync(descriptor, "late\n");
        closeSync(descriptor);
      });
      expect(said).toMatchObject({ done: true, outcome: "displaced" });
      expect(REHEARSED_FILES.map((name) => contentOf(lab, name))).toEqual(["0\n", "0\n", "0\n", "0\n"]);
      expect(findStageLeftovers(lab.root)).toEqual([]);
      await expectDisplaced(lab, "a", "1\nlate\n");
    }));

  test("[R110, R5, N0] what was taken away and cannot go back, because a new file stands there, is not thrown away", () =>
    inScene(async ({ lab, placing }) => {
      const descriptor = openSync(join(lab.root, "c"), "a");
      const { said } = await during(lab, placing("c"), () => {
        writeSync(descriptor, "late\n");
        closeSync(descriptor);
        writeFileSync(join(lab.root, "c"), "new\n");
      });
      expect(said).toMatchObject({ outcome: "conflicts" });
      expect(REHEARSED_FILES.map((name) => contentOf(lab, name))).toEqual(["1\n", "1\n", "new\n", "1\n"]);
      expect(findStageLeftovers(lab.root)).toEqual([]);
      await expectDisplaced(lab, "c", "1\nlate\n");
    }));

  test("[R110, R190, N0] as long as it can still write, the file stays in the stage, and status says so; the next command after that saves it", () =>
    inScene(async ({ lab, placing }) => {
      const descriptor = openSync(join(lab.root, "a"), "a");
      const { said } = await during(lab, placing("d"), () => writeSync(descriptor, "late\n"));
      expect(said).toMatchObject({ done: true, outcome: "applied" });
      expect(findStageLeftovers(lab.root)).toHaveLength(1);
      await inOpened(lab, async (workspace) => {
        expect(workspace.notices).toEqual([]);
        expect((await workspace.status()).warnings).toEqual([
          expect.stringMatching(`^Process ${process.pid} still has the replaced a open.*belay-stage-`),
        ]);
      });
      writeSync(descriptor, "later\n");
      closeSync(descriptor);
      await inOpened(lab, async (workspace) =>
        expect(workspace.notices).toEqual([
          expect.stringMatching(/^Another program wrote to a during the restore/),
        ]),
      );
      expect(findStageLeftovers(lab.root)).toEqual([]);
      await expectDisplaced(lab, "a", "1\nlate\nlater\n");
    }));

  test("[R112, R10, N0] after kill -9 what it wrote is in a checkpoint that gc keeps", () =>
    inScene(async ({ lab, placing }) => {
      const descriptor = openSync(join(lab.root, "a"), "a");
      const write = () => {
        writeSync(descriptor, "late\n");
        closeSync(descriptor);
        writeFileSync(join(lab.root, "a"), "theirs\n");
      };
      const { signal } = await during(lab, placing("d"), write, { at: placing("d") + 1, how: "kill" });
      expect(signal).toBe("SIGKILL");
      const blocked = openWorkspace(lab.root, { home: lab.home });
      await expect(blocked).rejects.toMatchObject({ code: "RECOVERY_BLOCKED", facts: { paths: ["a"] } });
      expect(contentOf(lab, "a")).toBe("theirs\n");
      expect(findStageLeftovers(lab.root)).toEqual([]);
      await expectDisplaced(lab, "a", "1\nlate\n");
    }));

  test("[R110, R10, N0] after kill -9 as well a file that it can still write to stays until it has closed it", () =>
    inScene(async ({ lab, placing }) => {
      const descriptor = openSync(join(lab.root, "a"), "a");
      await during(lab, placing("d"), () => undefined, { at: placing("d") + 1, how: "kill" });
      await inOpened(lab, async (workspace) =>
        expect(workspace.notices[0]).toMatch(/^An interrupted restore was finished/),
      );
      expect(REHEARSED_FILES.map((name) => contentOf(lab, name))).toEqual(["0\n", "0\n", "0\n", "0\n"]);
      writeSync(descriptor, "later\n");
      closeSync(descriptor);
      await inOpened(lab, async () => undefined);
      expect(findStageLeftovers(lab.root)).toEqual([]);
      await expectDisplaced(lab, "a", "1\nlater\n");
    }));

  test("[R110, R10, N0] nor is it lost when recovery takes the file away a second time", () =>
    inScene(async ({ lab, placing }) => {
      // killed before `d` is replaced: recovery is what takes it away
      const descriptor = openSync(join(lab.root, "d"), "a");
      await lab.run("restore", { at: placing("d") - 1, how: "kill" });
      await inOpened(lab, async () => undefined);
      expect(REHEARSED_FILES.map((name) => contentOf(lab, name))).toEqual(["0\n", "0\n", "0\n", "0\n"]);
      writeSync(descriptor, "later\n");
      closeSync(descriptor);
      await inOpened(lab, async () => undefined);
      expect(findStageLeftovers(lab.root)).toEqual([]);
      await expectDisplaced(lab, "d", "1\nlater\n");
    }));

  test("[R110, N1] what was put back is not called replaced, and leaves nothing behind", () =>
    inScene(async ({ lab, placing }) => {
      const descriptor = openSync(join(lab.root, "a"), "a");
      const { said } = await during(lab, placing("c"), () => writeFileSync(join(lab.root, "d"), "theirs\n"));
      expect(said).toMatchObject({ outcome: "conflicts" });
      expect(findStageLeftovers(lab.root)).toEqual([]);
      writeSync(descriptor, "later\n");
      closeSync(descriptor);
      expect(contentOf(lab, "a")).toBe("1\nlater\n");
    }));

  test("[R110, R190] a process that stays ends the stage too when the program has closed the file", () =>
    inScene(async ({ lab }) => {
      const descriptor = openSync(join(lab.root, "a"), "a");
      await inOpened(lab, async (workspace) => {
        expect(await workspace.restoreTo("1")).toMatchObject({ outcome: "applied" });
        expect(findStageLeftovers(lab.root)).toHaveLength(1);
        writeSync(descriptor, "later\n");
        closeSync(descriptor);
        await workspace.checkpoint();
        expect(findStageLeftovers(lab.root)).toEqual([]);
      });
      await expectDisplaced(lab, "a", "1\nlater\n");
    }));

  test("[R190, N1] a stage that cannot be cleared is named, says nothing else, and keeps no command from its work", () =>
    inScene(async ({ lab, placing }) => {
      const descriptor = openSync(join(lab.root, "a"), "a");
      await during(lab, placing("d"), () => undefined);
      closeSync(descriptor);
      const EIO = 5;
      expect(await lab.run("open", { at: 1, how: EIO, lasting: true })).toMatchObject({
        said: {
          done: true,
          outcome: expect.stringMatching(/^What was replaced is still in \.belay-stage-\w+: EIO/),
        },
      });
      await inOpened(lab, async (workspace) => expect(workspace.notices).toEqual([]));
      expect(findStageLeftovers(lab.root)).toEqual([]);
    }));

  test.skipIf(process.getuid?.() !== 0)("[R190, N1] so is one that became another user's", () =>
    inScene(async ({ lab, placing }) => {
      const descriptor = openSync(join(lab.root, "a"), "a");
      await during(lab, placing("d"), () => undefined);
      closeSync(descriptor);
      const [stage] = findStageLeftovers(lab.root);
      expect(openAsAnother(lab, join(lab.root, stage!))).toMatchObject({
        done: true,
        outcome: expect.stringMatching(/^What was replaced is still in \.belay-stage-\w+: EACCES/),
      });
    }),
  );

  test("[R10, N1] what recovery itself left half written when it was killed is not told as another program's", () =>
    inScene(async ({ lab, placing }) => {
      await lab.run("restore", { at: placing("b"), how: "kill" });
      lab.keep("killed");
      const { calls } = await lab.run("open");
      const at = calls.findIndex((call) => /^p?write\S* .*\/\.belay-stage-/.test(call)) + 1;
      expect(at).toBeGreaterThan(0);
      lab.putBack("killed");
      expect(await lab.run("open", { at, how: "torn" })).toMatchObject({ signal: "SIGKILL" });
      await inOpened(lab, async (workspace) => {
        expect(workspace.notices).toEqual([expect.stringMatching(/^An interrupted restore was finished/)]);
        expect(
          (await workspace.list()).filter(({ description }) => description.startsWith("Written")),
        ).toEqual([]);
      });
      expect(REHEARSED_FILES.map((name) => contentOf(lab, name))).toEqual(["0\n", "0\n", "0\n", "0\n"]);
      expect(findStageLeftovers(lab.root)).toEqual([]);
    }));
});

test.skipIf(!hasCompiler)("[R110] a large restore ends where a process may have few files open", async () => {
  const lab = new FaultLab();
  try {
    const names = Array.from({ length: 300 }, (_, number) => `f${number}`);
    const writeAll = (text: string) => names.forEach((name) => writeFileSync(join(lab.root, name), text));
    writeAll("0\n");
    const workspace = await openWorkspace(lab.root, { home: lab.home });
    writeAll("1\n");
    await workspace.close();
    const words = ["-c", 'ulimit -n 128; exec "$@"', "sh", process.execPath, CHILD, "restore"];
    const said = execFileSync("sh", [...words, lab.root, lab.home], { encoding: "utf8" });
    expect(JSON.parse(said)).toMatchObject({ done: true, outcome: "applied" });
    expect(findStageLeftovers(lab.root)).toEqual([]);
  } finally {
    lab.remove();
  }
});

describe.skipIf(!hasCompiler)("the stage swapped for a link that leads outside", { timeout: 180_000 }, () => {
  test("[R111, R27, I79] during a restore: it is done, and nothing outside is touched", () =>
    inScene(async (scene) => {
      const { lab, placing } = scene;
      expect(await during(lab, placing("b"), () => swapStage(scene))).toMatchObject({
        said: { done: true, outcome: "applied" },
      });
      expect(REHEARSED_FILES.map((name) => contentOf(lab, name))).toEqual(["0\n", "0\n", "0\n", "0\n"]);
    }));

  test("[R111, R27] while a restore is taken back: everything is as it was, and nothing outside is touched", () =>
    inScene(async (scene) => {
      const { lab, placing } = scene;
      const { said } = await during(lab, placing("c"), () => {
        swapStage(scene);
        writeFileSync(join(lab.root, "d"), "theirs\n");
      });
      expect(said).toMatchObject({ outcome: "conflicts" });
      expect(REHEARSED_FILES.map((name) => contentOf(lab, name))).toEqual(["1\n", "1\n", "1\n", "theirs\n"]);
    }));

  test("[R111, R10] after a crash: nothing outside is touched, and what is missing is in the safety checkpoint", () =>
    inScene(async (scene) => {
      const { lab, placing } = scene;
      await lab.run("restore", { at: placing("c"), how: "kill" });
      swapStage(scene);
      const blocked = openWorkspace(lab.root, { home: lab.home });
      await expect(blocked).rejects.toMatchObject({ code: "RECOVERY_BLOCKED", facts: { paths: ["c"] } });
      await inOpened(lab, async (workspace) => {
        expect(workspace.notices).toEqual([expect.stringMatching(/^\.belay-stage-\w+ is not, or not only/)]);
        const safety = (await workspace.list()).find(({ description }) =>
          description.startsWith("Before restor"),
        );
        await workspace.restoreTo(safety!.id);
        expect(REHEARSED_FILES.map((name) => contentOf(lab, name))).toEqual(["1\n", "1\n", "1\n", "1\n"]);
      });
    }));

  test("[R111] a directory of that name which this store did not make is left alone, whatever is in it", () =>
    inScene(async ({ lab }) => {
      const stage = join(lab.root, ".belay-stage-kkkkkkkkkkkkkkkk");
      mkdirSync(stage);
      writeFileSync(join(stage, "o0"), "mine\n");
      await inOpened(lab, async (workspace) => expect(workspace.notices).toHaveLength(1));
      expect(readFileSync(join(stage, "o0"), "utf8")).toBe("mine\n");
    }));

  test.skipIf(process.getuid?.() !== 0)(
    "[R111, R190] one of another user, which cannot even be looked at, is left alone too",
    () =>
      inScene(async ({ lab }) => {
        const stage = join(lab.root, ".belay-stage-kkkkkkkkkkkkkkkk");
        mkdirSync(stage, { mode: 0o700 });
        expect(openAsAnother(lab, stage)).toMatchObject({
          done: true,
          outcome: expect.stringMatching(/^\.belay-stage-k+ is not, or not only/),
        });
      }),
  );
});
