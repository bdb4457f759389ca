/** The benchmark in its short form: it runs, measures against git and says which budgets hold. Figures are not judged. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { TARGETS } from "../bench/targets.ts";

test("[A64] the benchmark prints its table: captures and restores of a small project among them", () => {
  const small = [
    "--files",
    "200",
    "--rounds",
    "1",
    "--checkpoints",
    "3",
    "--history",
    "30",
    "--page",
    "0",
    "--targets",
    "0",
    "--hooks",
    "0",
  ];
  const args = ["bench/main.ts", ...small];
  const printed = execFileSync(process.execPath, args, {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
    timeout: 110_000,
    killSignal: "SIGKILL",
  });
  for (const work of [
    "first capture",
    "cold capture, 10 changed",
    "live capture, 10 changed",
    "restore of 10 files, live",
    "list 100",
    "memory",
    "after gc",
    "plan of a merge",
    "apply of a merge",
    "a fork with its dependencies",
    "a fork from a spare one",
    "ghost of 10 changed files",
    "search in vectors, recall@10",
    "sync of the index, nothing changed",
    "in step after a restore of 10 files, 0 embeddings",
    "size of the index",
    "cold capture with an index",
  ]) {
    expect(printed).toContain(work);
  }
  expect(printed).not.toMatch(/NaN|undefined/);
});

test("[Y77] [Y79] [L03] [L42] the targets are the numbers of the designs", () => {
  const numbers = Object.values(TARGETS).map(({ work, files, mostMs }) => `${work}: ${files}, ${mostMs}`);
  expect(numbers).toEqual([
    "creation, 5 files, 50 KB: 5, 50",
    "creation, 10 files changed: 10, 100",
    "creation, 50 files, 500 KB: 50, 200",
    "restore, 10 files: 10, 100",
    expect.stringMatching(/^list of 100\b.*: 10, 20$/),
    expect.stringMatching(/^recovery of an interrupted restore: \d+, 2000$/),
  ]);
});

test("[Y03] [Y77] [Y79] [L03] [L42] [M80] [M81] the targets of the replaced designs are measured, each with its budget", () => {
  const args = ["bench/main.ts", "--files", "0", "--targets", "1", "--hooks", "1"];
  const printed = execFileSync(process.execPath, args, {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
    timeout: 110_000,
    killSignal: "SIGKILL",
  });
  for (const { work, mostMs } of Object.values(TARGETS))
    expect(rowOf(printed, work), work).toMatch(new RegExp(`\\| < ${mostMs} ms +\\| (yes|NO) +\\|$`));
  expect(rowOf(printed, "hook in a fork")).toMatch(/\| ≤ 120 ms +\| (yes|NO) +\|$/);
  expect(rowOf(printed, "an event in a fork")).toMatch(/\| ≤ 1\.5 × one alone +\| (yes|NO) +\|$/);
  expect(rowOf(printed, "compression")).toMatch(/\| ≥ 1 × +\| (yes|NO) +\|$/);
  expect(printed).not.toMatch(/NaN|undefined/);
});

function rowOf(printed: string, work: string): string {
  return printed.split("\n").find((line) => /^[ ,]/.test(line.split(`| ${work}`)[1] ?? "")) ?? "";
}

test("the replay of a repository's merges counts what both sides changed, against git and what was committed", () => {
  const root = mkdtempSync(join(tmpdir(), "belay-replay-test-"));
  const limits = { timeout: 60_000, killSignal: "SIGKILL" } as const;
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.org", ...args], {
      cwd: root,
      ...limits,
    });
  const commit = (code: string) => {
    writeFileSync(join(root, "a.ts"), code);
    git("add", ".");
    git("commit", "-q", "-m", "x");
  };
  const lines = Array.from({ length: 9 }, (_, at) => `call(${at});\n`);
  try {
    git("init", "-q", "-b", "one");
    commit(lines.join(""));
    git("checkout", "-q", "-b", "two");
    commit(lines.with(7, "theirs();\n").join(""));
    git("checkout", "-q", "one");
    commit(lines.with(1, "ours();\n").join(""));
    git("merge", "-q", "-m", "merged", "two");
    const printed = execFileSync(process.execPath, ["bench/main.ts", "--merges", root], {
      encoding: "utf8",
      ...limits,
    });
    expect(printed).toContain(
      "1 merges (0 of unrelated histories), 1 files that both sides changed, 1 of them code",
    );
    expect(printed).toContain("1 clean and equal, 0 in conflict in both");
    expect(printed).toContain("| medium: taken (lines) | 1 | 100.0 % |");
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
