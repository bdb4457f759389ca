/**
 * Programs that keep writing while real restores go back and forth: shells that append line by line, opening
 * the file for each, an editor that saves by rename, a build that makes files in directories that are being
 * removed, git switching branches. Some restores are killed in the middle. Everything that was acknowledged
 * to the programs is in the end on disk or in a checkpoint.
 */
import assert from "node:assert/strict";
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openWorkspace, type Workspace } from "../../packages/engine/src/index.ts";
import { expectVerified } from "../../packages/engine/test/support/fault-check.ts";
import { makeDirectory } from "../../packages/engine/test/support/place.ts";
import type { Round, Suite } from "../suite.ts";

const COMMAND = join(import.meta.dirname, "../../packages/cli/bin/belay.js");
const APPENDERS = 6;
const RESTORES_A_ROUND = 10;
/** Restores until something has been written between them would prove nothing. */
const LINES_A_RESTORE = 500;

export const writers: Suite = {
  name: "writers",
  unit: "lines",
  goal: 100_000,
  short: 1_500,
  async round(round) {
    const base = makeDirectory("belay-writers-");
    const place = { base, root: join(base, "root"), home: join(base, "home") };
    const programs: Program[] = [];
    try {
      await setUp(place);
      programs.push(...startPrograms(place));
      await restoreBackAndForth(place, programs, round);
      await stop(place, programs);
      await expectAllThere(place, programs);
    } finally {
      for (const { child } of programs) child.kill("SIGKILL");
      rmSync(base, { recursive: true, force: true, maxRetries: 5 });
    }
  },
};

interface Place {
  readonly base: string;
  readonly root: string;
  readonly home: string;
}

/** A program that writes, and what it says of that: `line path text`, `made path text`, `lost path text`. */
interface Program {
  readonly child: ChildProcess;
  readonly said: string[];
}

/** Checkpoint 1 has neither the files of the appenders nor the build's; checkpoint `two` has both. */
async function setUp({ base, root, home }: Place): Promise<void> {
  mkdirSync(join(root, "kept"), { recursive: true });
  const git = (...words: string[]) => execFileSync("git", ["-C", root, ...GIT_USER, ...words]);
  git("init", "-q", "-b", "a");
  for (const branch of ["a", "b"]) {
    if (branch === "b") git("checkout", "-q", "-b", "b");
    for (let number = 0; number < 5; number += 1)
      writeFileSync(join(root, `tracked-${number}`), `${branch}\n`);
    git("add", "-A");
    git("commit", "-q", "-m", branch);
  }
  writeFileSync(join(root, "edited"), "start\n");
  const workspace = await openWorkspace(root, { home });
  for (let number = 0; number < APPENDERS; number += 1)
    writeFileSync(join(root, `lines-${number}.txt`), `start ${number}\n`);
  mkdirSync(join(root, "out/deep"), { recursive: true });
  writeFileSync(join(root, "out/deep/first"), "first\n");
  await workspace.checkpoint({ name: "two" });
  await workspace.close();
  mkdirSync(join(base, "drafts"));
}

const GIT_USER = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "core.hooksPath=/dev/null"];

function startPrograms(place: Place): Program[] {
  return [
    ...Array.from({ length: APPENDERS }, (_, number) => start(place, APPENDER, String(number))),
    start(place, EDITOR, "edited"),
    start(place, BUILD, "out/deep"),
    start(place, CHECKOUTS, "a"),
  ];
}

