/** checkpoint, list, show, search, and the annotations: note, rename, tag, untag. */
import { openWorkspace } from "@belay/engine";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ID, ISO_TIME, Sandbox } from "./sandbox.ts";

let sandbox: Sandbox;

beforeEach(async () => void (sandbox = await Sandbox.protected()));
afterEach(async () => {
  await sandbox.verify();
  sandbox[Symbol.dispose]();
});

describe("checkpoint", () => {
  test("--json has the contract's shape", () => {
    sandbox.write("a.txt", "changed\n");
    sandbox.write("new.txt", "new\n");
    const taken = sandbox.json([
      "checkpoint",
      "-m",
      "first try",
      "--note",
      "it works",
      "--tag",
      "good",
      "--tag",
      "best",
    ]);
    expect(taken).toEqual({
      checkpoint: expect.any(Object),
      unchanged: false,
      stored: { objects: 2, bytes: 12 },
      warnings: [],
      durationMs: expect.any(Number),
    });
    expect(taken.checkpoint).toEqual({
      id: expect.stringMatching(ID),
      seq: 2,
      synced: null,
      workspace: expect.any(String),
      branch: "main",
      fork: null,
      origin: null,
      thread: null,
      session: null,
      kind: "manual",
      phase: null,
      name: "first try",
      note: "it works",
      tags: expect.arrayContaining(["good", "best"]),
      description: expect.any(String),
      createdAt: expect.stringMatching(ISO_TIME),
      snapshot: expect.stringMatching(/^[0-9a-f]{64}$/),
      parents: [expect.stringMatching(ID)],
      messageId: null,
      messageIndex: null,
      toolUseId: null,
      tool: null,
      rolledBack: false,
      agent: null,
      conversation: null,
      git: null,
      files: 3,
      bytes: 16,
      changes: { added: 1, modified: 1, deleted: 0 },
      hasChanges: null,
      gaps: [],
      gapsTotal: 0,
      doubts: expect.any(Array),
      doubtsTotal: expect.any(Number),
    });
  });

  test("an equal tree is a checkpoint too, and says so", () => {
    expect(sandbox.json(["checkpoint"])).toMatchObject({
      unchanged: true,
      checkpoint: { seq: 2, changes: { added: 0, modified: 0, deleted: 0 } },
    });
    expect(sandbox.ok("checkpoint")).toMatch(/unchanged/);
    expect(sandbox.ok("checkpoint", "--quiet")).toBe("");
  });

  test("[R23] [R1912] what was not captured is said, with the limit that it is over and the setting", () => {
    sandbox.ok("config", "limits.fileBytes", "1KiB");
    sandbox.write("big.bin", "x".repeat(2000));
    const ran = sandbox.belay(["checkpoint", "--quiet"]);
    expect(ran).toMatchObject({ status: 0, stdout: "" });
    expect(ran.stderr).toMatch(
      /Not captured:\n {2}big\.bin {2}2 KiB, over the limit of 1 KiB \(limits\.fileBytes\)/,
    );
    expect(sandbox.json(["show", "@"]).checkpoint).toMatchObject({
      gaps: [{ path: "big.bin", reason: "too-large" }],
      gapsTotal: 1,
    });
    expect(sandbox.ok("status")).toContain("2 KiB, over the limit of 1 KiB (limits.fileBytes)");
    sandbox.ok("config", "limits.fileBytes", "4KiB");
    expect(sandbox.ok("show", "@")).toContain("2 KiB, over the limit of then (limits.fileBytes, now 4 KiB)");
  });

  test("names that look like something else are refused", () => {
    for (const name of ["@x", "123", "kkkkkkkkkkkkkkkk"]) {
      expect(sandbox.error(["checkpoint", "-m", name], 2)).toMatchObject({ code: "NAME_INVALID" });
    }
    expect(sandbox.json(["list"]).checkpoints).toHaveLength(1);
  });

  test("an unknown thread is not found", () => {
    expect(sandbox.error(["checkpoint", "--thread", "unknown"], 4)).toMatchObject({
      code: "THREAD_NOT_FOUND",
    });
  });

  test("[R183] records the state of git with all its staged files", () => {
    const git = (...args: string[]) =>
      execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...args], { cwd: sandbox.project });
    git("init", "-q", "-b", "trunk");
    for (let i = 0; i < 205; i += 1) sandbox.write(`many/${i}.txt`, `${i}`);
    git("add", "-A");
    const { checkpoint } = sandbox.json(["checkpoint"]);
    expect(checkpoint.git).toMatchObject({ branch: "trunk", commit: null, dirty: true, stagedTotal: 207 });
    expect(checkpoint.git.staged).toHaveLength(207);
    expect(sandbox.json(["show", "@"]).files).toHaveLength(205);
  });
});

