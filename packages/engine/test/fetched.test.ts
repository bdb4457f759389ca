/** Checkpoints of other lines in this store: they come whole or not at all, and disturb nothing. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { initWorkspace, type Annotation, type Workspace } from "../src/index.ts";
import { addTestRemote, fetchBetween, OTHER_LINE, packOf, recordsOf } from "./support/fetch-between.ts";
import { inWorkspace, type TempWorkspace } from "./support/temp-workspace.ts";

const BIG = Buffer.alloc(2_500_000, "big\n");

interface Elsewhere {
  readonly workspace: Workspace;
  write(files: Readonly<Record<string, string | Buffer>>): void;
}

/** Another machine, with a workspace of these files. */
async function elsewhere(temp: TempWorkspace, files: Record<string, string | Buffer>): Promise<Elsewhere> {
  const base = dirname(temp.home);
  const root = join(base, "elsewhere");
  const write = (more: Readonly<Record<string, string | Buffer>>) => {
    for (const [path, content] of Object.entries(more)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), content);
    }
  };
  write(files);
  const { workspace } = await initWorkspace(root, { home: join(base, "home-elsewhere") });
  onTestFinished(() => workspace.close());
  return { workspace, write };
}

const DAY_HOURS = 24;
const NOTHING_KEPT = { name: "none", keepAllHours: 0, keepTurnsHours: 0, keepMinimum: 0, keepMaximum: null };

test(
  "[R700] a fetched checkpoint can be shown, compared, restored and reverted; nothing else knows of it",
  inWorkspace({ a: "1\n", "src/x": "x\n" }, async (temp) => {
    const { workspace } = temp;
    const there = await elsewhere(temp, { a: "1\n", "src/x": "x\n", "big.bin": BIG });
    there.write({ a: "2\n", "src/y": "y\n" });
    const { id } = await there.workspace.checkpoint({ name: "theirs", description: "there" });
    const before = await workspace.list();
    const fetched = fetchBetween(there.workspace, workspace, id);
    expect(fetched).toMatchObject({ id, name: "theirs", branch: null, origin: `remote:team:${OTHER_LINE}` });
    expect(await workspace.list()).toEqual(before);
    expect((await workspace.resolve("@")).id).toBe(before[0]!.id);
    expect((await workspace.status()).changedFiles).toEqual([]);
    const { files } = await workspace.show(id);
    expect(files.map(({ path, type, attribution }) => [String(path), type, attribution])).toEqual([
      ["a", "modified", null],
      ["src/y", "added", null],
    ]);
    // comparing does not take a step
    expect(
      (await workspace.diff({ from: id, detail: "names" })).files.map(({ path }) => String(path)),
    ).toEqual(["a", "big.bin", "src/y"]);
    expect(await workspace.restoreTo(id)).toMatchObject({ outcome: "applied" });
    expect([temp.read("a"), temp.read("src/y"), temp.read("big.bin").length]).toEqual([
      "2\n",
      "y\n",
      BIG.length,
    ]);
    expect(await workspace.revert(id)).toMatchObject({ outcome: "applied" });
    expect(temp.read("a")).toBe("1\n");
    expect([...temp.tree().keys()]).toEqual(["a", "big.bin", "src", "src/x"]);
    expect(await workspace.undo({ count: 2 })).toMatchObject({ outcome: "applied" });
    expect([...temp.tree().keys()]).toEqual(["a", "src", "src/x"]);
    await expect(workspace.createBranch("b", { from: id })).rejects.toMatchObject({
      code: "CHECKPOINT_IMPORTED",
    });
  }),
);

test(
  "[T9] [R700] what is not whole, or not what it says, leaves no checkpoint",
  inWorkspace({ a: "1\n" }, async (temp) => {
    const { workspace } = temp;
    const there = await elsewhere(temp, { a: "1\n", b: "b\n", "deep/c": "c\n", "big.bin": BIG });
    const { id } = await there.workspace.checkpoint();
    const records = recordsOf(there.workspace, id);
    const from = { origin: { remote: "team", line: OTHER_LINE }, id, ...records };
    const begin = (changed = records) => workspace.exchange.fetch(from, changed);
    {
      using fetching = begin();
      fetching.putPack(packOf(there.workspace, fetching.missing().slice(0, 1)));
      expect(() => fetching.finish()).toThrow(expect.objectContaining({ code: "OBJECT_MISSING" }));
    }
    {
      using fetching = begin();
      const [hash] = fetching.missing();
      const wrong = { ...packOf(there.workspace, [hash!]) };
      const lie = {
        ...wrong,
        objects: [{ ...wrong.objects[0]!, hash: from.snapshot.replace(/^./, "f") as never }],
      };
      expect(() => fetching.putPack(lie)).toThrow(expect.objectContaining({ code: "OBJECT_CORRUPT" }));
    }
    for (const row of [
      { ...records.record.row, snapshot: "none" },
      { ...records.record.row, created_at: "yesterday" },
    ])
      expect(() => begin({ ...records, record: { ...records.record, row } })).toThrow(
        expect.objectContaining({ code: "OBJECT_CORRUPT" }),
      );
    const path = { base64: Buffer.from(".git/config").toString("base64") };
    const gap = { kind: "parts", id, row: { table: "gap", rows: [{ path, reason: "limit", size: 1 }] } };
    expect(() => begin({ ...records, parts: [{ ...gap, place: 0 }] })).toThrow(/never captures/);
    await expect(workspace.resolve(id)).rejects.toMatchObject({ code: "CHECKPOINT_NOT_FOUND" });
    // what arrived before is freed, and can come again
    expect((await workspace.upkeep.gc()).objectsFreed).toBeGreaterThan(0);
    expect(fetchBetween(there.workspace, workspace, id).id).toBe(id);
  }),
);

