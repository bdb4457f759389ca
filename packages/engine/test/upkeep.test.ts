/** Pruning, freeing, forgetting, and the cap: what goes, in which order, and that everything else stays restorable. */
import { execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  CHECKPOINT_PRESETS,
  RETENTION_PRESETS,
  type BytePath,
  type OperationId,
  type CheckpointKind,
  type RetentionPolicy,
  type ThreadId,
  type Workspace,
} from "../src/index.ts";
import { absolutePath } from "../src/fs/absolute-path.ts";
import { removeJournal, writeJournal } from "../src/history/journal.ts";
import { encodeRules } from "../src/model/rules.ts";
import { ObjectWriter } from "../src/store/object-writer.ts";
import { openStore } from "../src/store/store.ts";
import { collectGarbage } from "../src/upkeep/gc.ts";
import { withCapture } from "../src/capture/with-capture.ts";
import { WorkingCopy } from "../src/capture/working-copy.ts";
import {
  canMount,
  inProject,
  inProtected,
  mountSmall,
  runScript,
  scriptFor,
  unmount,
  type Project,
} from "./support/project.ts";
import { Parsers } from "../src/merge/parsers.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const KIB = 1024;
const NOTHING_STAYS: RetentionPolicy = {
  name: "nothing",
  keepAllHours: 0,
  keepTurnsHours: 0,
  keepMinimum: 0,
  keepMaximum: null,
};

/** A checkpoint of this kind, taken so many days ago. */
async function takeAt(
  project: Project,
  workspace: Workspace,
  daysAgo: number,
  kind: CheckpointKind,
  more: { name?: string; tags?: string[] } = {},
): Promise<number> {
  project.clockMs = -daysAgo * DAY_MS;
  project.write("state.txt", `${kind} ${daysAgo}`);
  const { checkpoint } = await workspace.checkpoint({ kind, ...more });
  project.clockMs = 0;
  return checkpoint.seq;
}

const listed = async (workspace: Workspace) => (await workspace.list()).map(({ seq }) => seq).reverse();

