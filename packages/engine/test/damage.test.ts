/**
 * A damaged store: no wrong byte reaches the working copy, what is affected is listed, everything else works.
 * The store is damaged in every way that fits into a few seconds, each time on a copy: bytes flipped all over the
 * file, cut off, rows taken out from under it. BELAY_SEED repeats a run, BELAY_FLIPS asks for more of them.
 */
import {
  closeSync,
  cpSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  EngineError,
  findWorkspace,
  openWorkspace,
  type VerifyReport,
  type Workspace,
} from "../src/index.ts";
import { inProject, inProtected, makeDirectory, runScript, type Project } from "./support/project.ts";
import { createSeededRandom } from "./support/seeded-random.ts";
import { readTreeMap, type TreeMap } from "./support/tree-map.ts";

const FLIPS = Number(process.env["BELAY_FLIPS"] ?? 200);
const base = makeDirectory("belay-damage-");
const random = createSeededRandom(Number(process.env["BELAY_SEED"] ?? 20_261_115));
const root = join(base, "root");
const home = join(base, "home");
const pristine = join(base, "pristine");
const states: { readonly ref: string; readonly id: string; readonly tree: TreeMap }[] = [];
let storeFile: string;

afterAll(() => rmSync(base, { recursive: true, force: true }));

beforeAll(async () => {
  mkdirSync(root);
  const workspace = await openWorkspace(root, { home });
  for (let version = 1; version <= 4; version += 1) {
    for (let file = 0; file < 12; file += 1) {
      mkdirSync(join(root, `d${file % 3}`), { recursive: true });
      if (version === 1 || file % 4 === version - 1)
        writeFileSync(join(root, `d${file % 3}/f${file}`), noise(2_000 + file * 900));
    }
    writeFileSync(join(root, `only-in-${version}.txt`), `version ${version}\n`.repeat(50 * version));
    const { checkpoint } = await workspace.checkpoint({ name: `v${version}` });
    states.push({ ref: `v${version}`, id: checkpoint.id, tree: readTreeMap(root) });
    if (version === 2) await workspace.gc();
  }
  const store = (await workspace.status()).store;
  await workspace.close();
  storeFile = join(store, "store.db");
  for (const name of ["root", "home"])
    cpSync(join(base, name), join(pristine, name), { recursive: true, preserveTimestamps: true });
});

function noise(length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => random.below(256)));
}

/** The project and its store as they were, then damaged. */
function damage(work: (file: string) => void): void {
  for (const name of ["root", "home"]) {
    rmSync(join(base, name), { recursive: true });
    cpSync(join(pristine, name), join(base, name), { recursive: true, preserveTimestamps: true });
  }
  work(storeFile);
}

function patch(file: string, position: number, change: (byte: number) => number): void {
  const descriptor = openSync(file, "r+");
  const byte = Buffer.alloc(1);
  readSync(descriptor, byte, 0, 1, position);
  byte[0] = change(byte[0]!);
  writeSync(descriptor, byte, 0, 1, position);
  closeSync(descriptor);
}

const DAMAGE = [
  "STORE_CORRUPT",
  "STORE_REPLACED",
  "STORE_NEWER",
  "OBJECT_CORRUPT",
  "OBJECT_MISSING",
  "CHECKPOINT_NOT_FOUND",
  "FILE_SYSTEM",
];

/** What an attempt throws must be an error of the engine that speaks of damage. */
async function attempt<Result>(work: () => Promise<Result>): Promise<Result | EngineError> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof EngineError && DAMAGE.includes(error.code)) return error;
    throw error;
  }
}

