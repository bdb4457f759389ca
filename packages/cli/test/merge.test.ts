/** `belay merge`, `belay conflicts` and `belay resolve`. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { LAUNCHER, Sandbox } from "./sandbox.ts";
import { hasTmux, TmuxWindow } from "./tmux-window.ts";

let sandbox: Sandbox;
const LINES = Array.from({ length: 9 }, (_, at) => `const a${at + 1} = ${at + 1};\n`).join("");
beforeEach(async () => {
  sandbox = await Sandbox.protected({ "a.ts": LINES, "c.txt": "c\n" });
});
afterEach(async () => {
  await sandbox.verify();
  sandbox[Symbol.dispose]();
});

/** Branches that begin together, each with its own work. */
function work(branches: Readonly<Record<string, () => void>>): void {
  for (const name of Object.keys(branches)) sandbox.ok("branch", name);
  for (const [name, change] of Object.entries(branches)) {
    sandbox.ok("switch", name, "--yes");
    change();
  }
  sandbox.ok("switch", "main", "--yes");
}

function git(directory: string, ...words: string[]): void {
  const identity = ["-c", "user.name=Agent", "-c", "user.email=agent@example.com"];
  execFileSync("git", [...identity, ...words], { cwd: directory, stdio: "pipe" });
}

const line = (number: number, text: string) => LINES.replace(`const a${number} = ${number};`, text);

function threeAgents(): void {
  work({
    r1: () => sandbox.write("a.ts", line(3, "const a3 = 33;")),
    r2: () => {
      sandbox.write("a.ts", line(3, "const a3 = 333;"));
      sandbox.write("n.txt", "new\n");
    },
    r3: () => sandbox.write("a.ts", line(8, "const a8 = 88;")),
  });
}

test("[R95] [M42] [M43] [M47] [C52] three branches come in as one step; the one that overlaps waits, says why, and comes in when it is decided", () => {
  threeAgents();
  sandbox.write("c.txt", "by hand\n");
  const { merge, plan } = sandbox.json(["merge", "r1", "r2", "r3", "--dry-run"], 3);
  expect(merge.sources.map(({ outcome }: { outcome: string }) => outcome)).toEqual([
    "merged",
    "held",
    "merged",
  ]);
  expect(plan.operations).toMatchObject([{ path: "a.ts" }]);
  expect(sandbox.read("a.ts")).toBe(LINES);
  expect(sandbox.belay(["conflicts"]).stdout).toBe("Nothing waits to be decided.\n");
  const merged = sandbox.belay(["merge", "r1", "r2", "r3"]);
  expect(merged.status).toBe(3);
  expect(merged.stdout).toMatch(
    /^! Merged r1, r3 \(1 changed; .*\)\nChanged on both sides, combined:\n {2}a\.ts +\[medium\] +by lines: r1, r3\nHeld back: r2\n {2}a\.ts +\[high\] +both sides changed line 3 +r1, r2 +\w{8}\n→ `belay conflicts` shows them; `belay resolve a\.ts --take ours` decides one; `belay resolve` asks for each\.\n→ `belay undo` takes this back\.\n$/,
  );
  expect(sandbox.read("c.txt")).toBe("by hand\n");
  const { conflicts } = sandbox.json(["conflicts"]);
  expect(conflicts).toMatchObject([
    {
      path: "a.ts",
      agents: ["r1", "r2"],
      severity: "high",
      autoResolvable: false,
      kind: "content",
      reason: "both sides changed line 3",
      regions: [{ class: "overlap", base: [2, 3], ours: [2, 3], theirs: [2, 3] }],
      options: ["ours", "theirs", "both", "base"],
      state: "open",
      resolution: null,
    },
  ]);
  const shown = sandbox.ok("conflicts", "a.ts");
  expect(shown).toContain("    < const a3 = 33;\n    > const a3 = 333;\n");
  expect(shown.match(/both sides changed line/g)).toHaveLength(1);
  expect(sandbox.json(["conflicts", "a.ts"])).toMatchObject({ theirs: { text: line(3, "const a3 = 333;") } });
  // the last decision brings in the rest
  const { conflict, merge: rest } = sandbox.json(["resolve", "a.ts", "--take", "theirs"]);
  expect(conflict).toMatchObject({ state: "resolved", resolution: { by: "user", take: "theirs" } });
  expect(rest).toMatchObject({
    outcome: "applied",
    state: "applied",
    steps: [{ kind: "merge", description: "Merged r2" }],
    resolution: { autoResolved: 1, mergerResolved: 0, userResolved: 1, success: true },
  });
  expect(sandbox.read("n.txt")).toBe("new\n");
  expect(sandbox.ok("undo", "--yes")).toContain("Merged r2");
  expect(sandbox.ok("undo")).toContain("Merged r1, r3");
  expect([sandbox.read("a.ts"), sandbox.read("c.txt")]).toEqual([LINES, "by hand\n"]);
  sandbox.ok("merge", "r3");
  expect(sandbox.ok("revert", "r3")).toContain("Merged r3");
  expect(sandbox.read("a.ts")).toBe(LINES);
});