describe("list", () => {
  test("newest first, with limit, kind and total", async () => {
    for (let i = 0; i < 3; i += 1) await sandbox.checkpoint({ name: `number ${i}` });
    expect(sandbox.json(["list"]).checkpoints.map((row: any) => row.seq)).toEqual([4, 3, 2, 1]);
    const two = sandbox.json(["list", "--limit", "2"]);
    expect(two.checkpoints.map((row: any) => row.name)).toEqual(["number 2", "number 1"]);
    expect(two.checkpointsTotal).toBe(4);
    expect(sandbox.json(["list", "--kind", "initial"]).checkpoints).toHaveLength(1);
    expect(sandbox.json(["list", "--search", "number 1"]).checkpoints).toHaveLength(1);
    expect(sandbox.json(["list", "--all"]).checkpoints).toHaveLength(4);
  });

  test("human rows are aligned and hold number, id, age, kind, name and changes", async () => {
    sandbox.write("a.txt", "changed\n");
    await sandbox.checkpoint({ name: "short" });
    const [first, second] = sandbox.ok("list").trimEnd().split("\n");
    expect(first).toMatch(/^2 {2}[k-z]{8} {2}just now {2}manual {3}short +\+0 ~1 -0$/);
    expect(second).toMatch(/^1 {2}[k-z]{8} {2}\S.* {2}initial {2}Initial checkpoint {2}2 files$/);
    expect(first!.indexOf("+0")).toBe(second!.indexOf("2 files"));
  });

  test("an empty result says what to do", () => {
    expect(sandbox.ok("list", "--kind", "timer")).toMatch(/No checkpoint matches/);
    expect(sandbox.json(["list", "--kind", "timer"])).toMatchObject({ checkpoints: [], checkpointsTotal: 0 });
  });

  test("a reader that goes away early is no error", () => {
    const command = `"${process.execPath}" "${new URL("../bin/belay.js", import.meta.url).pathname}" list --all --json | head -c 1`;
    const ran = execFileSync("bash", ["-c", `set -o pipefail; ${command}`], {
      cwd: sandbox.project,
      env: sandbox.environment,
      encoding: "utf8",
    });
    expect(ran).toBe("{");
  });

  test("without a command: the last ten and what one can do", async () => {
    for (let i = 0; i < 11; i += 1) await sandbox.checkpoint();
    const ran = sandbox.belay([]);
    expect(ran.status).toBe(0);
    expect(ran.stdout.trimEnd().split("\n")).toHaveLength(11);
    expect(ran.stderr).toMatch(/belay undo/);
    expect(sandbox.json([]).rows).toHaveLength(10);
  });
});

describe("show", () => {
  test("--json has the checkpoint and its files", async () => {
    sandbox.write("a.txt", "one\nmore\n");
    sandbox.remove("src/b.txt");
    sandbox.write("node_modules/x.js", "x");
    await sandbox.checkpoint({ name: "shown" });
    const shown = sandbox.json(["show", "shown"]);
    expect(shown).toMatchObject({
      checkpoint: { seq: 2, name: "shown" },
      filesTotal: shown.files.length,
      excluded: [{ path: "node_modules" }],
    });
    expect(shown.files).toContainEqual({
      path: "a.txt",
      type: "modified",
      linesAdded: 1,
      linesDeleted: 0,
      binary: false,
      tooLarge: false,
      attribution: "outside",
    });
    expect(shown.files).toContainEqual(
      expect.objectContaining({ path: "src/b.txt", type: "deleted", linesDeleted: 1 }),
    );
  });

  test("tells people when, why, what changed and what to do", async () => {
    sandbox.write("a.txt", "changed\n");
    await sandbox.checkpoint({ name: "shown", note: "a note" });
    const text = sandbox.ok("show", "2");
    expect(text).toMatch(/^Checkpoint 2 {2}[k-z]{16}\n/);
    expect(text).toMatch(/name +shown\n[^]*note +a note\n[^]*M {2}a\.txt {2}\+1 -1/);
    expect(text).toMatch(/→ `belay diff [k-z]{8} 2`/);
  });

  test("[R19] every way to name a checkpoint works", () => {
    const { checkpoint } = sandbox.json(["checkpoint", "-m", "by name", "--tag", "by-tag"]);
    for (const ref of [checkpoint.id, checkpoint.id.slice(0, 4), "by name", "by-tag", "2", "@"]) {
      expect(sandbox.json(["show", ref]).checkpoint.id).toBe(checkpoint.id);
    }
    expect(sandbox.json(["show", "@-1"]).checkpoint.seq).toBe(1);
  });

  test("what is not there is not found: exit 4, and the word is named", () => {
    for (const ref of ["99", "@-9", "no-such-name", "kkkk", ""]) {
      const error = {
        code: "CHECKPOINT_NOT_FOUND",
        checkpoint: ref,
        hint: expect.stringContaining("belay list"),
      };
      expect(sandbox.error(["show", ref], 4)).toMatchObject(error);
    }
  });

  test("[R19] an ambiguous name lists the candidates", async () => {
    await sandbox.checkpoint({ name: "twin" });
    await sandbox.checkpoint({ name: "twin" });
    const error = sandbox.error(["show", "twin"], 3);
    expect(error).toMatchObject({ code: "CHECKPOINT_AMBIGUOUS" });
    expect(error.candidates.map((one: any) => one.seq).sort()).toEqual([2, 3]);
    for (const one of error.candidates)
      expect(sandbox.belay(["show", "twin"]).stderr).toContain(`${one.seq}  ${one.id}`);
  });

  test("[R19] so does an ambiguous thread", async () => {
    await using workspace = await openWorkspace(sandbox.project, { home: sandbox.home });
    const one = await workspace.threads.open({ agent: "claude", externalId: "same", title: "One" });
    const other = await workspace.threads.open({ agent: "codex", externalId: "same" });
    const error = sandbox.error(["thread", "same"], 3);
    expect(error.candidates).toEqual([
      { id: one.id, agent: "claude", title: "One" },
      { id: other.id, agent: "codex", title: null },
    ]);
    expect(sandbox.belay(["thread", "same"]).stderr).toContain(`${one.id}  claude  One`);
  });
});

