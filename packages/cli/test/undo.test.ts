/** undo, redo, revert on steps made with `belay run`. */
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ID, LAUNCHER, Sandbox } from "./sandbox.ts";

let sandbox: Sandbox;

beforeEach(async () => {
  sandbox = await Sandbox.protected({ "a.txt": "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "b.txt": "b\n" });
});
afterEach(async () => {
  await sandbox.verify();
  sandbox[Symbol.dispose]();
});

/** Runs a command as a shell would, with the launcher for `belay`. */
function typed(command: string, status: number, cwd = sandbox.project): string {
  const ran = spawnSync("sh", ["-c", `belay() { '${process.execPath}' '${LAUNCHER}' "$@"; }; ${command}`], {
    cwd,
    env: sandbox.environment,
    encoding: "utf8",
  });
  expect(ran.status, `${command}\n${ran.stdout}${ran.stderr}`).toBe(status);
  return ran.stdout;
}

/** A step that runs a line of shell. */
const step = (script: string) => sandbox.ok("run", "--agent", "tester", "--", "sh", "-c", script);

test("undo takes back the last step, redo applies it again", () => {
  step("echo new > new.txt; rm b.txt");
  const undone = sandbox.json(["undo", "--yes"]);
  expect(undone).toMatchObject({
    outcome: "applied",
    created: 1,
    deleted: 1,
    steps: [
      {
        kind: "turn",
        thread: expect.any(String),
        agent: "tester",
        description: "sh -c 'echo new > new.txt; rm b.txt'",
      },
    ],
    canUndo: false,
    canRedo: true,
  });
  expect([sandbox.read("new.txt"), sandbox.read("b.txt")]).toEqual([undefined, "b\n"]);
  expect(sandbox.json(["redo", "--yes"])).toMatchObject({
    outcome: "applied",
    canUndo: true,
    canRedo: false,
    steps: [{ kind: "turn" }],
  });
  expect([sandbox.read("new.txt"), sandbox.read("b.txt")]).toEqual(["new\n", undefined]);
});

test("human output names the step, lists the files and says how to go on", () => {
  step("echo new > new.txt");
  expect(sandbox.ok("undo")).toMatch(
    /- delete {2}new\.txt\n✓ Undone: turn of tester "sh -c [^\n]+\n→ `belay redo`/,
  );
  expect(sandbox.ok("redo")).toMatch(/\+ create {2}new\.txt\n✓ Redone: turn of tester/);
});

test("nothing to undo or redo is not an error", () => {
  expect(sandbox.ok("undo")).toMatch(/Nothing to undo/);
  expect(sandbox.ok("redo")).toMatch(/Nothing to redo/);
  expect(sandbox.json(["undo"])).toMatchObject({
    outcome: "unchanged",
    steps: [],
    canUndo: false,
    canRedo: false,
  });
  expect(sandbox.json(["undo", "--dry-run"])).toEqual({ plan: null, steps: [] });
});

test("undo n is one plan; more steps than there are is refused", () => {
  step("echo 1 > one.txt");
  step("echo 2 > two.txt");
  step("echo 3 > three.txt");
  expect(sandbox.error(["undo", "4", "--yes"], 3)).toMatchObject({
    code: "STEPS_MISSING",
    wanted: 4,
    available: 3,
  });
  expect(sandbox.json(["undo", "2", "--yes"]).steps).toHaveLength(2);
  expect(["one.txt", "two.txt", "three.txt"].map((path) => sandbox.read(path))).toEqual([
    "1\n",
    undefined,
    undefined,
  ]);
  sandbox.ok("redo");
  expect(sandbox.read("two.txt")).toBe("2\n");
});

test("[R1704] a path of an earlier turn is refused with the commands that bring it back", () => {
  step("echo changed > a.txt");
  step("echo 2 > two.txt");
  const before = sandbox.json(["list", "--all"]).checkpoints;
  for (const how of ["--yes", "--dry-run"]) {
    const { code, hint } = sandbox.error(["undo", "a.txt", how], 4);
    expect(code).toBe("PATH_NOT_IN_CHECKPOINT");
    expect(hint).toBe(
      "T1 changed it last. `belay revert T1 a.txt` takes that back, `belay restore T1 a.txt` brings it back as it was before.",
    );
  }
  expect(sandbox.error(["undo", "nosuch", "--yes"], 4).hint).toContain("belay search nosuch");
  expect(sandbox.json(["list", "--all"]).checkpoints).toEqual(before);
  sandbox.ok("restore", "T1", "a.txt", "--yes");
  expect(sandbox.read("a.txt")).toBe("1\n2\n3\n4\n5\n6\n7\n8\n9\n");
});

test("[R1704] a turn in the place of a path is refused with the commands that take turns", () => {
  step("echo changed > a.txt");
  step("echo 2 > two.txt");
  for (const turn of ["T1", "@turn-1"]) {
    const { code, hint } = sandbox.error(["undo", turn, "--yes"], 4);
    expect(code).toBe("PATH_NOT_IN_CHECKPOINT");
    for (const way of ["revert", "restore"]) {
      expect(hint).toContain(`\`belay ${way} ${turn}\``);
      sandbox.ok(way, turn, "--dry-run");
    }
  }
});

test("[R1704] a checkpoint in the place of a path is refused with the command that goes back to it", () => {
  step("echo changed > a.txt");
  sandbox.ok("checkpoint", "-m", "lunch");
  for (const ref of ["lunch", "@0m"]) {
    const { code, hint } = sandbox.error(["undo", ref, "--yes"], 4);
    expect(code).toBe("PATH_NOT_IN_CHECKPOINT");
    expect(hint).toBe(
      `Undo takes paths and the newest steps. \`belay restore ${ref}\` goes back to that checkpoint.`,
    );
    sandbox.ok("restore", ref, "--dry-run");
  }
});

test("[R1704] a path in the place of a checkpoint is refused with the commands that bring it back", () => {
  sandbox.write("c.txt", "mine\n");
  step("echo changed > a.txt; rm b.txt");
  for (const command of ["restore", "revert", "show"]) {
    for (const path of ["a.txt", "b.txt"]) {
      const { code, hint } = sandbox.error([command, path], 4);
      expect(code).toBe("CHECKPOINT_NOT_FOUND");
      expect(hint).toBe(
        `T1 changed it last. \`belay revert T1 ${path}\` takes that back, \`belay restore T1 ${path}\` brings it back as it was before.`,
      );
    }
    expect(sandbox.error([command, "c.txt"], 4).hint).toBe(
      "That is a path, which comes after the checkpoint: `belay restore @ c.txt` brings it back as the newest checkpoint has it.",
    );
    expect(sandbox.error([command, "nosuch"], 4).hint).toBe("`belay list` shows the checkpoints.");
    expect(sandbox.error([command, "../nosuch"], 4).hint).toBe("`belay list` shows the checkpoints.");
  }
  sandbox.ok("restore", "T1", "b.txt", "--yes");
  expect(sandbox.read("b.txt")).toBeDefined();
});

test("several files need confirmation; --dry-run only looks", () => {
  step("echo 1 > one.txt; echo 2 > two.txt");
  expect(sandbox.error(["undo"], 3)).toMatchObject({ code: "CONFIRMATION_REQUIRED" });
  const { plan, steps } = sandbox.json(["undo", "--dry-run"]);
  expect(plan.operations).toEqual([
    { type: "delete", path: "one.txt" },
    { type: "delete", path: "two.txt" },
  ]);
  expect(steps).toMatchObject([{ kind: "turn" }]);
  expect(sandbox.ok("undo", "--dry-run")).toMatch(/^Undo turn of tester [^]*Would change 2 files: 2 deleted/);
  expect(sandbox.read("one.txt")).toBe("1\n");
});

describe("when something else changed meanwhile", () => {
  test("other lines and other files stay", () => {
    step("sed -i 's/^2$/two/' a.txt");
    sandbox.write("a.txt", sandbox.read("a.txt")!.replace("9", "nine"));
    sandbox.write("b.txt", "by hand\n");
    const undone = sandbox.json(["undo", "--yes"]);
    expect(undone).toMatchObject({ outcome: "applied", merged: [{ path: "a.txt" }], mergedTotal: 1 });
    expect(sandbox.read("a.txt")).toBe("1\n2\n3\n4\n5\n6\n7\n8\nnine\n");
    expect(sandbox.read("b.txt")).toBe("by hand\n");
  });

  test("the same lines are a conflict: exit 3, nothing changed, the path is named", () => {
    step("sed -i 's/^2$/two/' a.txt; echo new > new.txt");
    sandbox.write("a.txt", sandbox.read("a.txt")!.replace("two", "by hand"));
    const result = sandbox.json(["undo"], 3);
    expect(result).toMatchObject({
      outcome: "conflicts",
      conflicts: [{ path: "a.txt", reason: expect.any(String) }],
      conflictsTotal: 1,
      deleted: 0,
    });
    const told = sandbox.belay(["undo"]);
    expect(told.status).toBe(3);
    expect(told.stdout).toMatch(/Nothing was changed[^]*a\.txt[^]*--best-effort/);
    expect(sandbox.belay(["undo", "--dry-run"]).status).toBe(3);
    // [R2345] a patch of what has no conflict does not pass for the whole
    expect(sandbox.belay(["undo", "--dry-run", "-p"])).toMatchObject({
      status: 3,
      stdout: expect.stringContaining("-new"),
      stderr: expect.stringContaining("This would be refused"),
    });
    expect(sandbox.read("new.txt")).toBe("new\n");
  });

  test("[R185] [R1701] a conflict shows who is in the way and the lines of both sides, and the commands that lead out do", () => {
    step("sed -i 's/^2$/two/' a.txt; echo new > new.txt");
    sandbox.write("a.txt", sandbox.read("a.txt")!.replace("two", "by hand"));
    const result = sandbox.json(["undo"], 3);
    expect(result.conflicts[0]).toMatchObject({
      ours: { kind: "file", line: 2, lines: ["by hand"], more: 0 },
      theirs: { kind: "file", line: 2, lines: ["2"], more: 0 },
      latest: { by: "hand", agent: null, at: expect.stringMatching(/^\d{4}-.*Z$/) },
      restoreFrom: expect.stringMatching(ID),
    });
    const from = result.conflicts[0].restoreFrom.slice(0, 8);
    const [rest, exact] = ["belay undo --best-effort", `belay restore ${from} a.txt`];
    expect(result.waysOut.map((way: any) => way.command)).toEqual([rest, exact]);
    expect(sandbox.json(["undo", "--dry-run"], 3).waysOut).toEqual(result.waysOut);
    expect(sandbox.belay(["undo"]).stdout.replace(/by you \d\d:\d\d$/m, "by you 10:47")).toBe(
      [
        `! Cannot undo turn of tester "sh -c 'sed -i '\\''s/^2$/two/'\\'' a.txt; echo new > new.txt'". Nothing was changed. Conflicts:`,
        "  a.txt:2  the same lines, by you 10:47",
        "    now    │ by hand",
        "    wanted │ 2",
        `→ \`${rest}\` does the rest and leaves these as they are.`,
        `→ \`${exact}\` takes the wanted version instead of what is there now.`,
        "",
      ].join("\n"),
    );
    expect(typed(rest, 3)).toContain(exact);
    expect([sandbox.read("new.txt"), sandbox.read("a.txt")]).toEqual([
      undefined,
      "1\nby hand\n3\n4\n5\n6\n7\n8\n9\n",
    ]);
    typed(exact, 0);
    expect(sandbox.read("a.txt")).toBe("1\n2\n3\n4\n5\n6\n7\n8\n9\n");
  });

  test("[R185] so do a deleted file, a revert, a redo, and a command from a directory below", () => {
    sandbox.write("src/c d.txt", "c\n");
    step("echo changed > 'src/c d.txt'");
    const [{ seq }] = sandbox.json(["list", "--limit", "1"]).checkpoints;
    sandbox.remove("src/c d.txt");
    mkdirSync(sandbox.path("src/x"), { recursive: true });
    const ran = sandbox.belay(["revert", String(seq)], { cwd: sandbox.path("src/x") });
    expect(ran.stdout).toMatch(/now {4}│ \(no file\)\n {4}wanted │ c\n/);
    const exact = /`(belay restore \S+ '\.\.\/c d\.txt')`/.exec(ran.stdout)![1]!;
    typed(exact, 0, sandbox.path("src/x"));
    expect(sandbox.read("src/c d.txt")).toBe("c\n");
    sandbox.ok("undo");
    sandbox.write("src/c d.txt", "changed\n");
    sandbox.ok("undo");
    sandbox.write("src/c d.txt", "mine\n");
    const again = sandbox.json(["redo"], 3);
    expect(again.conflicts[0]).toMatchObject({ ours: { lines: ["mine"] }, theirs: { lines: ["changed"] } });
    typed(again.waysOut[1].command, 0);
    expect(sandbox.read("src/c d.txt")).toBe("changed\n");
  });

  test("--best-effort does the rest: exit 3, partial", () => {
    step("sed -i 's/^2$/two/' a.txt; echo new > new.txt");
    sandbox.write("a.txt", sandbox.read("a.txt")!.replace("two", "by hand"));
    expect(sandbox.json(["undo", "--best-effort", "--yes"], 3)).toMatchObject({
      outcome: "partial",
      deleted: 1,
    });
    expect(sandbox.read("new.txt")).toBeUndefined();
    expect(sandbox.read("a.txt")).toContain("by hand");
  });
});

test("a restore is a step too", () => {
  step("echo new > new.txt");
  sandbox.ok("restore", "1", "--yes");
  expect(sandbox.json(["undo", "--yes"]).steps).toMatchObject([{ kind: "restore" }]);
  expect(sandbox.read("new.txt")).toBe("new\n");
});

test("--thread undoes only that conversation's steps", () => {
  step("echo 1 > one.txt");
  const [{ thread }] = sandbox.json(["list", "--kind", "turn"]).checkpoints;
  sandbox.ok("run", "--agent", "other", "--", "sh", "-c", "echo 2 > two.txt");
  sandbox.ok("undo", "--thread", thread);
  expect([sandbox.read("one.txt"), sandbox.read("two.txt")]).toEqual([undefined, "2\n"]);
});

describe("revert", () => {
  test("takes out one step and keeps what came later", () => {
    step("echo 1 > one.txt");
    const [{ seq }] = sandbox.json(["list", "--limit", "1"]).checkpoints;
    step("echo 2 > two.txt");
    const result = sandbox.json(["revert", String(seq)]);
    expect(result).toMatchObject({ outcome: "applied", deleted: 1, canUndo: true, canRedo: false });
    expect([sandbox.read("one.txt"), sandbox.read("two.txt")]).toEqual([undefined, "2\n"]);
    sandbox.ok("undo");
    expect(sandbox.read("one.txt")).toBe("1\n");
  });

  test("only some paths; bad input is refused", () => {
    step("echo 1 > one.txt; echo 2 > two.txt");
    sandbox.ok("revert", "@", "one.txt");
    expect([sandbox.read("one.txt"), sandbox.read("two.txt")]).toEqual([undefined, "2\n"]);
    expect(sandbox.error(["revert", "99"], 4)).toMatchObject({ code: "CHECKPOINT_NOT_FOUND" });
    expect(sandbox.error(["revert", "@", "../x"], 2)).toMatchObject({ code: "PATH_OUTSIDE" });
  });
});

test.each(["0", "99999999999999999999"])("undo %s is a mistake", (count) => {
  expect(sandbox.error(["undo", "--", count], 2)).toMatchObject({ code: "USAGE" });
});

test.each(["-1", "two", "1.5"])("undo %s is a path that the step did not change", (path) => {
  step("echo 1 > one.txt");
  expect(sandbox.error(["undo", "--", path], 4)).toMatchObject({ code: "PATH_NOT_IN_CHECKPOINT" });
});

test("[R161] the newest step can no longer be undone: exit 3, the way out, and status and list say so", () => {
  step("echo older > older.txt");
  step("echo newest > newest.txt");
  const [newest, before] = sandbox.json(["list"]).checkpoints;
  sandbox.write("later.txt", "by hand\n");
  sandbox.ok("checkpoint");
  const forgotten = sandbox.belay(["forget", newest.id, "--yes"]);
  expect(forgotten.stderr).toMatch(/These steps can no longer be undone: turn of tester "sh -c 'echo newest/);
  const error = sandbox.error(["undo", "--yes"], 3);
  expect(error).toMatchObject({ code: "CONTENT_PRUNED", checkpoint: before.id });
  expect(error.hint).toContain(`belay restore ${before.id}`);
  expect(sandbox.read("older.txt")).toBe("older\n");
  expect(sandbox.json(["status"])).toMatchObject({ canUndo: null, undoDropped: 1 });
  expect(sandbox.ok("status")).toMatch(/no undo +1 step whose checkpoints were dropped/);
  expect(sandbox.ok("list")).toMatch(/\(no undo\)/);
  sandbox.ok("restore", before.id, "--yes");
  expect(sandbox.read("newest.txt")).toBeUndefined();
});