/** Opens the damaged store and restores one state: exactly, or not at all. */
async function expectNoWrongByte(label: string): Promise<"sound" | "found" | "refused"> {
  writeFileSync(join(root, "later.txt"), "something that no checkpoint has yet");
  const before = readTreeMap(root);
  const opened = await attempt(() => findWorkspace(root, { home }));
  if (opened instanceof EngineError) return "refused";
  await using workspace = opened;
  const report = await attempt(() => workspace.verify({ full: true }));
  expect(report, `${label}: verify itself fails`).not.toBeInstanceOf(EngineError);
  const { ok, problems } = report as VerifyReport;
  const target = random.pick(states);
  const outcome = await attempt(() => workspace.restoreTo(target.id));
  if (outcome instanceof EngineError) {
    expect(ok, `${label}: verify finds nothing, yet ${target.ref} fails with ${outcome.message}`).toBe(false);
    // if the store fails only when everything is in place, it must say so
    const isDone = outcome.message.startsWith("Your files were changed as planned");
    expect(readTreeMap(root), label).toEqual(isDone ? target.tree : before);
    const isKnown = problems.some(
      ({ kind, checkpoints }) => kind === "database" || checkpoints.includes(target.id as never),
    );
    expect(
      isKnown || outcome.code === "CHECKPOINT_NOT_FOUND",
      `${label}: ${target.ref} is not listed: ${outcome.message} ${JSON.stringify(problems)}`,
    ).toBe(true);
  } else {
    expect(readTreeMap(root), label).toEqual(target.tree);
  }
  return ok ? "sound" : "found";
}

describe("a store that is damaged anywhere", () => {
  test(`${FLIPS} flipped bits, seed ${random.seed}`, { timeout: 300_000 }, async () => {
    const results = { sound: 0, found: 0, refused: 0 };
    const size = statSync(storeFile).size;
    for (let index = 0; index < FLIPS; index += 1) {
      const position = random.below(size);
      const bit = 1 << random.below(8);
      damage((file) => patch(file, position, (byte) => byte ^ bit));
      results[await expectNoWrongByte(`bit ${bit} of byte ${position}`)] += 1;
    }
    // much of the file is content: many flips must have been noticed
    expect(results.found, JSON.stringify(results)).toBeGreaterThan(FLIPS * 0.4);
  });

  test("whole sectors of zeros or noise", { timeout: 60_000 }, async () => {
    const size = statSync(storeFile).size;
    for (let index = 0; index < 30; index += 1) {
      const position = Math.floor(random.below(size) / 512) * 512;
      damage((file) => {
        const descriptor = openSync(file, "r+");
        writeSync(descriptor, index % 2 === 0 ? Buffer.alloc(512) : noise(512), 0, 512, position);
        closeSync(descriptor);
      });
      await expectNoWrongByte(`sector at ${position}`);
    }
  });

  test("cut off anywhere, or empty", { timeout: 60_000 }, async () => {
    const size = statSync(storeFile).size;
    for (const length of [0, 1, 512, 4096, 8192, ...Array.from({ length: 15 }, () => random.below(size))]) {
      damage((file) => {
        const descriptor = openSync(file, "r+");
        ftruncateSync(descriptor, length);
        closeSync(descriptor);
      });
      await expectNoWrongByte(`cut at ${length}`);
      expect(existsSync(storeFile)).toBe(true);
    }
  });

  test("replaced by another workspace's store", async () => {
    damage((file) => {
      const db = new DatabaseSync(file);
      db.exec("UPDATE meta SET value = 'klmnopqrstuvwxyz' WHERE key = 'workspace_id'");
      db.close();
    });
    await expect(findWorkspace(root, { home })).rejects.toMatchObject({ code: "STORE_REPLACED" });
  });

  test("with a write-ahead log that is not its own", async () => {
    damage((file) => writeFileSync(`${file}-wal`, noise(100_000)));
    expect(await expectNoWrongByte("foreign log")).toBe("sound");
  });
});