function storeSize(project: Project): number {
  const directory = project.storeDirectory();
  return ["store.db", "store.db-wal"].reduce(
    (sum, name) => sum + (statSync(join(directory, name), { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}

describe("prune", () => {
  test(
    "default: everything for 7 days, messages and turns for 30, protected ones for good",
    inProtected({ "a.txt": "a" }, async (project, workspace) => {
      await takeAt(project, workspace, 60, "message");
      const manual = await takeAt(project, workspace, 60, "manual");
      const named = await takeAt(project, workspace, 60, "tool", { name: "kept by name" });
      const tagged = await takeAt(project, workspace, 60, "tool", { tags: ["kept-by-tag"] });
      await takeAt(project, workspace, 20, "tool");
      const message = await takeAt(project, workspace, 20, "message");
      const turn = await takeAt(project, workspace, 20, "turn");
      const young = [];
      for (let index = 0; index < 25; index += 1) young.push(await takeAt(project, workspace, 3, "tool"));
      const { pruned, kept } = await workspace.upkeep.prune({ dryRun: true });
      expect(pruned.map(({ seq }) => seq)).toEqual([2, 6]);
      expect(kept).toBe(31);
      expect(await listed(workspace)).toHaveLength(33);
      await workspace.upkeep.prune();
      expect(await listed(workspace)).toEqual([1, manual, named, tagged, message, turn, ...young]);
      expect((await workspace.upkeep.prune()).pruned).toEqual([]);
    }),
  );

  test(
    "presets count by thread and age",
    inProtected({ "a.txt": "a" }, async (project, workspace) => {
      for (let index = 0; index < 8; index += 1) await takeAt(project, workspace, 2, "tool");
      const count = async (policy: RetentionPolicy) =>
        (await workspace.upkeep.prune({ policy, dryRun: true })).pruned.length;
      expect(await count(RETENTION_PRESETS["mimir"]!)).toBe(3);
      expect(await count(RETENTION_PRESETS["default"]!)).toBe(0);
      expect(await count({ ...RETENTION_PRESETS["moldable"]!, keepMaximum: 6 })).toBe(2);
      expect(await count({ ...RETENTION_PRESETS["code-buddy"]!, keepMaximum: 1 })).toBe(7);
      expect(await count(NOTHING_STAYS)).toBe(7);
    }),
  );

  test(
    "[R1781] a policy says what it protects: without `manual`, one made by hand goes like any other, a named one stays",
    inProtected({ "a.txt": "a" }, async (project, workspace) => {
      const manual = await takeAt(project, workspace, 9, "manual");
      const named = await takeAt(project, workspace, 9, "manual", { name: "kept by name" });
      for (let index = 0; index < 5; index += 1) await takeAt(project, workspace, 0, "tool");
      const dropped = async (policy: RetentionPolicy) =>
        (await workspace.upkeep.prune({ policy, dryRun: true })).pruned.map(({ seq }) => seq);
      expect(await dropped(RETENTION_PRESETS["mimir"]!)).toEqual([manual]);
      expect(await dropped({ ...RETENTION_PRESETS["mimir"]!, protect: ["manual"] })).toEqual([]);
      expect(await dropped({ ...RETENTION_PRESETS["mimir"]!, protect: [] })).toEqual([manual, named]);
      expect(await dropped({ ...NOTHING_STAYS, keepMinimum: 5 })).toEqual([]);
    }),
  );

  test(
    "[R1780] a closed thread keeps less; its next event opens it again; one thread can be pruned alone",
    inProtected({ "a.txt": "a" }, async (project, workspace) => {
      const policy = RETENTION_PRESETS["moldable"]!;
      const threads = [];
      for (const externalId of ["one", "two"]) {
        project.clockMs = -8 * DAY_MS;
        const { id } = await workspace.threads.open({ agent: "x", externalId });
        threads.push(id);
        for (const daysAgo of [8, 3]) {
          project.clockMs = -daysAgo * DAY_MS;
          project.write("state.txt", `${externalId} ${daysAgo}`);
          await workspace.checkpoint({ kind: "tool", thread: id });
        }
      }
      project.clockMs = 0;
      await workspace.checkpoint({ kind: "tool" });
      const [one, two] = threads;
      const dropped = async (options: { thread?: ThreadId } = {}) =>
        (await workspace.upkeep.prune({ ...options, policy, dryRun: true })).pruned.map(({ seq }) => seq);
      expect(await dropped(), "both are open").toEqual([]);
      expect(await workspace.threads.close(one!)).toMatchObject({ closedAt: expect.any(Number) });
      expect((await workspace.threads.get(two!)).closedAt).toBeNull();
      expect(await dropped()).toEqual([2]);
      expect([await dropped({ thread: one! }), await dropped({ thread: two! })]).toEqual([[2], []]);
      project.clockMs = 1000;
      await workspace.threads.addMessage(one!, { role: "assistant", content: "once more" });
      await workspace.checkpoint({ kind: "tool", thread: one! });
      expect((await workspace.threads.get(one!)).closedAt).toBeNull();
      expect(await dropped(), "open again").toEqual([]);
      project.clockMs = 5 * DAY_MS;
      await workspace.checkpoint({ kind: "tool" });
      expect(await dropped(), "a week without an event closes it").toEqual([4, 5]);
      const { pruned } = await workspace.upkeep.prune({ policy, thread: two! });
      expect(pruned.map(({ seq }) => seq)).toEqual([4, 5]);
      await expect(workspace.upkeep.prune({ thread: "nope" as ThreadId })).rejects.toMatchObject({
        code: "THREAD_NOT_FOUND",
      });
    }),
  );

  test(
    "safety checkpoints stay as long as their thread is alive",
    inProtected({ "a.txt": "1" }, async (project, workspace) => {
      project.write("a.txt", "2");
      const { safetyCheckpoint } = await workspace.restoreTo("1");
      project.clockMs = 20 * DAY_MS;
      await workspace.checkpoint({ kind: "tool" });
      const ids = async () =>
        (await workspace.upkeep.prune({ policy: NOTHING_STAYS, dryRun: true })).pruned.map(({ id }) => id);
      project.clockMs = 40 * DAY_MS;
      expect(await ids()).not.toContain(safetyCheckpoint);
      project.clockMs = 51 * DAY_MS;
      await workspace.checkpoint({ kind: "tool", thread: (await workspace.threads.open({ agent: "x" })).id });
      expect(await ids()).toContain(safetyCheckpoint);
    }),
  );

  test(
    "a clock that was set back, or runs years ahead, makes nothing look old",
    inProtected({ "a.txt": "a" }, async (project, workspace) => {
      for (let index = 0; index < 25; index += 1) await takeAt(project, workspace, 1, "tool");
      for (const years of [-30, -1, 1, 10]) {
        project.clockMs = years * 365 * DAY_MS;
        expect((await workspace.upkeep.prune({ dryRun: true })).pruned, `${years} years`).toEqual([]);
      }
    }),
  );

  test(
    "[R25] [N4] what was pruned is out of sight, comes back within a day, and is gone after that",
    inProtected({ "a.txt": "1" }, async (project, workspace) => {
      await takeAt(project, workspace, 60, "tool");
      const before = project.tree();
      await workspace.checkpoint();
      await workspace.upkeep.prune({ policy: NOTHING_STAYS });
      await expect(workspace.resolve("2")).rejects.toMatchObject({ code: "CHECKPOINT_NOT_FOUND" });
      project.clockMs = 23 * HOUR_MS;
      expect(await workspace.upkeep.gc()).toMatchObject({ checkpointsDropped: 0 });
      expect((await workspace.upkeep.unprune()).map(({ seq }) => seq)).toEqual([2]);
      project.write("state.txt", "other");
      await workspace.restoreTo("2");
      expect(project.tree()).toEqual(before);
      await workspace.upkeep.prune({ policy: NOTHING_STAYS });
      project.clockMs = 48 * HOUR_MS;
      const { checkpointsDropped } = await workspace.upkeep.gc();
      expect(checkpointsDropped).toBeGreaterThan(0);
      expect(await workspace.upkeep.unprune()).toEqual([]);
    }),
  );

  test(
    "[R161] a step whose content was pruned is named, and the others can still be undone",
    inProtected({ "a.txt": "1", "b.txt": "1" }, async (project, workspace) => {
      await workspace.turns.run({ prompt: "first" }, async () => project.write("a.txt", "2"));
      await workspace.checkpoint();
      project.clockMs = 40 * DAY_MS;
      await workspace.turns.run({ prompt: "second" }, async () => project.write("b.txt", "2"));
      await workspace.upkeep.prune({ policy: { ...NOTHING_STAYS, keepAllHours: 1, keepTurnsHours: 1 } });
      project.clockMs = 41.5 * DAY_MS;
      expect((await workspace.upkeep.gc()).stepsDropped).toMatchObject([{ prompt: "first" }]);
      expect(await workspace.undo()).toMatchObject({ outcome: "applied", steps: [{ prompt: "second" }] });
      await expect(workspace.undo()).rejects.toMatchObject({ code: "CONTENT_PRUNED" });
      expect([project.read("a.txt"), project.read("b.txt")]).toEqual(["2", "1"]);
    }),
  );
});

describe("gc", () => {
  test(
    "[R25] frees what nothing reaches, regroups the rest, and every listed checkpoint restores",
    inProtected({}, async (project, workspace) => {
      const text = Array.from({ length: 400 }, (_, line) => `line ${line} ${"x".repeat(line % 40)}`);
      const trees = new Map<number, ReturnType<Project["tree"]>>();
      for (let version = 0; version < 25; version += 1) {
        text[version * 3] = `changed in version ${version} ${randomBytes(8).toString("hex")}`;
        for (const name of ["one", "two/three", "two/four"])
          project.write(`${name}.txt`, `${name}\n${text.join("\n")}`);
        project.write(`blob-${version}.bin`, randomBytes(20 * KIB));
        const { checkpoint } = await workspace.checkpoint({ kind: version % 2 === 0 ? "manual" : "tool" });
        trees.set(checkpoint.seq, project.tree());
        project.remove(`blob-${version}.bin`);
      }
      await workspace.upkeep.prune({ policy: NOTHING_STAYS });
      project.clockMs = 2 * DAY_MS;
      const report = await workspace.upkeep.gc();
      expect(report.checkpointsDropped).toBe(12);
      expect(report.objectsFreed).toBeGreaterThanOrEqual(12);
      expect(report.packsRewritten).toBeGreaterThan(0);
      expect(report.bytesAfter).toBeLessThan(report.bytesBefore * 0.75);
      const seqs = await listed(workspace);
      expect(seqs).toHaveLength(14);
      for (const seq of seqs.slice(1)) {
        await workspace.restoreTo(String(seq));
        expect(project.tree()).toEqual(trees.get(seq));
      }
      expect(await workspace.upkeep.gc({ dryRun: true })).toMatchObject({ dryRun: true });
    }),
  );

  test(
    "leaves alone what a capture under way has stored, and takes what a dead one left",
    inProtected({ "a.txt": "a" }, async (project, workspace) => {
      using store = openStore(absolutePath(project.storeDirectory()), { create: false });
      const alive = new ObjectWriter(store.db, store.objects, project.system.owner);
      const kept = alive.put(Buffer.from("stored ahead of its checkpoint"));
      alive.flush();
      await workspace.upkeep.gc();
      store.objects.forgetCache();
      expect(store.objects.has(kept)).toBe(true);
      alive.abandon();
      await workspace.upkeep.gc();
      expect(store.objects.has(kept)).toBe(false);
      const dead = new ObjectWriter(store.db, store.objects, {
        pid: 2 ** 22 - 1,
        started: "1",
        boot: "another boot",
      });
      const left = dead.put(Buffer.from("left by a process that died"));
      dead.flush();
      await workspace.upkeep.gc();
      expect(store.objects.has(left)).toBe(false);
      expect(store.db.all("SELECT * FROM lease")).toEqual([]);
    }),
  );

  test.for(["piece", "rules"])(
    "[R3] between a capture's look at the store and its commit: a %s it found and gc freed is stored again",
    (leftover) =>
      inProject({ ".gitignore": "a\n", "x.txt": "x" }, async (project) => {
        const workspace = await project.open();
        const [piece, other] = [randomBytes(1024 * KIB), randomBytes(10)];
        project.write(".gitignore", "b\n");
        project.write("large.bin", Buffer.concat([piece, other]));
        using store = openStore(absolutePath(project.storeDirectory()), { create: false });
        const root = absolutePath(project.root);
        const ignored = { fileBytes: 2 ** 20, files: 2000, bytes: 2 ** 25 };
        const limits = () => ({ fileBytes: 2 ** 30, checkpointBytes: 2 ** 30, ignored });
        const options = {
          root,
          objects: store.objects,
          everyLook: () => ({ named: [], excluded: [] }),
          cachePath: undefined,
          storeId: store.id,
          limits,
          commandPath: "/usr/bin:/bin",
          hasCheckpoint: () => true,
        };
        const workingCopy = new WorkingCopy(options);
        // an attempt that was given up has left a piece and the rules
        const { rules, recordedRules } = workingCopy.look({});
        const before = new ObjectWriter(store.db, store.objects, project.system.owner);
        for (const bytes of leftover === "piece" ? [piece] : [encodeRules(recordedRules)]) before.put(bytes);
        before.flush();
        before.abandon();
        const capture = workingCopy.capture.bind(workingCopy);
        let rounds = 0;
        workingCopy.capture = (...args) => {
          const present = capture(...args);
          if ((rounds += 1) === 1)
            collectGarbage(store, project.system, { dropPrunedBefore: 0, dryRun: false });
          return present;
        };
        const context = {
          system: project.system,
          store,
          workingCopy,
          capBytes: Infinity,
          policy: CHECKPOINT_PRESETS.everything,
          pauses: { current: null, set: () => undefined },
          excludedDirectories: () => [],
          outside: { isCaptured: false, home: undefined, otherRoots: () => [] },
          coverage: { isNamed: false, coverAll: () => undefined },
          makeRoom: () => undefined,
          dropped: [],
          interrupt: undefined,
          progress: undefined,
          ended: [],
          unrecorded: () => [],
          parsers: new Parsers(),
        };
        const taken = withCapture(context, {}, (capture) =>
          capture.record({ request: { name: "raced" }, description: "raced" }),
        );
        // a pack is compared with the store when it is full: that of the rules is so only after gc was there
        expect([rounds, taken.checkpoint.rules]).toEqual([leftover === "piece" ? 2 : 1, rules]);
        expect(await workspace.upkeep.verify({ full: true })).toMatchObject({ ok: true, problems: [] });
      })(),
  );

  test.for(["SELECT hash FROM object", "SELECT DISTINCT pack"])(
    "[R25] while gc looks (%s), a capture uses what was dead until then: it stays",
    (moment) =>
      inProtected({ "x.txt": "x" }, async (project, workspace) => {
        using store = openStore(absolutePath(project.storeDirectory()), { create: false });
        const writer = new ObjectWriter(store.db, store.objects, project.system.owner);
        writer.put(Buffer.from("dead so far"));
        writer.flush();
        writer.abandon();
        project.write("new.txt", "dead so far");
        project.write("newer.txt", "never seen before");
        let captured: Promise<unknown> | undefined;
        const { db } = store;
        const captureAt = (sql: string) => {
          if (captured === undefined && sql.startsWith(moment))
            captured = workspace.checkpoint({ name: "meanwhile" });
        };
        const [iterate, all] = [db.iterate.bind(db), db.all.bind(db)];
        db.iterate = function* (sql, ...values) {
          yield* iterate(sql, ...values);
          captureAt(sql);
        };
        db.all = (sql, ...values) => {
          const rows = all(sql, ...values);
          captureAt(sql);
          return rows;
        };
        collectGarbage(store, project.system, { dropPrunedBefore: 0, dryRun: false });
        await captured;
        expect(captured).toBeDefined();
        project.remove("new.txt");
        project.remove("newer.txt");
        expect(await workspace.restoreTo("meanwhile")).toMatchObject({ outcome: "applied", created: 2 });
      })(),
  );

  test(
    "[R25] leaves alone what a restore under way is about to put in place",
    inProtected({ "x.txt": "x" }, async (project, workspace) => {
      using store = openStore(absolutePath(project.storeDirectory()), { create: false });
      const writer = new ObjectWriter(store.db, store.objects, project.system.owner);
      const hash = writer.put(Buffer.from("of a checkpoint that was dropped meanwhile"));
      writer.flush();
      writer.abandon();
      const id = "klmnopqrstuvwxyz" as OperationId;
      const to = { kind: "file", mode: 0o644, size: 42, hash } as const;
      const finish = {
        kind: "restore",
        description: "",
        thread: null,
        target: null,
        step: null,
        moved: [],
      } as const;
      const edits = [{ path: "y.txt" as BytePath, from: undefined, to }];
      store.db.transaction(() => writeJournal(store.db, { id, safety: 1, edits, finish, startedAt: 0 }));
      await workspace.upkeep.gc();
      expect(store.objects.read(hash).toString()).toBe("of a checkpoint that was dropped meanwhile");
      store.db.transaction(() => removeJournal(store.db, id));
      await workspace.upkeep.gc();
      expect(store.objects.has(hash)).toBe(false);
    }),
  );

  test(
    "beside captures of other processes: nothing they record lacks anything",
    inProtected({ "a.txt": "a" }, async (project, workspace) => {
      const script = `
        for (let i = 0; i < 25; i += 1) {
          fs.writeFileSync(root + "/toggled-" + process.argv.at(-1), "content " + (i % 3) + "x".repeat(30000));
          await workspace.checkpoint({ kind: "tool" });
        }`;
      const children = ["one", "two"].map((name) =>
        spawn(process.execPath, ["--input-type=module", "-e", scriptFor(project, script), name], {
          stdio: ["ignore", "ignore", "inherit"],
        }),
      );
      const ended = children.map((child) => once(child, "exit"));
      let running = true;
      void Promise.all(ended).then(() => (running = false));
      for (let round = 0; running; round += 1) {
        project.clockMs += 2 * DAY_MS;
        await workspace.upkeep.prune({ policy: { ...NOTHING_STAYS, keepMinimum: 2 } });
        await workspace.upkeep.gc();
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      expect((await Promise.all(ended)).map(([code]) => code as number)).toEqual([0, 0]);
    }),
  );

  test(
    "[I43] needs no second copy of the store while it runs",
    inProtected({}, async (project, workspace) => {
      for (let version = 0; version < 12; version += 1) {
        for (let file = 0; file < 8; file += 1) project.write(`f${file}.bin`, randomBytes(200 * KIB));
        await workspace.checkpoint({ kind: version % 3 === 0 ? "manual" : "tool" });
      }
      await workspace.upkeep.prune({ policy: NOTHING_STAYS });
      await project.close(workspace);
      const before = storeSize(project);
      const script = scriptFor({ ...project, clockMs: 2 * DAY_MS }, "return workspace.upkeep.gc();");
      const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
        stdio: ["ignore", "ignore", "inherit"],
      });
      let most = 0;
      const sampling = setInterval(() => (most = Math.max(most, storeSize(project))), 2);
      await once(child, "exit");
      clearInterval(sampling);
      const after = storeSize(project);
      expect(after).toBeLessThan(before * 0.8);
      // what comes on top is the log, which does not grow with the store
      expect(most).toBeLessThan(before + 10 * 1024 * KIB);
      await project.open();
    }),
  );

  test(
    "two at once: the second is told that the first is running",
    inProtected({ "a.txt": "a" }, async (project, workspace) => {
      const child = spawn("sleep", ["60"]);
      const started = execFileSync("sh", ["-c", `cut -d')' -f2 /proc/${child.pid}/stat | cut -d' ' -f21`])
        .toString()
        .trim();
      using store = openStore(absolutePath(project.storeDirectory()), { create: false });
      const values = [child.pid!, started, project.system.owner.boot];
      store.db.run(
        "INSERT INTO lease (id, kind, pid, started, boot, since, first_pack) VALUES ('x', 'gc', ?, ?, ?, 0, 1)",
        ...values,
      );
      await expect(workspace.upkeep.gc()).rejects.toMatchObject({ code: "STORE_BUSY" });
      child.kill();
      await once(child, "exit");
      expect(await workspace.upkeep.gc()).toMatchObject({ dryRun: false });
    }),
  );
});

describe("the cap", () => {
  test(
    "[I40] is kept: tool checkpoints go first, then turns; what a person made stays",
    inProject({}, async (project) => {
      project.configure({ "disk.capBytes": "3MB" });
      const workspace = await project.open();
      const protectedOnes = [1];
      for (let index = 0; index < 40; index += 1) {
        project.write("noise.bin", randomBytes(200 * KIB));
        const kind = index === 3 ? "manual" : index % 4 === 1 ? "message" : "tool";
        const { checkpoint } = await workspace.checkpoint({ kind });
        if (kind === "manual") protectedOnes.push(checkpoint.seq);
        expect(storeSize(project)).toBeLessThan(3_000_000);
      }
      const left = await workspace.list();
      for (const seq of protectedOnes) expect(left.map((checkpoint) => checkpoint.seq)).toContain(seq);
      const kinds = (kind: string) => left.filter((checkpoint) => checkpoint.kind === kind).length;
      expect(kinds("message")).toBeGreaterThan(1);
      expect(kinds("tool")).toBeLessThan(8);
      expect(left[0]).toMatchObject({ seq: 41 });
    }),
  );

  test(
    "[R356] does not take the checkpoint of a version, whatever kind it is of",
    inProject({ "a.bin": randomBytes(300 * KIB) }, async (project) => {
      project.configure({ "disk.capBytes": "3MB" });
      const workspace = await project.open();
      const takeKind = async (kind: CheckpointKind) => {
        project.write("a.bin", randomBytes(300 * KIB));
        return (await workspace.checkpoint({ kind })).checkpoint.id;
      };
      const kept = [await takeKind("tool"), await takeKind("message")];
      const versions = [];
      for (const checkpoint of kept) versions.push((await workspace.versions.create({ checkpoint })).id);
      for (let index = 0; index < 20; index += 1) await takeKind(index % 2 === 0 ? "tool" : "message");
      const left = (await workspace.list()).map(({ id }) => id);
      expect(left.length).toBeLessThan(20);
      expect(left).toEqual(expect.arrayContaining(kept));
      expect((await workspace.versions.list()).map(({ id }) => id)).toEqual(versions);
    }),
  );

  test(
    "[R14] only protected ones left: a new capture fails loudly, and a restore that could not be taken back is refused",
    inProject({ "small.txt": "1" }, async (project) => {
      project.configure({ "disk.capBytes": "1.5MB" });
      const workspace = await project.open();
      for (let index = 0; index < 4; index += 1) {
        project.write("noise.bin", randomBytes(250 * KIB));
        await workspace.checkpoint({ name: `made by hand ${index}` });
      }
      project.write("noise.bin", randomBytes(900 * KIB));
      const before = project.tree();
      await expect(workspace.checkpoint()).rejects.toMatchObject({ code: "STORE_FULL" });
      await expect(workspace.restoreTo("made by hand 0")).rejects.toMatchObject({ code: "STORE_FULL" });
      expect(project.tree()).toEqual(before);
      expect(await workspace.list()).toHaveLength(5);
      project.remove("noise.bin");
      await workspace.restoreTo("made by hand 3");
      expect(storeSize(project)).toBeLessThan(1_600_000);
    }),
  );

  test(
    "what is larger than the cap is refused once and for all, the first capture too, and leaves nothing behind",
    inProject({ "large.bin": randomBytes(20_000 * KIB) }, async (project) => {
      project.configure({ "disk.capBytes": "12MB" });
      await expect(project.open()).rejects.toMatchObject({ code: "STORE_FULL" });
      expect(readdirSync(join(project.home, "workspaces"))).toEqual([]);
      const large = readFileSync(join(project.root, "large.bin"));
      project.write("large.bin", "small");
      const workspace = await project.open();
      project.write("large.bin", large);
      await expect(workspace.checkpoint()).rejects.toMatchObject({ code: "STORE_FULL" });
      expect(storeSize(project)).toBeLessThan(1024 * KIB);
    }),
  );

  test(
    "making room for a restore does not drop the checkpoint that is restored",
    inProject({ "a.bin": randomBytes(300 * KIB) }, async (project) => {
      project.configure({ "disk.capBytes": "3MB" });
      const workspace = await project.open();
      project.write("a.bin", randomBytes(300 * KIB));
      const { checkpoint } = await workspace.checkpoint({ kind: "tool" });
      const wanted = project.tree();
      for (let index = 0; index < 6; index += 1) {
        project.write("a.bin", randomBytes(300 * KIB));
        await workspace.checkpoint({ kind: "message" });
      }
      project.write("a.bin", randomBytes(600 * KIB));
      expect(await workspace.restoreTo(checkpoint.id)).toMatchObject({ outcome: "applied" });
      expect(project.tree()).toEqual(wanted);
    }),
  );
});

describe.skipIf(!canMount)("a full disk", () => {
  test(
    "[I43] captures say so, prune and gc still work, and then captures do again",
    inProject({}, async (project) => {
      mkdirSync(project.home, { mode: 0o700 });
      expect(mountSmall(project.home, "24m")).toBe(true);
      chmodSync(project.home, 0o700);
      try {
        const workspace = await project.open();
        let full: unknown;
        for (let index = 0; index < 40 && full === undefined; index += 1) {
          project.write("noise.bin", randomBytes(1000 * KIB));
          await workspace.checkpoint({ kind: "tool" }).catch((error: unknown) => (full = error));
        }
        expect(full).toMatchObject({ code: "DISK_FULL" });
        const before = (await workspace.list()).length;
        await workspace.close();
        execFileSync("sh", ["-c", `cat /dev/zero > ${project.home}/filler 2>/dev/null || true`]);
        // a new process, with not a byte free
        const policy = JSON.stringify({ ...NOTHING_STAYS, keepMinimum: 3 });
        const report = runScript<{ pruned: number; dropped: number }>(
          project,
          `
          const { pruned } = await workspace.upkeep.prune({ policy: ${policy} });
          const later = await openWorkspace(root, { home, clock: () => Date.now() + 48 * 3600 * 1000 });
          const { checkpointsDropped } = await later.upkeep.gc();
          await later.close();
          return { pruned: pruned.length, dropped: checkpointsDropped };`,
        );
        expect(report.pruned).toBe(before - 4);
        expect(report.dropped).toBe(report.pruned);
        const again = await project.open();
        await again.checkpoint({ name: "again" });
        expect(await again.upkeep.verify({ full: true })).toMatchObject({ ok: true });
        await again.close();
      } finally {
        project.damaged = true;
        unmount(project.home);
      }
    }),
  );
});
