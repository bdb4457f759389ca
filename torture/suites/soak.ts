/**
 * Real commands of many processes at once, killed and stopped at random. Each process changes only its own
 * files: what was acknowledged to it must be there in the end, exactly.
 */
import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openWorkspace, type Workspace } from "../../packages/engine/src/index.ts";
import { expectVerified } from "../../packages/engine/test/support/fault-check.ts";
import { makeDirectory } from "../../packages/engine/test/support/place.ts";
import { createSeededRandom, type SeededRandom } from "../../packages/engine/test/support/seeded-random.ts";
import { describeFile, type TreeMap } from "../../packages/engine/test/support/tree-map.ts";
import { readCheckpointMap } from "../../packages/engine/test/support/workspace-model.ts";
import type { Round, Suite } from "../suite.ts";

const COMMAND = join(import.meta.dirname, "../../packages/cli/bin/belay.js");
const PROCESSES = 8;
const COMMANDS_EACH = 12;
const KILLED = 4;
const STOPPED = 8;

export const soak: Suite = {
  name: "soak",
  unit: "commands",
  goal: 2_000,
  short: 40,
  async round(round) {
    const base = makeDirectory("belay-soak-");
    const place = { base, root: join(base, "root"), home: join(base, "home") };
    const parents: ChildProcess[] = [];
    try {
      mkdirSync(place.root);
      await (await openWorkspace(place.root, place)).close();
      const agents = Array.from(
        { length: PROCESSES },
        (_, number) => new Agent(place, { number, round, parents }),
      );
      await Promise.all(agents.map((agent) => agent.live(Math.min(COMMANDS_EACH, round.left / PROCESSES))));
      await expectAllThere(place, agents);
    } finally {
      for (const parent of parents) parent.kill("SIGKILL");
      rmSync(base, { recursive: true, force: true });
    }
  },
};

interface Place {
  readonly base: string;
  readonly root: string;
  readonly home: string;
}

interface Saved {
  readonly id: string;
  readonly content: string;
}

class Agent {
  readonly #place: Place;
  readonly #round: Round;
  readonly #random: SeededRandom;
  /** Processes that have zombies: they stay until everything has been looked at. */
  readonly #parents: ChildProcess[];
  readonly name: string;
  readonly path: string;
  /** Checkpoints that were acknowledged, and the content of its file then. */
  readonly saved: Saved[] = [];
  /** Content of its file that a restore took away. */
  readonly takenAway: string[] = [];
  /** How long a restore takes at present: what is written meanwhile should meet any moment of it. */
  #restoreMs = 400;

  constructor(
    place: Place,
    { number, round, parents }: { number: number; round: Round; parents: ChildProcess[] },
  ) {
    this.#place = place;
    this.#parents = parents;
    this.#round = round;
    this.#random = createSeededRandom(round.random.below(2 ** 30));
    this.name = `agent-${number}`;
    this.path = join(place.root, this.name, "file");
    mkdirSync(join(place.root, this.name));
    writeFileSync(this.path, "start");
  }