describe("rows that are gone or swapped", () => {
  const edit = (sql: string) => (file: string) => {
    const db = new DatabaseSync(file, { enableForeignKeyConstraints: false });
    db.exec(sql);
    db.close();
  };

  async function findings(sql: string): Promise<{ quick: string[]; full: string[]; workspace: Workspace }> {
    damage(edit(sql));
    const workspace = await findWorkspace(root, { home });
    const kinds = ({ problems }: VerifyReport) => [...new Set(problems.map(({ kind }) => kind))].sort();
    return {
      quick: kinds(await workspace.verify()),
      full: kinds(await workspace.verify({ full: true })),
      workspace,
    };
  }

  test("[R26] an object: quick finds it, the checkpoints that need it are listed, the others restore", async () => {
    const { quick, full, workspace } = await findings(
      "DELETE FROM object WHERE hash = (SELECT substr(new, -32) FROM change WHERE checkpoint = (SELECT max(checkpoint) FROM change) AND CAST(path AS TEXT) = 'only-in-4.txt')",
    );
    await using _ = workspace;
    expect([quick, full]).toEqual([["object-missing"], ["object-missing"]]);
    const { problems } = await workspace.verify();
    expect(problems.flatMap(({ checkpoints }) => checkpoints)).toEqual([states[3]!.id]);
    const before = readTreeMap(root);
    rmSync(join(root, "only-in-4.txt"));
    await expect(workspace.restoreTo("v4")).rejects.toMatchObject({
      code: "OBJECT_MISSING",
      facts: { checkpoints: expect.arrayContaining([states[3]!.id]) as unknown },
    });
    await workspace.restoreTo("v3");
    expect(readTreeMap(root)).toEqual(states[2]!.tree);
    expect(before).toEqual(states[3]!.tree);
  });

  test("[I14] what is damaged in the store but stands in the working copy is stored anew before it is overwritten", async () => {
    damage(
      edit(
        "UPDATE object SET offset = offset + 1 WHERE hash = (SELECT substr(new, -32) FROM change WHERE CAST(path AS TEXT) = 'only-in-4.txt')",
      ),
    );
    await using workspace = await findWorkspace(root, { home });
    expect((await workspace.verify({ full: true })).ok).toBe(false);
    expect(await workspace.restoreTo("v3")).toMatchObject({ outcome: "applied", conflicts: [] });
    expect(readTreeMap(root)).toEqual(states[2]!.tree);
    await workspace.restoreTo("v4");
    expect(readTreeMap(root)).toEqual(states[3]!.tree);
    expect(await workspace.verify({ full: true })).toMatchObject({ ok: true });
  });

  test("[N2] a damaged newest checkpoint keeps nobody from taking new ones", () => {
    damage(edit("DELETE FROM object WHERE hash = (SELECT snapshot FROM checkpoint WHERE name = 'v4')"));
    const said = runScript<{ status: string[]; next: string[]; outcome: string }>(
      { root, home },
      `
      fs.writeFileSync(root + "/other.txt", "x");
      const { warnings: status } = await workspace.status();
      const { warnings: next } = await workspace.checkpoint({ name: "next" });
      fs.writeFileSync(root + "/other.txt", "y");
      const { outcome } = await workspace.restoreTo("next");
      await workspace.restoreTo("v2");
      return { status, next, outcome };`,
    );
    expect(said.status.join()).toContain("newest checkpoint is damaged");
    expect(said.next.join()).toContain("previous checkpoint is damaged");
    expect(said.outcome).toBe("applied");
    expect(readTreeMap(root)).toEqual(states[1]!.tree);
  });

  test("a pack: every object in it is missing", async () => {
    const { quick, workspace } = await findings("DELETE FROM pack WHERE id = (SELECT max(id) FROM pack)");
    await using _ = workspace;
    expect(quick).toContain("row-invalid");
    await workspace.restoreTo("v1");
    expect(readTreeMap(root)).toEqual(states[0]!.tree);
  });

  test("content swapped for other content of the same length: full finds it, quick cannot", async () => {
    const { full, workspace } = await findings(
      "UPDATE pack SET data = (SELECT data FROM pack p WHERE p.id <> pack.id AND p.raw_bytes <> pack.raw_bytes LIMIT 1) WHERE id = (SELECT max(id) FROM pack)",
    );
    await using _ = workspace;
    expect(full.length).toBeGreaterThan(0);
    const before = readTreeMap(root);
    const failed = await attempt(() => workspace.restoreTo("v3"));
    expect(failed instanceof EngineError ? before : states[2]!.tree).toEqual(readTreeMap(root));
  });

  test("a checkpoint made to name another tree, rules or parent: refused", async () => {
    for (const column of ["snapshot", "rules", "excluded", "parents", "created_at", "kind"]) {
      for (const value of [`(SELECT ${column} FROM checkpoint WHERE seq = 1)`, "x'00'", "'text'", "7"]) {
        const { quick, workspace } = await findings(
          `UPDATE checkpoint SET ${column} = ${value} WHERE name = 'v4'`,
        );
        await using _ = workspace;
        // all of them were taken by the same rules
        const isSame = (column === "excluded" || column === "rules") && value.startsWith("(");
        expect(quick, `${column} ${value}`).toEqual(isSame ? [] : ["row-invalid"]);
        const before = readTreeMap(root);
        if (!isSame)
          await expect(workspace.restoreTo("v4"), column).rejects.toMatchObject({ code: "OBJECT_CORRUPT" });
        expect(readTreeMap(root)).toEqual(before);
        expect(await workspace.list()).toHaveLength(5);
        await workspace.restoreTo("v2");
        expect(readTreeMap(root)).toEqual(states[1]!.tree);
      }
    }
  });

  test("[R26] a change row rewritten: undo and revert refuse to write what it says", async () => {
    const { quick, workspace } = await findings(
      "UPDATE change SET old = new WHERE CAST(path AS TEXT) = 'only-in-4.txt'",
    );
    await using _ = workspace;
    expect(quick).toEqual(["row-invalid"]);
    const before = readTreeMap(root);
    await expect(workspace.revert("v4")).rejects.toMatchObject({
      code: "OBJECT_CORRUPT",
      facts: { checkpoints: [states[3]!.id] },
    });
    expect(readTreeMap(root)).toEqual(before);
  });

  test("an entry of the log taken out or altered", async () => {
    for (const sql of [
      "DELETE FROM operation WHERE seq = 2",
      "UPDATE operation SET detail = replace(detail, 'manual', 'tool') WHERE seq = 3",
    ]) {
      const { quick, workspace } = await findings(sql);
      await using _ = workspace;
      expect(quick).toEqual(["log"]);
    }
  });

  test(
    "content that only an undo needs is looked after, too",
    inProtected({ "a.txt": "before" }, async (project, workspace) => {
      project.damaged = true;
      project.write("a.txt", "meanwhile");
      await workspace.checkpoint({ kind: "tool" });
      const turn = await workspace.turn({ prompt: "edit" }, async () => project.write("a.txt", "after"));
      // the checkpoints that had the content before the turn go; the turn's own record still needs it
      await workspace.prune({
        policy: { name: "none", keepAllHours: 0, keepTurnsHours: 0, keepMinimum: 0, keepMaximum: null },
      });
      project.clockMs = 48 * 3_600_000;
      expect(await workspace.gc()).toMatchObject({ checkpointsDropped: 2 });
      expect(await workspace.verify({ full: true })).toMatchObject({ ok: true });
      edit(
        `DELETE FROM object WHERE hash = (SELECT substr(old, -32) FROM change WHERE checkpoint = ${turn.after.seq})`,
      )(join(project.storeDirectory(), "store.db"));
      expect((await workspace.verify()).problems).toMatchObject([
        { kind: "object-missing", checkpoints: [turn.after.id] },
      ]);
      const blamed = expect.arrayContaining([turn.after.id]) as unknown;
      await expect(workspace.undo()).rejects.toMatchObject({
        code: "OBJECT_MISSING",
        facts: { checkpoints: blamed },
      });
      expect(project.read("a.txt")).toBe("after");
    }),
  );

  test("a table whose definition is damaged", async () => {
    damage((file) => {
      const bytes = readFileSync(file, "latin1");
      writeFileSync(file, bytes.replaceAll("note TEXT, description", "nota TEXT, description"), "latin1");
    });
    await using workspace = await findWorkspace(root, { home });
    const { problems } = await workspace.verify();
    expect(problems.map(({ kind }) => kind)).toContain("database");
  });
});

