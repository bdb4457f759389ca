/** prune, gc, forget, verify, stats, doctor, config. */
import { closeSync, openSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createSystem, openWorkspace } from "@belay/engine";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ISO_TIME, Sandbox } from "./sandbox.ts";

let sandbox: Sandbox;

beforeEach(async () => void (sandbox = await Sandbox.protected()));
afterEach(() => sandbox[Symbol.dispose]());

describe("prune and gc", () => {
  test("fresh checkpoints stay under the default policy", async () => {
    await sandbox.checkpoint();
    expect(sandbox.ok("prune")).toMatch(/Nothing to drop: all 2 checkpoints stay/);
    expect(sandbox.json(["prune", "--dry-run"])).toEqual({
      pruned: [],
      prunedTotal: 0,
      kept: 2,
      keptBy: { newest: 1, initial: 1 },
      droppedBy: {},
      dryRun: true,
      storedBytes: 0,
    });
    expect(sandbox.json(["prune", "--undo"])).toEqual({ restored: [], restoredTotal: 0 });
    await sandbox.verify();
  });

  test("old checkpoints go after confirmation, and come back with --undo", async () => {
    for (let i = 0; i < 8; i += 1) await sandbox.checkpoint({ kind: "tool" }, 3);
    const policy = ["--policy", "mimir"];
    const seqs = (rows: { seq: number }[]) => rows.map(({ seq }) => seq).sort((a, b) => a - b);
    const dryRun = sandbox.json(["prune", "--dry-run", ...policy]);
    expect(dryRun).toMatchObject({ prunedTotal: 3, kept: 6, dryRun: true });
    expect(sandbox.ok("prune", "--dry-run", ...policy)).toMatch(
      /Would drop 3 checkpoints, about \d+ B, and keep 6/,
    );
    expect(sandbox.error(["prune", ...policy], 3)).toMatchObject({ code: "CONFIRMATION_REQUIRED" });
    expect(sandbox.json(["list"]).checkpoints).toHaveLength(9);
    expect(sandbox.ok("prune", "--yes", ...policy)).toMatch(
      /3 checkpoints dropped, 6 kept\.\n→ `belay prune --undo`/,
    );
    expect(sandbox.json(["list"]).checkpoints).toHaveLength(6);
    expect(sandbox.json(["gc"])).toMatchObject({ checkpointsDropped: 0 });
    expect(seqs(sandbox.json(["prune", "--undo"]).restored)).toEqual(seqs(dryRun.pruned));
    expect(sandbox.json(["list"]).checkpoints).toHaveLength(9);
    expect(sandbox.error(["prune", "--undo", "--dry-run"], 2)).toMatchObject({ code: "USAGE" });
    await sandbox.verify();
  });

  test("[M67] [R245] by age and number: which rule drops and keeps how many is said", async () => {
    for (const days of [40, 39, 38, 5, 4, 0]) await sandbox.checkpoint({ kind: "tool" }, days);
    await sandbox.checkpoint({ kind: "tool", name: "kept by its name" }, 45);
    await sandbox.checkpoint({ kind: "tool" });
    const old = sandbox.json(["prune", "--older-than", "30d", "--dry-run"]);
    expect(old).toMatchObject({
      prunedTotal: 3,
      droppedBy: { old: 3 },
      keptBy: { newest: 1, initial: 1, named: 1, young: 3 },
    });
    const both = ["prune", "--older-than", "30d", "--keep-last", "6", "--dry-run"];
    expect(sandbox.json(both)).toMatchObject({ droppedBy: { old: 2 }, keptBy: { last: 4 } });
    expect(sandbox.ok(...both)).toMatch(
      /Would drop 2 checkpoints, about \d+ B, and keep 7\.\n {2}drop {2}2 {2}older than allowed\n/,
    );
    expect(sandbox.json(["prune", "--keep-last", "2", "--dry-run"])).toMatchObject({
      droppedBy: { surplus: 6 },
      keptBy: { newest: 1, initial: 1, named: 1 },
    });
    sandbox.ok("prune", "--older-than", "30d", "--yes");
    expect(sandbox.json(["list"]).checkpoints).toHaveLength(6);
    expect(sandbox.json(["prune", "--undo"]).restoredTotal).toBe(3);
    for (const wrong of [
      ["--older-than", "soon"],
      ["--keep-last", "0"],
      ["--older-than", "3d", "--policy", "default"],
      ["--older-than", "3d", "--undo"],
    ])
      expect(sandbox.error(["prune", ...wrong], 2).code).toBe("USAGE");
    await sandbox.verify();
  });

  test("[R246] stats --by says whose the space is", async () => {
    sandbox.write("big/data.txt", Array.from({ length: 3000 }, (_, n) => `${n * 7919}\n`).join(""));
    sandbox.ok("run", "--agent", "codex", "--", "sh", "-c", "seq 9000 > src/long.txt");
    const { groups, shared, by } = sandbox.json(["stats", "--by", "directory"]);
    expect(by).toBe("directory");
    const bytes = Object.fromEntries(groups.map(({ key, bytes: own }: any) => [key, own]));
    expect(bytes["big"]).toBeGreaterThan(20_000);
    expect(bytes["src"]).toBeGreaterThan(43_000);
    expect(shared.bytes).toBe(0);
    const said = sandbox.ok("stats", "--by", "thread");
    expect(said).toMatch(/ of \d+ KiB +2 checkpoints +codex "sh -c seq 9000 > src\/long\.txt"|codex "/);
    expect(said).toContain("without a thread");
    expect(sandbox.ok("stats", "--by", "kind")).toContain("initial");
    // [R1721] the checkpoint that brought the long file in
    expect(sandbox.ok("stats", "--by", "checkpoint")).toMatch(/ of \d+ KiB +3 /);
    expect(sandbox.error(["stats", "--by", "colour"], 2).code).toBe("USAGE");
  });

  test("gc frees and reports; --dry-run only looks", async () => {
    for (let i = 0; i < 5; i += 1) {
      sandbox.write("a.txt", `${i}\n`);
      await sandbox.checkpoint();
    }
    expect(sandbox.json(["gc", "--dry-run"])).toMatchObject({
      dryRun: true,
      bytesBefore: expect.any(Number),
      bytesAfter: null,
      packsRewritten: 1,
    });
    expect(sandbox.ok("gc", "--dry-run")).toMatch(
      /^1 pack would be rewritten \(.+ in use now\); what that frees shows/m,
    );
    expect(sandbox.json(["gc"])).toMatchObject({
      dryRun: false,
      checkpointsDropped: 0,
      objectsFreed: 0,
      contentFreed: 0,
      packsRewritten: 1,
      bytesAfter: expect.any(Number),
    });
    expect(sandbox.ok("gc")).toMatch(/free/i);
    await sandbox.verify();
  });
});

describe("forget", () => {
  test("always asks; with --yes the content is gone from every checkpoint and the disk keeps it", async () => {
    sandbox.write("secret.env", "password\n");
    await sandbox.checkpoint();
    expect(sandbox.error(["forget", "secret.env"], 3)).toMatchObject({ code: "CONFIRMATION_REQUIRED" });
    expect(sandbox.json(["forget", "secret.env", "--dry-run"])).toMatchObject({
      dryRun: true,
      checkpointsTotal: 1,
    });
    expect(sandbox.json(["show", "@"]).files).toMatchObject([{ path: "secret.env" }]);
    expect(sandbox.json(["forget", "secret.env", "--yes"])).toMatchObject({
      dryRun: false,
      checkpointsTotal: 1,
      objects: expect.any(Number),
    });
    expect(sandbox.read("secret.env")).toBe("password\n");
    expect(sandbox.json(["show", "2"]).checkpoint.gaps).toMatchObject([
      { path: "secret.env", reason: "forgotten" },
    ]);
    sandbox.remove("secret.env");
    sandbox.ok("restore", "2", "--yes");
    expect(sandbox.read("secret.env")).toBeUndefined();
    await sandbox.verify();
  });

  test("[R135] says that what stays on disk comes back, and --always keeps it out until that is taken back", async () => {
    sandbox.write("secret.env", "password\n");
    await sandbox.checkpoint();
    const once = sandbox.belay(["forget", "secret.env", "--yes"]);
    expect(once.stderr).toContain("the next checkpoint will hold it again");
    expect(once.stderr).toContain("belay forget --always secret.env");
    expect(sandbox.ok("forget", "secret.env", "--always", "--yes")).toContain(
      "belay forget --always --undo secret.env",
    );
    sandbox.write("secret.env", "another\n");
    await sandbox.checkpoint();
    expect(sandbox.json(["status"]).excluded).toContainEqual(
      expect.objectContaining({ path: "secret.env", rule: "forget --always" }),
    );
    expect(sandbox.json(["show", "@"]).files).toEqual([]);
    sandbox.ok("checkpoint", "--include", "secret.env");
    expect(sandbox.json(["show", "@"]).files).toEqual([]);
    expect(sandbox.ok("forget", "--always", "--undo", "secret.env")).toContain("again");
    expect(sandbox.error(["forget", "--always", "--undo", "secret.env"], 4)).toMatchObject({
      code: "PATH_NOT_KEPT_OUT",
    });
    expect(sandbox.error(["forget", "--undo", "secret.env"], 2)).toMatchObject({ code: "USAGE" });
    const { files } = sandbox.json(["show", "@"]).checkpoint;
    await sandbox.checkpoint();
    expect(sandbox.json(["show", "@"]).checkpoint.files).toBe(files + 1);
  });

  test("[R135] names what a program has open that a restore replaced", async () => {
    sandbox.write("secret.env", "harmless\n");
    await sandbox.checkpoint();
    sandbox.write("secret.env", "password\n");
    const descriptor = openSync(sandbox.path("secret.env"), "a");
    try {
      sandbox.ok("restore", "2", "--yes");
      const once = sandbox.belay(["forget", "secret.env", "--yes"]).stderr;
      expect(once).toMatch(/A program still has open what a restore replaced: secret\.env\. If it writes/);
      sandbox.write("secret.env", "another\n");
      await sandbox.checkpoint();
      const always = sandbox.json(["forget", "secret.env", "--always", "--yes"]);
      expect(always.stillOpen).toEqual([{ path: "secret.env" }]);
      expect(sandbox.belay(["forget", "secret.env", "--always", "--yes"]).stderr).toContain("beside");
    } finally {
      closeSync(descriptor);
    }
  });

  test("[R134] checkpoint --include holds what .belayignore leaves out, once", async () => {
    sandbox.write(".belayignore", ".env\n");
    sandbox.write(".env", "S=1\n");
    await sandbox.checkpoint();
    sandbox.ok("checkpoint", "--include", ".env");
    expect(sandbox.json(["show", "@"]).checkpoint.files).toBe(
      sandbox.json(["show", "@-1"]).checkpoint.files + 1,
    );
  });

  test("a letter that happens to begin an id is not taken for a checkpoint", () => {
    const { id } = sandbox.json(["show", "1"]).checkpoint;
    expect(sandbox.error(["forget", id[0], "--yes"], 2)).toMatchObject({
      message: `"${id[0]}" may be a checkpoint or a file. Nothing was changed.`,
      hint: `Write ./${id[0]} for the file, or ${id} for the checkpoint.`,
    });
  });

  test("one checkpoint; a word that means both is refused; unknown is not found", async () => {
    sandbox.write("both", "x\n");
    await sandbox.checkpoint({ name: "both" });
    expect(sandbox.error(["forget", "both", "--yes"], 2)).toMatchObject({
      code: "USAGE",
      hint: expect.stringContaining("./both"),
    });
    expect(sandbox.error(["forget", "../outside", "--yes"], 2)).toMatchObject({ code: "PATH_OUTSIDE" });
    expect(sandbox.error(["forget", "never-there", "--yes"], 4)).toMatchObject({
      code: "PATH_NOT_IN_CHECKPOINT",
    });
    expect(sandbox.error(["forget", ".", "--yes"], 2)).toMatchObject({ code: "USAGE" });
    expect(sandbox.json(["forget", "./both", "--dry-run"])).toMatchObject({ checkpointsTotal: 1 });
    sandbox.ok("forget", "./both", "--yes");
    expect(sandbox.json(["show", "both"]).checkpoint).toMatchObject({ seq: 2, gaps: [{ path: "both" }] });
    sandbox.ok("forget", "2", "--yes");
    expect(sandbox.belay(["show", "2"]).status).toBe(4);
    await sandbox.verify();
  });
});

describe("forget: words and copies", () => {
  test("[R165] --thread and --message ask, and purge what was said from everything that shows it", async () => {
    const secret = "hunter2-and-a-half";
    const thread = await (async () => {
      await using workspace = await openWorkspace(sandbox.project, { home: sandbox.home });
      const { id } = await workspace.threads.open({ agent: "a", externalId: "one" });
      for (const content of [`first ${secret}`, `second ${secret}`]) {
        await workspace.turns.prompt(id, { content });
        sandbox.write("a.txt", content.slice(0, 5));
        await workspace.turns.end(id);
      }
      return id;
    })();
    const shown = () =>
      [["list", "--all"], ["thread", thread], ["threads"], ["status"], ["search", "Before"]]
        .flatMap((args) => [sandbox.ok(...args), JSON.stringify(sandbox.json(args))])
        .join("\n");
    expect(sandbox.error(["forget", "--thread", thread], 3)).toMatchObject({ code: "CONFIRMATION_REQUIRED" });
    expect(sandbox.error(["forget", "a.txt", "--thread", thread], 2)).toMatchObject({ code: "USAGE" });
    expect(sandbox.error(["forget"], 2)).toMatchObject({ code: "USAGE" });
    const [first] = sandbox.json(["thread", thread]).messages;
    expect(sandbox.json(["forget", "--message", first.id, "--dry-run"])).toMatchObject({
      messages: 1,
      steps: 1,
    });
    sandbox.ok("forget", "--message", first.id, "--yes");
    expect(shown()).not.toContain(`first ${secret}`);
    expect(shown()).toContain(`second ${secret}`);
    expect(sandbox.ok("forget", "--thread", thread, "--yes")).toMatch(
      /Purged the text of 2 messages, 2 steps/,
    );
    expect(shown()).not.toContain(secret);
    expect(sandbox.read("a.txt")).toBe("secon");
    sandbox.ok("undo", "--yes");
    expect(sandbox.read("a.txt")).toBe("first");
    await sandbox.verify();
  });

  test("[R166] a path whose bytes another path has: named, offered, purged with --same-content", async () => {
    for (const path of ["key.pem", "backup/key.pem"]) sandbox.write(path, "-- the key --\n");
    await sandbox.checkpoint();
    const preview = sandbox.belay(["forget", "key.pem", "--dry-run"]);
    expect(preview.stderr).toMatch(/same bytes are in 1 other path.*--same-content[^]*backup\/key\.pem/);
    expect(sandbox.json(["forget", "key.pem", "--same-content", "--yes"])).toMatchObject({
      sameContent: [{ path: "backup/key.pem" }],
      sameContentTotal: 1,
    });
    expect(sandbox.json(["show", "2"]).checkpoint.gaps).toMatchObject([
      { path: "backup/key.pem", reason: "forgotten" },
      { path: "key.pem", reason: "forgotten" },
    ]);
    await sandbox.verify();
  });
});

describe("verify", () => {
  test("a sound store: exit 0", () => {
    expect(sandbox.json(["verify"])).toMatchObject({
      ok: true,
      checkpoints: 1,
      objects: expect.any(Number),
      bytes: expect.any(Number),
      problems: [],
    });
    expect(sandbox.ok("verify", "--full")).toMatch(/The store is sound: 1 checkpoint,/);
    // without --full no byte is read, and none is claimed
    expect(sandbox.ok("verify")).toMatch(/1 checkpoint, \d+ objects\.\n/);
    expect(sandbox.ok("verify", "-q")).toBe("");
  });

  test("[R26] a damaged one: exit 5, and what is affected", async () => {
    // random letters do not compress: they are the end of the file, and the damage hits them, not a header
    sandbox.write("large.txt", Array.from({ length: 300_000 }, () => Math.random().toString(36)[2]).join(""));
    await sandbox.checkpoint();
    const { store } = sandbox.json(["status"]);
    damage(join(store, "store.db"));
    const report = sandbox.json(["verify", "--full"], 5);
    expect(report).toMatchObject({ ok: false });
    expect(report.problems.length).toBeGreaterThan(0);
    expect(sandbox.belay(["verify", "--full"]).stdout).toMatch(/The store is damaged/);
  });

  test("no store at all: exit 5", () => {
    const { store } = sandbox.json(["status"]);
    rmSync(store, { recursive: true });
    expect(sandbox.error(["list"], 5)).toMatchObject({ code: "STORE_MISSING" });
  });
});

describe("a store in a state of its own", () => {
  /** Changes the store behind Belay's back. */
  const inStore = (sql: string) => {
    using database = new DatabaseSync(join(sandbox.json(["status"]).store, "store.db"));
    database.exec(sql);
  };

  test("[R20] of a newer format: exit 7, nothing changed", () => {
    inStore("PRAGMA user_version = 999");
    const error = sandbox.error(["list"], 7);
    expect(error).toMatchObject({
      code: "STORE_NEWER",
      version: 999,
      hint: expect.stringMatching(/Update Belay/),
    });
    expect(sandbox.belay(["restore", "1", "--yes"]).status).toBe(7);
    expect(sandbox.belay(["run", "--", "echo", "it runs"])).toMatchObject({ status: 0, stdout: "it runs\n" });
  });

  test("[R21] with another restore running: exit 6, owner and age named", () => {
    const { pid, started, boot } = createSystem().owner;
    sandbox.write("a.txt", "changed\n");
    inStore(`INSERT INTO lease (id, kind, pid, started, boot, since, first_pack)
      VALUES ('kkkkkkkkkkkkkkkk', 'restore', ${pid}, '${started}', '${boot}', ${Date.now()}, 1)`);
    expect(sandbox.error(["restore", "1", "--yes"], 6)).toMatchObject({
      code: "RESTORE_RUNNING",
      pid,
      since: expect.stringMatching(ISO_TIME),
    });
    expect(sandbox.read("a.txt")).toBe("changed\n");
  });
});

test("stats has counts and sizes", () => {
  sandbox.ok("run", "--", "sh", "-c", "echo x > x");
  expect(sandbox.json(["stats"])).toMatchObject({
    checkpoints: 3,
    byKind: { initial: 1, turn: 2 },
    threads: 1,
    operations: expect.any(Object),
    objects: expect.any(Number),
    packs: expect.any(Number),
    contentBytes: expect.any(Number),
    storedBytes: expect.any(Number),
    diskBytes: expect.any(Number),
    capBytes: 10 * 1024 ** 3,
    oldest: expect.stringMatching(ISO_TIME),
    newest: expect.stringMatching(ISO_TIME),
  });
  expect(sandbox.ok("stats")).toMatch(/checkpoints +3 \(2 turn, 1 initial\)/);
});

test("doctor looks at everything, in a workspace and outside", () => {
  const { ok, checks } = sandbox.json(["doctor"]);
  expect(ok).toBe(true);
  for (const check of checks)
    expect(check).toMatchObject({
      name: expect.any(String),
      status: expect.stringMatching(/^(ok|warning)$/),
      detail: expect.any(String),
    });
  expect(sandbox.ok("doctor")).toMatch(/^[✓!] /);
  expect(sandbox.belay(["doctor", "--json"], { cwd: "/" }).stdout).toMatch(/"checks"/);
});

test("doctor finds a damaged store: exit 1", () => {
  const { store } = sandbox.json(["status"]);
  for (const name of readdirSync(store)) if (name.startsWith("store.db-")) rmSync(join(store, name));
  writeFileSync(join(store, "store.db"), "not a database");
  expect(sandbox.json(["doctor"], 1)).toMatchObject({ ok: false });
});

describe("config", () => {
  test("lists settings with their source, sets and unsets", () => {
    expect(sandbox.json(["config"]).settings).toContainEqual({
      key: "limits.fileBytes",
      value: 67_108_864,
      source: "default",
    });
    expect(sandbox.json(["config", "limits.fileBytes", "2MiB"]).settings).toEqual([
      { key: "limits.fileBytes", value: 2_097_152, source: "config.json" },
    ]);
    expect(sandbox.ok("config", "limits.fileBytes")).toBe("limits.fileBytes  2097152  2 MiB  config.json\n");
    expect(JSON.parse(readFileSync(join(sandbox.home, "config.json"), "utf8"))).toEqual({
      "limits.fileBytes": 2_097_152,
    });
    expect(sandbox.json(["config", "limits.fileBytes", "--unset"]).settings).toMatchObject([
      { source: "default" },
    ]);
  });

  test("bad values change nothing", () => {
    expect(sandbox.error(["config", "limits.fileBytes", "lots"], 2)).toMatchObject({
      code: "CONFIG_INVALID",
      key: "limits.fileBytes",
    });
    expect(sandbox.error(["config", "retention.policy", "forever"], 2)).toMatchObject({
      code: "CONFIG_INVALID",
    });
    expect(sandbox.error(["config", "--unset"], 2)).toMatchObject({ code: "USAGE" });
    expect(sandbox.json(["config", "limits.fileBytes"]).settings).toMatchObject([{ source: "default" }]);
  });

  test("a broken config.json is said, and no command uses half of it", () => {
    writeFileSync(join(sandbox.home, "config.json"), "{ nonsense");
    expect(sandbox.error(["config"], 2)).toMatchObject({ code: "CONFIG_INVALID" });
    expect(sandbox.belay(["checkpoint"]).status).toBe(2);
  });

  test("[R188] what stands wrong in config.json is taken out by what is said about it", () => {
    const file = join(sandbox.home, "config.json");
    const { workspace } = sandbox.json(["status"]);
    const put = (settings: object) => writeFileSync(file, JSON.stringify(settings));
    const hint = (...command: string[]) => sandbox.error(command, 2).hint as string;
    put({ "disk.capBytes": "lots", "limits.fileBytes": "1MiB", kept: 1 });
    expect(hint("status")).toBe(`\`belay config disk.capBytes --unset\` takes it out of ${file}.`);
    sandbox.ok("config", "disk.capBytes", "--unset");
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ "limits.fileBytes": "1MiB", kept: 1 });
    put({ "disk.capBytes": "lots", "limits.fileBytes": "big" });
    // the other one is still wrong: what was done is not said to have failed
    expect(sandbox.ok("config", "disk.capBytes", "1GiB")).toContain("1 GiB");
    sandbox.ok("config", "limits.fileBytes", "1MiB");
    sandbox.ok("status");
    put({ workspaces: { [workspace]: { "limits.fileBytes": "big" } } });
    expect(hint("status")).toBe(`\`belay config limits.fileBytes --here --unset\` takes it out of ${file}.`);
    sandbox.ok("config", "limits.fileBytes", "--here", "--unset");
    sandbox.ok("status");
    writeFileSync(file, "{ nonsense");
    const said = `Correct ${file}, or delete it: every setting then has its default.`;
    expect(hint("config")).toBe(said);
    const { checks } = sandbox.json(["doctor"], 1);
    const hintOf = (name: string) => checks.find((check: { name: string }) => check.name === name).hint;
    expect(hintOf("capture")).toBe(said);
    expect(hintOf("settings")).toContain(file);
    rmSync(file);
    sandbox.ok("status");
  });
});

/** Flips bytes in the second half of a file. */
function damage(path: string): void {
  const bytes = readFileSync(path);
  for (let at = Math.floor(statSync(path).size * 0.75); at < bytes.length; at += 997) bytes[at]! ^= 0xff;
  writeFileSync(path, bytes);
}