test("[R97] [M05] [M44] layout is combined unasked; a text that would not parse is a conflict although its lines are apart", () => {
  work({
    layout: () => sandbox.write("a.ts", line(3, "const a3   =   3;")),
    logic: () => sandbox.write("a.ts", line(3, "const a3 = 30;")),
    twice: () => sandbox.write("a.ts", `${LINES}const b = 1;\n`),
  });
  sandbox.ok("merge", "logic");
  expect(sandbox.json(["merge", "layout"])).toMatchObject({
    merged: [{ path: "a.ts", severity: "low", how: "format" }],
  });
  expect(sandbox.read("a.ts")).toBe(line(3, "const a3 = 30;"));
  sandbox.write("a.ts", `const b = 2;\n${line(3, "const a3 = 30;")}`);
  expect(sandbox.json(["merge", "twice"], 3)).toMatchObject({
    outcome: "conflicts",
    conflicts: [{ severity: "critical", options: ["ours", "theirs", "both", "base", "proposal"] }],
  });
});

test("[R96] a decision by file or in an editor is checked; marks come into a file only when asked for, and go out with one undo", () => {
  work({ r1: () => sandbox.write("a.ts", line(3, "const a3 = 33;")) });
  sandbox.write("a.ts", line(3, "const a3 = 3000;"));
  expect(sandbox.belay(["merge", "r1"])).toMatchObject({ status: 3 });
  expect(sandbox.read("a.ts")).toBe(line(3, "const a3 = 3000;"));
  sandbox.ok("conflicts", "--markers", "a.ts");
  expect(sandbox.read("a.ts")).toContain("<<<<<<< main\nconst a3 = 3000;\n||||||| base\n");
  sandbox.ok("undo");
  expect(sandbox.read("a.ts")).toBe(line(3, "const a3 = 3000;"));
  // what a link leads to is not written
  const [own, theirs] = [sandbox.path("a.ts"), join(sandbox.base, "elsewhere.ts")];
  renameSync(own, theirs);
  symlinkSync(theirs, own);
  expect(sandbox.belay(["conflicts", "--markers", "a.ts"]).stderr).toContain("A link is on the way");
  expect(readFileSync(theirs, "utf8")).toBe(line(3, "const a3 = 3000;"));
  renameSync(theirs, own);
  writeFileSync(join(sandbox.base, "broken.ts"), line(3, "const a3 = ;"));
  const taken = sandbox.belay(["resolve", "a.ts", "--file", "../broken.ts"]);
  expect(taken.stderr).toContain("does not parse");
  expect(sandbox.read("a.ts")).toBe(line(3, "const a3 = ;"));
  sandbox.ok("undo");
  expect(sandbox.read("a.ts")).toBe(line(3, "const a3 = 3000;"));
});

test("[R96] what is no answer is refused, what is over is not found, and a merge can be given up", () => {
  threeAgents();
  sandbox.belay(["merge", "r1", "r2"]);
  expect(sandbox.error(["resolve", "a.ts", "--take", "delete"], 3).code).toBe("ANSWER_REFUSED");
  expect(sandbox.error(["resolve", "a.ts", "--take", "ours", "--region", "2"], 3).code).toBe(
    "ANSWER_REFUSED",
  );
  expect(sandbox.error(["resolve", "b.ts", "--take", "ours"], 4).code).toBe("CONFLICT_NOT_FOUND");
  expect(sandbox.error(["merge", "r2"], 3).code).toBe("MERGE_OPEN");
  expect(sandbox.error(["merge", "--continue"], 3).code).toBe("MERGE_OPEN");
  expect(sandbox.belay(["resolve", "a.ts"]).status).toBe(2);
  expect(sandbox.belay(["resolve"]).status).toBe(2);
  expect(sandbox.belay(["merge"]).status).toBe(2);
  expect(sandbox.belay(["merge", "r1", "--on-conflict", "x"]).status).toBe(2);
  expect(sandbox.error(["merge", "main"], 3).code).toBe("BRANCH_IN_USE");
  expect(sandbox.ok("merge", "--abandon")).toBe("The merge of r2 is given up; no file was touched.\n");
  expect(sandbox.error(["merge", "--abandon"], 4).code).toBe("MERGE_NOT_FOUND");
  // given up, it can be tried again
  expect(sandbox.json(["merge", "r2", "--on-conflict", "partial"], 3)).toMatchObject({ outcome: "partial" });
  expect(sandbox.read("n.txt")).toBe("new\n");
});

