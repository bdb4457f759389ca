/**
 * A damaged store: no wrong byte reaches the working copy, what is affected is listed, everything else works.
 * Rows are taken out from under it here; bytes at random are the torture suite `corruption`.
 */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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
import { attempt, DamagedStore } from "./support/damaged-store.ts";
import { inProject, inProtected, runScript, type Project } from "./support/project.ts";
import { createSeededRandom } from "./support/seeded-random.ts";
import { readTreeMap } from "./support/tree-map.ts";

const random = createSeededRandom(Number(process.env["BELAY_SEED"] ?? 20_261_115));
const store = new DamagedStore(random);
const { root, home, states } = store;
const damage = (work: (file: string) => void) => store.damage(work);

beforeAll(() => store.build());
afterAll(() => store.remove());

describe("a store that is not its own", () => {
  test("replaced by another workspace's store", async () => {
    damage((file) => {
      const db = new DatabaseSync(file);
      db.exec("UPDATE meta SET value = 'klmnopqrstuvwxyz' WHERE key = 'workspace_id'");
      db.close();
    });
    await expect(findWorkspace(root, { home })).rejects.toMatchObject({ code: "STORE_REPLACED" });
  });

  test("with a write-ahead log that is not its own", async () => {
    damage((file) => writeFileSync(`${file}-wal`, store.noise(100_000)));
    expect(await store.expectNoWrongByte()).toBe("sound");
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
      quick: kinds(await workspace.upkeep.verify()),
      full: kinds(await workspace.upkeep.verify({ full: true })),
      workspace,
    };
  }

  test("[R26, L46] an object: quick finds it, the checkpoints that need it are listed, the others restore", async () => {
    const { quick, full, workspace } = await findings(
      "DELETE FROM object WHERE hash = (SELECT substr(new, -32) FROM change WHERE checkpoint = (SELECT max(checkpoint) FROM change) AND CAST(path AS TEXT) = 'only-in-4.txt')",
    );
    await using _ = workspace;
    expect([quick, full]).toEqual([["object-missing"], ["object-missing"]]);
    const { problems, checkpoints: all } = await workspace.upkeep.verify();
    expect(problems.flatMap(({ checkpoints }) => checkpoints)).toEqual([states[3]!.id]);
    // [R313] the status says so from then on
    const { damage: known, warnings } = await workspace.status();
    expect(known).toMatchObject({ checkpoints: 1, sound: all - 1, at: expect.any(Number) });
    expect(warnings).toContainEqual(expect.stringMatching(/^1 checkpoint cannot be restored in full/));
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

  test("[I14] what is damaged in the store but stands in the working copy is stored again before it is overwritten", async () => {
    damage(
      edit(
        "UPDATE object SET offset = offset + 1 WHERE hash = (SELECT substr(new, -32) FROM change WHERE CAST(path AS TEXT) = 'only-in-4.txt')",
      ),
    );
    await using workspace = await findWorkspace(root, { home });
    expect((await workspace.upkeep.verify({ full: true })).ok).toBe(false);
    expect(await workspace.restoreTo("v3")).toMatchObject({ outcome: "applied", conflicts: [] });
    expect(readTreeMap(root)).toEqual(states[2]!.tree);
    await workspace.restoreTo("v4");
    expect(readTreeMap(root)).toEqual(states[3]!.tree);
    expect(await workspace.upkeep.verify({ full: true })).toMatchObject({ ok: true });
  });

  test("[N2] a damaged newest checkpoint does not prevent new ones", () => {
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

  test.each(["rules", "snapshot", "excluded"])(
    "[R26] %s of the newest checkpoint is gone: the others are restored all the same",
    async (column) => {
      const { quick, workspace } = await findings(
        `UPDATE checkpoint SET ${column} = randomblob(32) WHERE seq = (SELECT max(seq) FROM checkpoint)`,
      );
      await using _ = workspace;
      expect(quick).toEqual(["row-invalid"]);
      // something that no checkpoint has yet
      writeFileSync(join(root, "new.txt"), "new\n");
      await workspace.restoreTo("v2");
      expect(readTreeMap(root)).toEqual(states[1]!.tree);
    },
  );

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
      const turn = await workspace.turns.run({ prompt: "edit" }, async () => project.write("a.txt", "after"));
      // the checkpoints that had the content before the turn go; the turn's own record still needs it
      await workspace.upkeep.prune({
        policy: { name: "none", keepAllHours: 0, keepTurnsHours: 0, keepMinimum: 0, keepMaximum: null },
      });
      // pruning spares the checkpoint before the last turn: that it is gone has to be arranged
      edit(`UPDATE checkpoint SET pruned_at = 1 WHERE seq = ${turn.before.seq}`)(
        join(project.storeDirectory(), "store.db"),
      );
      project.clockMs = 48 * 3_600_000;
      expect(await workspace.upkeep.gc()).toMatchObject({ checkpointsDropped: 2 });
      expect(await workspace.upkeep.verify({ full: true })).toMatchObject({ ok: true });
      edit(
        `DELETE FROM object WHERE hash = (SELECT substr(old, -32) FROM change WHERE checkpoint = ${turn.after.seq})`,
      )(join(project.storeDirectory(), "store.db"));
      expect((await workspace.upkeep.verify()).problems).toMatchObject([
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
    const { problems } = await workspace.upkeep.verify();
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
      await workspace.upkeep.forget("secret.txt");
      await project.close(workspace);
      // one process that had looked before, and one that reads the cache that was left
      await other.checkpoint({ name: "same process" });
      const next = await project.open();
      await next.checkpoint({ name: "next process" });
      expect(await next.upkeep.verify({ full: true })).toMatchObject({ ok: true, problems: [] });
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
      expect((await again.upkeep.verify()).ok).toBe(false);
    }),
  );
});