describe("search", () => {
  test("finds names, notes, tags and paths", async () => {
    sandbox.write("deep/unusual-path.txt", "x\n");
    await sandbox.checkpoint({ name: "some name", note: "a remark", tags: ["label"] });
    for (const text of ["some na", "remark", "label", "unusual-path"]) {
      expect(sandbox.json(["search", text]).checkpoints.map((row: any) => row.seq)).toEqual([2]);
    }
    expect(sandbox.json(["search", "a", "remark"]).checkpoints).toHaveLength(1);
    expect(sandbox.ok("search", "nothing like it")).toMatch(/Nothing found/);
    expect(sandbox.json(["search", "100%"])).toMatchObject({ checkpoints: [], checkpointsTotal: 0 });
  });
});

describe("annotations", () => {
  test("note, rename, tag and untag answer with the checkpoint", () => {
    expect(sandbox.json(["note", "1", "two", "words"]).checkpoint).toMatchObject({
      seq: 1,
      note: "two words",
    });
    expect(sandbox.json(["rename", "1", "start"]).checkpoint).toMatchObject({ seq: 1, name: "start" });
    expect(sandbox.json(["tag", "start", "v1"]).checkpoint).toMatchObject({ seq: 1, tags: ["v1"] });
    expect(sandbox.json(["untag", "v1"]).checkpoint).toMatchObject({ seq: 1, tags: [] });
    expect(sandbox.json(["show", "1"]).checkpoint).toMatchObject({
      note: "two words",
      name: "start",
      tags: [],
    });
    expect(sandbox.ok("rename", "1", "again")).toMatch(/is now called "again"/);
  });

  test("bad input changes nothing", async () => {
    await sandbox.checkpoint({ tags: ["taken"] });
    expect(sandbox.error(["note", "99", "x"], 4)).toMatchObject({ code: "CHECKPOINT_NOT_FOUND" });
    expect(sandbox.error(["rename", "1", "@start"], 2)).toMatchObject({ code: "NAME_INVALID" });
    expect(sandbox.error(["tag", "1", "42"], 2)).toMatchObject({ code: "NAME_INVALID" });
    expect(sandbox.error(["tag", "1", "taken"], 3)).toMatchObject({
      code: "NAME_TAKEN",
      checkpoint: expect.stringMatching(ID),
    });
    expect(sandbox.error(["untag", "never-set"], 4)).toMatchObject({ code: "CHECKPOINT_NOT_FOUND" });
    expect(sandbox.json(["show", "1"]).checkpoint).toMatchObject({ name: null, note: null, tags: [] });
  });
});

test("names that are not UTF-8 have pathBase64, and people see their bytes", async () => {
  const name = Buffer.from([0x61, 0xff]);
  writeFileSync(Buffer.concat([Buffer.from(`${sandbox.project}/`), name]), "x");
  await sandbox.checkpoint();
  expect(sandbox.json(["show", "@"]).files).toMatchObject([
    { path: "a\ufffd", pathBase64: name.toString("base64") },
  ]);
  expect(sandbox.ok("show", "@")).toContain("a\\xff");
});

test("escape sequences in names and notes never reach the output", async () => {
  sandbox.write("evil\u001b[2J\nname", "x");
  await sandbox.checkpoint({ name: "red \u001b[31mname", note: "bell \u0007" });
  for (const args of [
    ["list"],
    ["show", "@"],
    ["status"],
    ["search", "red"],
    ["diff", "1", "@", "--stat"],
    ["diff", "1", "@", "--name-only"],
  ]) {
    // oxlint-disable-next-line no-control-regex -- that is the point
    expect(sandbox.ok(...args)).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f]/);
  }
  expect(sandbox.ok("show", "@")).toContain("evil\\x1b[2J\\nname");
});