test("[I64] [R96] [R1452] what only a fork has is captured before its branch is merged, and the root's before it goes into a fork", () => {
  git(sandbox.project, "init", "-q", "-b", "trunk", ".");
  git(sandbox.project, "commit", "-q", "--allow-empty", "-m", "one");
  const { path } = sandbox.json(["fork", "f"]).fork as { path: string };
  mkdirSync(join(path, "src"));
  writeFileSync(join(path, "src/new.ts"), "export const made = 1;\n");
  git(path, "commit", "-q", "--allow-empty", "-m", "two");
  // what was committed there is not merged: it is said where it is
  expect(sandbox.ok("merge", "f", "--yes")).toContain(
    `1 commit of f stays in its fork: \`git fetch ${path} trunk\` takes it over.`,
  );
  const [merged] = sandbox.json(["merge", "f", "--dry-run"]).merge.sources;
  expect(merged).toMatchObject({ outcome: "unchanged", run: null, commits: 1 });
  sandbox.ok("undo", "--yes");
  expect(sandbox.json(["merge", "f", "--yes"])).toMatchObject({ outcome: "applied", created: 1 });
  expect(sandbox.read("src/new.ts")).toBe("export const made = 1;\n");
  sandbox.write("c.txt", "newer\n");
  expect(sandbox.json(["-C", path, "merge", "main"])).toMatchObject({
    outcome: "applied",
    into: "f",
    modified: 1,
  });
});

test.runIf(hasTmux)("[R96] resolve on a terminal brings in every merge that became decided", async () => {
  work({
    r1: () => sandbox.write("a.ts", line(3, "const a3 = 33;")),
    r2: () => sandbox.write("c.txt", "by r2\n"),
  });
  sandbox.write("a.ts", line(3, "const a3 = 3000;"));
  sandbox.write("c.txt", "by hand\n");
  for (const name of ["r1", "r2"]) expect(sandbox.belay(["merge", name]).status).toBe(3);
  const env = { ...sandbox.environment, TERM: "xterm", BELAY_RESIDENT: "off" };
  const program = ["sh", "-c", `'${process.execPath}' '${LAUNCHER}' resolve; echo code $?; cat`];
  using window = new TmuxWindow(program, { cwd: sandbox.project, env }, { rows: 40 });
  const shows = async (pattern: RegExp) => {
    await expect.poll(() => window.screen()).toMatch(pattern);
  };
  for (const number of [1, 2]) {
    await shows(new RegExp(`\\b${number} of 2\\b`));
    window.type("2");
  }
  await shows(/\by do it/);
  window.type("y");
  await shows(/Merged r1[^]*Merged r2[^]*code 0|Merged r2[^]*Merged r1[^]*code 0/);
  expect([sandbox.read("a.ts"), sandbox.read("c.txt")]).toEqual([line(3, "const a3 = 33;"), "by r2\n"]);
});

test("[R2342] conflicts of merges into other branches stand apart, with where they are decided", () => {
  threeAgents();
  sandbox.ok("switch", "r1", "--yes");
  expect(sandbox.belay(["merge", "r2"]).status).toBe(3);
  sandbox.ok("switch", "main", "--yes");
  expect(sandbox.ok("conflicts")).toMatch(
    /^Nothing waits to be decided on main\.\n\nOf a merge into r1, decided after `belay switch r1`:\n {2}a\.ts +\[high\].*\n$/,
  );
  expect(sandbox.json(["conflicts"])).toMatchObject({
    conflicts: [],
    elsewhere: [
      { into: "r1", workingCopy: null, conflicts: [{ path: "a.ts", source: "r2", state: "open" }] },
    ],
  });
  // what waits elsewhere does not make a merge here that is decided
  sandbox.write("a.ts", line(3, "const a3 = 3333;"));
  expect(sandbox.belay(["merge", "r2"]).status).toBe(3);
  expect(sandbox.json(["conflicts"])).toMatchObject({
    conflicts: [{ path: "a.ts" }],
    elsewhere: [{ into: "r1", conflicts: [{ path: "a.ts" }] }],
  });
  sandbox.ok("resolve", "a.ts", "--take", "ours", "--yes");
  expect(sandbox.ok("conflicts")).toMatch(/^Nothing waits to be decided on main\.\n\nOf a merge into r1,/);
  sandbox.ok("switch", "r1", "--yes");
  expect(sandbox.ok("conflicts")).toMatch(/^ {2}a\.ts +\[high\].*\n→ /);
  sandbox.ok("merge", "--abandon");
  expect(sandbox.ok("conflicts")).toBe("Nothing waits to be decided.\n");
});

test("[R95] a merge whose decisions change no file promises no undo: undo takes the step before it", () => {
  work({ theirs: () => sandbox.write("a.ts", line(3, "const a3 = 33;")) });
  sandbox.ok("run", "--", "sh", "-c", "echo by a program > made.txt");
  sandbox.write("a.ts", line(3, "const a3 = 333;"));
  expect(sandbox.belay(["merge", "theirs"]).status).toBe(3);
  const decided = sandbox.ok("resolve", "a.ts", "--take", "ours", "--yes");
  expect(decided).toContain("no file changed");
  expect(decided).not.toContain("takes this back");
  sandbox.ok("undo", "--yes");
  expect(existsSync(join(sandbox.project, "made.txt"))).toBe(false);
  expect(sandbox.read("a.ts")).toBe(line(3, "const a3 = 333;"));
});