describe("the stat cache is only a cache", () => {
  const cacheOf = (project: Project) => join(project.storeDirectory(), "stat-cache");

  test(
    "flipped, cut off, emptied or foreign: the next capture sees what is there",
    inProject({ "a.txt": "a", "d/b.txt": "b" }, async (project) => {
      await project.close(await project.open());
      const bytes = readFileSync(cacheOf(project));
      const variants = [
        Buffer.alloc(0),
        bytes.subarray(0, 40),
        Buffer.from("garbage"),
        Buffer.concat([bytes, Buffer.from("more")]),
      ];
      for (let index = 0; index < 40; index += 1) {
        const flipped = Buffer.from(bytes);
        flipped[random.below(flipped.length)]! ^= 1 << random.below(8);
        variants.push(flipped);
      }
      for (const [index, variant] of variants.entries()) {
        writeFileSync(cacheOf(project), variant);
        project.write("a.txt", `content ${index % 2}`);
        const workspace = await openWorkspace(project.root, { home: project.home });
        const { checkpoint } = await workspace.checkpoint();
        expect(checkpoint.files).toBe(2);
        for await (const file of workspace.files("@")) {
          if (file.path === "a.txt")
            expect(Buffer.concat([...file.content()]).toString()).toBe(`content ${index % 2}`);
        }
        await workspace.close();
      }
      await project.open();
    }),
  );

  test(
    "one that cannot be written does not fail the checkpoint it belongs to",
    inProtected({ "a.txt": "a" }, async (project, workspace) => {
      rmSync(cacheOf(project));
      mkdirSync(join(cacheOf(project), "in the way"), { recursive: true });
      project.write("a.txt", "b");
      expect(await workspace.checkpoint()).toMatchObject({ unchanged: false });
      expect(await workspace.list()).toHaveLength(2);
    }),
  );

  test(
    "an older store beside a newer cache does not make checkpoints that lack content",
    inProject({ "a.txt": "old", "same.txt": "same" }, async (project) => {
      await project.close(await project.open());
      const store = join(project.storeDirectory(), "store.db");
      cpSync(store, join(project.base, "backup.db"));
      project.write("a.txt", "new, and only the newer store has it");
      const workspace = await project.open();
      await workspace.checkpoint();
      await project.close(workspace);
      for (const suffix of ["-wal", "-shm"]) rmSync(`${store}${suffix}`, { force: true });
      cpSync(join(project.base, "backup.db"), store);
      const older = await project.open();
      await older.checkpoint({ name: "after" });
      project.write("a.txt", "even newer");
      await older.restoreTo("after");
      expect(project.read("a.txt")).toBe("new, and only the newer store has it");
    }),
  );

  test(
    "a cache from before a path was forgotten does not make checkpoints that lack its content",
    inProject({ "secret.txt": "s".repeat(100), "x.txt": "x" }, async (project) => {
      const workspace = await project.open();
      await workspace.checkpoint();
      const other = await project.open();
      await other.checkpoint();
      await new Promise((resolve) => setTimeout(resolve, 100));
      await other.checkpoint();
      await workspace.forget("secret.txt");
      await project.close(workspace);
      // one process that had looked before, and one that reads the cache that was left
      await other.checkpoint({ name: "same process" });
      const next = await project.open();
      await next.checkpoint({ name: "next process" });
      expect(await next.verify({ full: true })).toMatchObject({ ok: true, problems: [] });
      project.remove("secret.txt");
      await next.restoreTo("same process");
      expect(project.read("secret.txt")).toBe("s".repeat(100));
    }),
  );

  test(
    "[I14] a torn object is not trusted by its name: verify finds it, and nothing is restored from it",
    inProtected({ "a.txt": "content of a" }, async (project, workspace) => {
      project.damaged = true;
      await workspace.checkpoint();
      const db = new DatabaseSync(join(project.storeDirectory(), "store.db"));
      db.exec("UPDATE pack SET data = substr(data, 1, length(data) / 2)");
      db.close();
      const again = await project.open();
      project.write("a.txt", "changed");
      await expect(again.restoreTo("1")).rejects.toMatchObject({ code: "OBJECT_CORRUPT" });
      expect(project.read("a.txt")).toBe("changed");
      expect((await again.verify()).ok).toBe(false);
    }),
  );
});