function start({ base, root }: Place, script: string, word: string): Program {
  const child = spawn("sh", ["-c", script, "sh", word, base], {
    cwd: root,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const program: Program = { child, said: [] };
  let rest = "";
  child.stdout.on("data", (chunk: Buffer) => {
    const lines = (rest + chunk.toString("utf8")).split("\n");
    rest = lines.pop()!;
    program.said.push(...lines);
  });
  return program;
}

/** Opens the file for each line; two of them also for longer, as loggers that flush now and then do. */
const APPENDER = `
  i=0
  while [ ! -e "$2/stop" ]; do
    i=$((i + 1))
    echo "$1 line $i" >> "lines-$1.txt" && echo "line lines-$1.txt $1 line $i"
    [ $((i % 4)) -ne 0 ] || sleep 0.01
    [ "$1" -gt 1 ] || {
      { echo "$1 held $i" && sleep 0.$((1 + $1 * 4)) && echo "$1 flushed $i"; } >> "lines-$1.txt" &&
        echo "line lines-$1.txt $1 held $i" && echo "line lines-$1.txt $1 flushed $i"
    }
  done`;

/** Notices that its last save is gone: a restore has replaced it. */
const EDITOR = `
  i=0; last=start
  while [ ! -e "$2/stop" ]; do
    i=$((i + 1))
    now=$(cat "$1" 2> /dev/null)
    [ "$now" = "$last" ] || echo "lost $1 $last"
    echo "save $i" > "$2/drafts/$1"
    mv "$2/drafts/$1" "$1" && last="save $i"
    sleep 0.02
  done`;

const BUILD = `
  i=0
  while [ ! -e "$2/stop" ]; do
    i=$((i + 1))
    mkdir -p "$1" 2> /dev/null
    { echo "built $i" > "$1/f$i"; } 2> /dev/null && echo "made $1/f$i built $i"
    sleep 0.02
  done`;

const CHECKOUTS = `
  while [ ! -e "$2/stop" ]; do
    git checkout -q -f a 2> /dev/null; sleep 0.1
    git checkout -q -f b 2> /dev/null; sleep 0.1
  done`;

async function restoreBackAndForth(place: Place, programs: readonly Program[], round: Round): Promise<void> {
  const written = () => programs.reduce((sum, { said }) => sum + said.length, 0);
  let counted = 0;
  const outcomes: string[] = [];
  for (let number = 0; number < RESTORES_A_ROUND && !round.isOver; number += 1) {
    const words = ["restore", number % 2 === 0 ? "1" : "two", "--yes", "--json"];
    if (round.random.below(3) > 0) words.push("--best-effort");
    const restoring = run(place, words, round.random.below(3) === 0 ? round.random.below(40) : undefined);
    const wanted = (number + 1) * LINES_A_RESTORE;
    outcomes.push(await restoring);
    while (written() < wanted) await sleep(5);
    round.count("line", written() - counted);
    counted = written();
  }
  for (const [outcome, all] of Map.groupBy(outcomes, String)) round.count(`restore ${outcome}`, all.length);
}

/** Refusals that are expected while other programs write. */
const REFUSALS = new Set(["RECOVERY_BLOCKED", "FILE_SYSTEM"]);

/** The outcome, or the code of the error; with `killAfterMs` it is killed so long after its stage was made. */
async function run(place: Place, words: readonly string[], killAfterMs?: number): Promise<string> {
  const { root, home } = place;
  const child = spawn(process.execPath, [COMMAND, ...words], {
    cwd: root,
    env: { ...process.env, BELAY_HOME: home },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString("utf8")));
  const closed = new Promise((resolve) => child.on("close", resolve));
  if (killAfterMs !== undefined) await killInTheMiddle(place, child, killAfterMs);
  await closed;
  if (child.signalCode === "SIGKILL") return "killed";
  const { outcome, error } = JSON.parse(output) as { outcome?: string; error?: { code: string } };
  const code = outcome ?? error!.code;
  assert.ok(outcome !== undefined || REFUSALS.has(code), output);
  return code;
}

async function killInTheMiddle({ root }: Place, child: ChildProcess, afterMs: number): Promise<void> {
  const before = stagesIn(root);
  while (child.exitCode === null && stagesIn(root).every((name) => before.includes(name))) await sleep(1);
  await sleep(afterMs);
  child.kill("SIGKILL");
}

function stagesIn(root: string): string[] {
  return readdirSync(root).filter((name) => name.startsWith(".belay-stage-"));
}

async function stop({ base }: Place, programs: readonly Program[]): Promise<void> {
  const ended = programs.map(({ child }) => new Promise((resolve) => child.on("close", resolve)));
  writeFileSync(join(base, "stop"), "");
  await Promise.all(ended);
}

async function expectAllThere({ root, home }: Place, programs: readonly Program[]): Promise<void> {
  // a restore that was left to recovery may be blocked once
  await using workspace = await openWorkspace(root, { home }).catch(() => openWorkspace(root, { home }));
  await expectVerified(workspace);
  const known = await linesByPath(workspace, root);
  for (const line of programs.flatMap(({ said }) => said)) {
    const [, path, text] = /^\w+ (\S+) (.*)$/.exec(line)!;
    assert.ok(known.get(path!)?.has(text!), `${path}: "${text}" is neither on disk nor in a checkpoint`);
  }
  assert.deepEqual(stagesIn(root), []);
}

/** Every line that is on disk or in any checkpoint, by path. */
async function linesByPath(workspace: Workspace, root: string): Promise<Map<string, Set<string>>> {
  const known = new Map<string, Set<string>>();
  const add = (path: string, text: string) => {
    const lines = known.get(path) ?? new Set();
    for (const line of text.split("\n")) lines.add(line);
    known.set(path, lines);
  };
  for (const { id } of await workspace.list())
    for await (const { path, kind, content } of workspace.files(id))
      if (kind === "file") add(path, Buffer.concat([...content()]).toString("utf8"));
  for (const path of readdirSync(root, { recursive: true, encoding: "utf8" }))
    if (!path.startsWith(".git")) addFile(path);
  return known;

  function addFile(path: string): void {
    try {
      add(path, readFileSync(join(root, path), "utf8"));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EISDIR") throw error;
    }
  }
}