  async live(commands: number): Promise<void> {
    for (let number = 0; number < commands; number += 1) {
      const kind = this.#random.pick([
        "checkpoint",
        "checkpoint",
        "checkpoint",
        "restore",
        "prune",
        "gc",
      ] as const);
      if (kind === "checkpoint" || this.saved.length === 0) await this.#checkpoint(number);
      else if (kind === "restore") await this.#restore(number);
      else await this.#run(kind === "gc" ? ["gc"] : ["prune", "--yes"]);
      this.#round.count(kind);
    }
  }

  async #checkpoint(number: number): Promise<void> {
    const content = `${this.name} ${number} ${this.#random.below(2 ** 30)}`;
    writeFileSync(this.path, content);
    const said = await this.#run(["checkpoint"]);
    // no other process may have written to it, not even a restore that was killed and is finished by another process
    assert.equal(readFileSync(this.path, "utf8"), content);
    if (said !== undefined) this.saved.push({ id: said, content });
  }

  async #restore(number: number): Promise<void> {
    const only = `${this.name} ${number} only here ${this.#random.below(2 ** 30)}`;
    writeFileSync(this.path, only);
    const target = this.#random.pick(this.saved);
    const started = performance.now();
    const restoring = this.#run(["restore", target.id, this.name, "--yes"]);
    const written = this.#random.below(2) === 0 ? [only] : [only, await this.#meddle(number)];
    const said = await restoring;
    if (said !== undefined) this.#restoreMs = performance.now() - started;
    const present = readFileSync(this.path, "utf8");
    if (said !== undefined && !written.includes(present)) assert.equal(present, target.content);
    // what was replaced by its own hand need not be saved
    if (present !== written.at(-1)) this.takenAway.push(written.at(-1)!);
  }

  /** Saves the file again, as an editor does, while it is being restored. */
  async #meddle(number: number): Promise<string> {
    const content = `${this.name} ${number} meanwhile ${this.#random.below(2 ** 30)}`;
    await sleep(this.#random.below(this.#restoreMs));
    const draft = join(this.#place.base, `${this.name}.draft`);
    writeFileSync(draft, content);
    renameSync(draft, this.path);
    return content;
  }

  /** The id that the command prints, or nothing if it was killed or refused. */
  async #run(words: readonly string[]): Promise<string | undefined> {
    if (this.#random.below(40) < KILLED) return this.#runAndKill(words);
    const child = spawn(process.execPath, [COMMAND, ...words, "--json"], {
      cwd: this.#place.root,
      env: { ...process.env, BELAY_HOME: this.#place.home },
      stdio: ["ignore", "pipe", "ignore"],
    });
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString("utf8")));
    const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
    void this.#disturb(child.pid!);
    if ((await ended) !== 0) return undefined;
    const { id, checkpoint } = JSON.parse(output) as { id?: string; checkpoint?: { id: string } };
    return id ?? checkpoint?.id ?? "";
  }

  /** Kills it below a parent that never reaps, as the first process of many containers: a zombie is left. */
  async #runAndKill(words: readonly string[]): Promise<undefined> {
    const script = '"$@" > /dev/null & echo $!; exec sleep 600';
    const parent = spawn("sh", ["-c", script, "sh", process.execPath, COMMAND, ...words, "--json"], {
      cwd: this.#place.root,
      env: { ...process.env, BELAY_HOME: this.#place.home },
      stdio: ["ignore", "pipe", "ignore"],
    });
    this.#parents.push(parent);
    const [pid] = (await once(parent.stdout, "data")) as [Buffer];
    await sleep(this.#random.below(1500));
    process.kill(Number(pid.toString("latin1")), "SIGKILL");
    const isZombie = () =>
      /\) [ZX] /.test(readFileSync(`/proc/${Number(pid.toString("latin1"))}/stat`, "latin1"));
    while (!isZombie()) await sleep(2);
  }

  async #disturb(pid: number): Promise<void> {
    const signal = (name: NodeJS.Signals) => {
      try {
        process.kill(pid, name);
      } catch {
        // it has ended
      }
    };
    if (this.#random.below(40) >= STOPPED) return;
    await sleep(this.#random.below(1500));
    signal("SIGSTOP");
    await sleep(this.#random.below(1000));
    signal("SIGCONT");
  }
}

async function expectAllThere(place: Place, agents: readonly Agent[]): Promise<void> {
  await using workspace = await openAfterBlocked(place);
  await expectVerified(workspace);
  const trees = new Map<string, TreeMap>();
  for (const { id } of await workspace.list()) trees.set(id, await readCheckpointMap({ workspace }, id));
  for (const { name, path, saved, takenAway } of agents) {
    const node = (content: string) => describeFile(0o644, Buffer.from(content));
    for (const { id, content } of saved)
      assert.equal(trees.get(id)?.get(`${name}/file`), node(content), `${name}: checkpoint ${id}`);
    const all = new Set([...trees.values()].map((tree) => tree.get(`${name}/file`)));
    for (const content of takenAway) assert.ok(all.has(node(content)), `${content} is nowhere`);
    const last = saved.at(-1);
    if (last === undefined) continue;
    await workspace.restoreTo(last.id, { paths: [name] });
    assert.equal(readFileSync(path, "utf8"), last.content);
  }
}

/** A restore whose file was changed after it was killed blocks once, with the tree kept. */
async function openAfterBlocked(place: Place): Promise<Workspace> {
  return openWorkspace(place.root, place).catch(() => openWorkspace(place.root, place));
}
