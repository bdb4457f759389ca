/** Two working copies of one store: neither sees what happens in the other. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { rename, rm } from "node:fs/promises";
import { expect, test } from "vitest";
import { findWorkspace, type Fork } from "../src/index.ts";
import { inWorkspace, startInProcess, type TempWorkspace } from "./support/temp-workspace.ts";

const FILES = { x: "0\n", y: "0\n" };

async function descriptions({ workspace }: TempWorkspace): Promise<string[]> {
  return (await workspace.list()).map(({ description }) => description).reverse();
}

test(
  "[R94] captures go to the branch of their working copy: each lists its own line and what came before the fork",
  inWorkspace(FILES, async (temp) => {
    const fork = await temp.fork("fork");
    fork.write("x", "fork\n");
    await fork.workspace.checkpoint({ name: "in the fork" });
    temp.write("y", "root\n");
    const { checkpoint, unchanged } = await temp.workspace.checkpoint({ name: "in the root" });
    expect(unchanged).toBe(false);
    expect(checkpoint).toMatchObject({ branch: "main", fork: null, changes: { modified: 1 } });
    expect(await descriptions(temp)).toEqual(["Initial checkpoint", "Before fork fork", "in the root"]);
    expect(await descriptions(fork)).toEqual(["Initial checkpoint", "Before fork fork", "in the fork"]);
    expect(await fork.workspace.resolve("@")).toMatchObject({
      name: "in the fork",
      branch: "fork",
      fork: "fork",
    });
    // every checkpoint of the store can be named from everywhere
    expect(await fork.workspace.resolve("in the root")).toMatchObject({ id: checkpoint.id });
    expect((await temp.workspace.timeline.rows()).rows.map(({ title }) => title)).not.toContain(
      "in the fork",
    );
  }),
);

test(
  "[R94] undo and redo take the steps of their working copy only",
  inWorkspace(FILES, async (temp) => {
    await temp.turn("before", () => temp.write("x", "1\n"));
    const fork = await temp.fork("fork");
    await temp.turn("root", () => temp.write("y", "root\n"));
    await fork.turn("fork", () => fork.write("y", "fork\n"));
    expect(await temp.workspace.undo()).toMatchObject({ outcome: "applied", steps: [{ prompt: "root" }] });
    expect([temp.read("y"), fork.read("y")]).toEqual(["0\n", "fork\n"]);
    expect(await fork.workspace.undo()).toMatchObject({ outcome: "applied", steps: [{ prompt: "fork" }] });
    // what was done before the fork began is not the fork's to undo
    expect(await fork.workspace.undo()).toMatchObject({ outcome: "unchanged" });
    expect(await temp.workspace.redo()).toMatchObject({ steps: [{ prompt: "root" }] });
    expect(await temp.workspace.redo()).toMatchObject({ outcome: "unchanged" });
    expect([temp.read("y"), fork.read("y")]).toEqual(["root\n", "0\n"]);
    expect(await temp.workspace.undo({ count: 2 })).toMatchObject({ outcome: "applied" });
    expect([temp.read("x"), fork.read("x")]).toEqual(["0\n", "1\n"]);
  }),
);

test(
  "[R94] a tool that is open in one working copy is no author of changes in the other",
  inWorkspace(FILES, async (temp) => {
    const fork = await temp.fork("fork");
    const thread = await fork.openThread("codex");
    await fork.workspace.turns.prompt(thread, { content: "change x" });
    await fork.workspace.turns.beginTool(thread, { tool: "Bash", toolUseId: "u-1", nature: "command" });
    temp.write("x", "by hand\n");
    const { id } = await temp.workspace.checkpoint();
    expect((await temp.workspace.show(id)).files).toMatchObject([{ path: "x", attribution: "outside" }]);
    fork.write("x", "by the tool\n");
    const after = await fork.workspace.turns.endTool(thread, { toolUseId: "u-1" });
    expect((await fork.workspace.show(after!.id)).files).toMatchObject([{ path: "x", attribution: "tool" }]);
    // nor is the turn in the way of the root's approval
    const other = await temp.openThread("claude-code");
    await temp.workspace.threads.create({ agent: "claude-code", externalId: "claude-code" });
    await temp.turn("mine", () => temp.write("y", "1\n"), other);
    expect((await temp.workspace.approvals.session(other)).changedFiles).toMatchObject([{ path: "y" }]);
    await fork.workspace.turns.end(thread);
    expect(await fork.workspace.undo()).toMatchObject({ steps: [{ prompt: "change x" }] });
    expect([temp.read("x"), fork.read("x")]).toEqual(["by hand\n", "0\n"]);
  }),
);

test(
  "[R94] a restore in one working copy marks nothing of the other as taken back",
  inWorkspace(FILES, async (temp) => {
    const { id: target } = await temp.workspace.checkpoint();
    const fork = await temp.fork("fork");
    const thread = await fork.openThread("codex");
    await fork.workspace.turns.prompt(thread, { content: "change x", messageId: "m-1" });
    fork.write("x", "fork\n");
    await fork.workspace.turns.end(thread);
    temp.write("x", "root\n");
    expect(await temp.workspace.restoreTo(target)).toMatchObject({
      outcome: "applied",
      plan: { otherThreads: [] },
    });
    expect((await fork.workspace.list()).filter(({ rolledBack }) => rolledBack)).toEqual([]);
    const next = await fork.workspace.turns.prompt(thread, { content: "go on" });
    expect(next.rolledBack).toEqual([]);
    expect(fork.read("x")).toBe("fork\n");
  }),
);

test(
  "[R94] [N6] a path that a tool named in a fork, where it was absent, is not taken for absent in the root",
  inWorkspace({ ...FILES, ".gitignore": "out/\n", "out/large.log": "the user's\n" }, async (temp) => {
    const { id: target } = await temp.workspace.checkpoint();
    const fork = await temp.fork("fork");
    fork.remove("out");
    const thread = await fork.openThread("codex");
    await fork.workspace.turns.prompt(thread, { content: "log" });
    await fork.workspace.turns.beginTool(thread, {
      tool: "Write",
      toolUseId: "u-1",
      paths: ["out/large.log"],
    });
    fork.write("out/large.log", "the tool's\n");
    await fork.workspace.turns.endTool(thread, { toolUseId: "u-1" });
    await temp.workspace.restoreTo(target);
    expect(temp.read("out/large.log")).toBe("the user's\n");
    // in the fork the root's earlier checkpoint proves nothing either
    await fork.workspace.restoreTo(target);
    expect(fork.read("out/large.log")).toBe("the tool's\n");
  }),
);

test(
  "[R94] two processes capture, undo and restore in two working copies at once; none is refused or outruns the other",
  inWorkspace(FILES, async (temp) => {
    const fork = await temp.fork("fork");
    const script = (name: string) => `
      const outcomes = [];
      for (let i = 0; i < 12; i++) {
        await workspace.turns.run({ prompt: "t" + i }, async () => fs.writeFileSync(root + "/x", "${name} " + i + "\\n"));
        if (i % 3 === 2) outcomes.push((await workspace.undo()).outcome);
        if (i % 4 === 3) outcomes.push((await workspace.restoreTo("@-1")).outcome);
      }
      return outcomes;`;
    const [a, b] = await Promise.all([
      startInProcess<string[]>(temp, script("root")),
      startInProcess<string[]>(fork, script("fork")),
    ]);
    expect(a).toEqual(b);
    expect(a.filter((outcome) => outcome === "applied").length).toBeGreaterThan(4);
    for (const each of [temp, fork]) {
      await each.reopen();
      const listed = await each.workspace.list();
      expect(new Set(listed.map(({ branch }) => branch))).toEqual(
        new Set(each === temp ? ["main"] : ["main", "fork"]),
      );
    }
    // as if each had been alone
    const plain = async (each: TempWorkspace) =>
      (await descriptions(each)).map((text) => text.replace(/\d+ \(/, "("));
    expect(await plain(temp)).toEqual(await plain(fork));
    expect(temp.read("x").replace("root", "fork")).toBe(fork.read("x"));
  }),
);

test(
  "[R94] [R95] [R92] eight forks of one store at work at once: each undoes its own, all of them merge, and nothing is left of them",
  inWorkspace(FILES, async (temp) => {
    const { workspace } = temp;
    const made = [];
    for (let number = 0; number < 8; number += 1) made.push(await workspace.fork(`f${number}`));
    const work = async ({ id, name, path }: Fork) => {
      await using place = await workspace.openFork(id);
      const write = (text: string) => writeFileSync(join(path, `${name}.txt`), text);
      for (let turn = 0; turn < 4; turn += 1)
        await place.turns.run({ prompt: `${name} ${turn}` }, async () => write(`${name} ${turn}\n`));
      const undone = await place.undo();
      expect(undone.steps.map(({ prompt }) => prompt)).toEqual([`${name} 3`]);
      expect(readFileSync(join(path, `${name}.txt`), "utf8")).toBe(`${name} 2\n`);
    };
    await Promise.all(made.map(work));
    const outcome = await workspace.merge(await workspace.planMerge(made.map(({ branch }) => branch)));
    expect(outcome).toMatchObject({ outcome: "applied", created: 8 });
    for (const { name } of made) expect(temp.read(`${name}.txt`)).toBe(`${name} 2\n`);
    await workspace.undo();
    for (const { name } of made) await workspace.removeFork(name, { now: true });
    expect(await workspace.forks({ removed: true })).toEqual([]);
    expect(existsSync(dirname(made[0]!.path))).toBe(false);
  }),
);

test(
  "[R94] a fork that was moved is found by its identity; one whose registry is lost is found by its store",
  inWorkspace(FILES, async (temp) => {
    const fork = await temp.fork("fork");
    fork.write("x", "fork\n");
    await fork.workspace.checkpoint({ name: "in the fork" });
    await fork.workspace.close();
    await temp.workspace.close();
    const moved = `${fork.root}-moved`;
    await rename(fork.root, moved);
    {
      await using found = await findWorkspace(moved, { home: temp.home });
      expect(found.notices).toEqual([`The fork moved here from ${fork.root}.`]);
      expect(await found.resolve("@")).toMatchObject({ name: "in the fork" });
      expect(found.id).toBe(temp.workspace.id);
      expect(found.copyId).not.toBe(temp.workspace.copyId);
    }
    for (const end of ["", "-wal", "-shm"]) await rm(join(temp.home, `registry.db${end}`), { force: true });
    {
      await using found = await findWorkspace(moved, { home: temp.home });
      expect(await found.resolve("@")).toMatchObject({ name: "in the fork", fork: "fork" });
    }
    await rename(moved, fork.root);
    await fork.reopen();
    await temp.reopen();
  }),
);

test(
  "[R25] gc, prune and the cap keep what every branch stands on",
  inWorkspace(FILES, async (temp) => {
    const fork = await temp.fork("fork");
    await fork.turn("fork", () => fork.write("x", "only in the fork\n"));
    for (let i = 0; i < 5; i++) await temp.turn(`t${i}`, () => temp.write("y", `${i}\n`));
    temp.passHours(24 * 100);
    await temp.workspace.upkeep.prune();
    temp.passHours(48);
    await temp.workspace.upkeep.gc();
    expect((await fork.workspace.upkeep.verify({ full: true })).problems).toEqual([]);
    expect(await fork.workspace.undo()).toMatchObject({ outcome: "applied", steps: [{ prompt: "fork" }] });
    expect(fork.read("x")).toBe("0\n");
    expect(await fork.workspace.redo()).toMatchObject({ outcome: "applied" });
    expect(fork.read("x")).toBe("only in the fork\n");
    // both heads are still there
    const db = new DatabaseSync(join(temp.workspace.store, "store.db"));
    const heads = db.prepare("SELECT count(*) AS n FROM branch b JOIN checkpoint c ON c.seq = b.head").get();
    db.close();
    expect(heads).toMatchObject({ n: 2 });
  }),
);