test(
  "[R701] [R356] it is kept for thirty days after its last use, and while it is tagged or a version; no count or preset keeps it longer",
  inWorkspace({ a: "1\n" }, async (temp) => {
    const { workspace } = temp;
    const there = await elsewhere(temp, { a: "1\n" });
    const ids: string[] = [];
    for (const name of ["one", "two", "three"]) {
      there.write({ a: `${name}\n` });
      const { id } = await there.workspace.checkpoint({ name });
      ids.push(id);
      fetchBetween(there.workspace, workspace, id);
    }
    const [one = "", two = "", three = ""] = ids;
    await workspace.tag(two, "keep");
    await workspace.versions.create({ checkpoint: three });
    temp.passHours(29 * DAY_HOURS);
    await workspace.checkpoint();
    expect(await workspace.upkeep.prune({ policy: NOTHING_KEPT })).toMatchObject({
      keptBy: { fetched: 1, tagged: 1, named: 1 },
    });
    // used again: thirty days more
    expect(fetchBetween(there.workspace, workspace, one).id).toBe(one);
    temp.passHours(29 * DAY_HOURS);
    await workspace.checkpoint();
    expect(await workspace.upkeep.prune({ policy: NOTHING_KEPT })).toMatchObject({
      keptBy: { fetched: 1, tagged: 1, named: 1 },
    });
    temp.passHours(2 * DAY_HOURS);
    await workspace.checkpoint();
    await workspace.upkeep.prune();
    await expect(workspace.resolve(one)).rejects.toMatchObject({ code: "CHECKPOINT_NOT_FOUND" });
    expect((await workspace.resolve("keep")).id).toBe(two);
    expect((await workspace.versions.list()).map(({ checkpoint }) => checkpoint)).toEqual([three]);
    // dropped and not freed yet, or freed: it comes again
    expect(fetchBetween(there.workspace, workspace, one)).toMatchObject({ id: one, name: "one" });
  }),
);

test(
  "[R702] [T14] what was fetched is in another line: it is not queued for one's own, nor are tags on it",
  inWorkspace({ a: "1\n" }, async (temp) => {
    const { workspace } = temp;
    addTestRemote(workspace, "1".repeat(32));
    const there = await elsewhere(temp, { a: "1\n" });
    there.write({ a: "2\n" });
    const { id } = await there.workspace.checkpoint();
    const queued = () => [...workspace.exchange.records("team", workspace.exchange.outboxEnd("team"))];
    const before = queued().length;
    fetchBetween(there.workspace, workspace, id);
    expect(queued()).toHaveLength(before);
    await workspace.tag(id, "theirs");
    // the log says so, and what was written on it
    expect(queued()).toHaveLength(before + 2);
    const written = queued().find(({ kind }) => kind === "annotation");
    expect(written?.row).toMatchObject({ line: OTHER_LINE, checkpoint: id, field: "tag/theirs" });
    expect(workspace.exchange.checkpoints()).not.toContain(id);
  }),
);

test(
  "[T11] of what two machines wrote on a checkpoint the later counts, whatever comes first; of equal clocks the greater device",
  inWorkspace({ a: "1\n" }, async (temp) => {
    const { workspace } = temp;
    addTestRemote(workspace, "1".repeat(32));
    const { id } = await workspace.checkpoint({ name: "first" });
    const now = Date.now();
    const written = (value: string | null, clock: number, device = "zz"): Annotation => ({
      line: "",
      checkpoint: id,
      field: "name",
      value,
      clock,
      device,
    });
    const name = async () => (await workspace.resolve(id)).name;
    expect(workspace.exchange.annotate([written("theirs", now - 1000)])).toBe(1);
    expect(await name()).toBe("theirs");
    expect(workspace.exchange.annotate([written("older", now - 2000)])).toBe(0);
    // a machine whose clock runs ahead is not in the way of who has seen what it wrote
    expect(workspace.exchange.annotate([written("ahead", now + 100_000)])).toBe(1);
    await workspace.rename(id, "mine");
    expect(await name()).toBe("mine");
    expect(workspace.exchange.annotate([written("ahead", now + 100_000)])).toBe(0);
    expect(await name()).toBe("mine");
    expect(workspace.exchange.annotate([written("a tie", now + 100_001, "")])).toBe(0);
    expect(workspace.exchange.annotate([written("theirs again", now + 100_001, "{")])).toBe(1);
    expect(await name()).toBe("theirs again");
    expect(workspace.exchange.annotate([written(null, now + 100_002)])).toBe(1);
    expect(await name()).toBeNull();
    const tag = { ...written("good", now + 200_000), field: "tag/good" as const };
    expect(workspace.exchange.annotate([tag, { ...tag, checkpoint: "unknown" }])).toBe(1);
    expect((await workspace.resolve("good")).id).toBe(id);
  }),
);
