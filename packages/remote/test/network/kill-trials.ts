/**
 * What two machines and a newcomer do with a space, killed at one request or at one change of a file. The next try ends
 * it; what was claimed to be stored can be read by others; everything proves itself; and a clone is whole, or not there.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createHash, randomBytes } from "node:crypto";
import { join } from "node:path";
import { findWorkspace } from "@belay/engine";
import { buildShim, hasCompiler } from "../../../engine/test/support/fault-lab.ts";
import { findHandoff } from "../../src/share/handoff.ts";
import { openShare } from "../../src/share/open-share.ts";
import { downloadShared } from "../../src/stores/download-shared.ts";
import { openExchange } from "../../src/sync/remote.ts";
import { filesBelow, Machine } from "../support/machines.ts";
import type { ChildTask } from "./kill-child.ts";
import { KillServer } from "./kill-server.ts";

/** What is killed. */
export const KILLED_WORKS = ["push", "pull", "sync", "fetch", "clone", "share", "handoff"] as const;
export type KilledWork = (typeof KILLED_WORKS)[number];

/**
 * One kind of work, and where it is killed: at a request, or just before a change of a file or of the store. A clone is also
 * refused one change, and lives.
 */
export interface KillTrial {
  readonly work: KilledWork;
  readonly at: number;
  readonly where: "before a request" | "after a request" | "at a change" | "refused a change";
}

const NOT_ALLOWED = 13;

const CHILD = new URL("./kill-child.ts", import.meta.url).pathname;

interface Ended {
  /** It did not come to its end. */
  readonly isKilled: boolean;
  readonly said: string;
  readonly requests: number;
  readonly changes: number;
}

/** Two machines that share a space, and one that reads what they claim. */
export class KillTrials implements AsyncDisposable {
  readonly #server: KillServer;
  #endpoint = "";
  readonly #ana: Machine;
  #bob!: Machine;
  /** Is never killed. */
  #eve!: Machine;
  #lines: readonly string[] = [];
  #thread = "";
  #n = 0;

  private constructor(server: KillServer) {
    this.#server = server;
    this.#ana = new Machine(() => server.store);
  }

  static async start(): Promise<KillTrials> {
    const trials = new KillTrials(new KillServer());
    trials.#endpoint = await trials.#server.start();
    const ana = trials.#ana;
    ana.write({ "a.txt": "one\n", "dir/b.txt": "two\n", "dir/deep/c.txt": "three\n" });
    await (await ana.init()).add();
    await ana.push();
    const store = () => trials.#server.store;
    trials.#bob = await ana.invited(store, "bob", "member");
    trials.#eve = await ana.invited(store, "eve", "member");
    await trials.#bob.push();
    const thread = await trials.#bob.workspace.threads.create({
      agent: "codex",
      externalId: "s",
      title: "t",
    });
    trials.#thread = thread.id;
    trials.#lines = trials.#linesNow();
    return trials;
  }

  /** Every place at which a kind of work can be killed. */
  async trialsOf(work: KilledWork): Promise<KillTrial[]> {
    const { requests, changes } = await this.#try(work, undefined);
    const each = (where: KillTrial["where"], most: number) =>
      Array.from({ length: most }, (_, n): KillTrial => ({ work, where, at: n + 1 }));
    return [
      ...each("before a request", requests),
      ...each("after a request", requests),
      ...(hasCompiler ? each("at a change", changes) : []),
      ...(hasCompiler && work === "clone" ? each("refused a change", changes) : []),
    ];
  }

  /** Throws when something that was claimed is not so. */
  async run(trial: KillTrial): Promise<"done" | "killed" | "refused"> {
    const { isKilled } = await this.#try(trial.work, trial);
    return !isKilled ? "done" : trial.where === "refused a change" ? "refused" : "killed";
  }

  async #try(work: KilledWork, trial: KillTrial | undefined): Promise<Ended> {
    await this.#prepare();
    if (work === "clone") return this.#clone(trial);
    const [task, reference] = [await this.#task(work), this.#newest];
    const ended = await this.#child(task, trial);
    await this.#expectClaimsKept();
    const { said } = ended.isKilled ? await this.#child(task, undefined) : ended;
    await this.#expectClaimsKept();
    // [T4] no other machine wrote them: what was killed goes on where it was
    assert.deepEqual(this.#linesNow(), this.#lines);
    await this.#expectDone(work, said, reference);
    return ended;
  }

  #newest = "";

  /** Something new of each machine, which the other one can see. */
  async #prepare(): Promise<void> {
    const n = String((this.#n += 1));
    // now and then more than fits a segment
    const big = this.#n % 2 === 0 ? { "big.bin": randomBytes(1_100_000) } : {};
    this.#ana.write({ "a.txt": n, ...big });
    const { checkpoint } = await this.#ana.workspace.checkpoint();
    this.#newest = checkpoint.id;
    await this.#ana.push();
    this.#bob.write({ "bob.txt": n, ...big });
    await this.#bob.workspace.checkpoint();
  }

  async #task(work: Exclude<KilledWork, "clone">): Promise<ChildTask> {
    const { home, root } = this.#bob;
    const [line] = this.#lines;
    const reference = `${line}/${this.#newest}`;
    return { work, home, root, endpoint: this.#endpoint, user: "bob", reference, thread: this.#thread };
  }

  async #expectDone(work: KilledWork, said: string, reference: string): Promise<void> {
    const { workspace, host } = this.#bob;
    const answer = JSON.parse(said) as unknown;
    if (work === "push" || work === "sync") assert.equal(workspace.exchange.queued("team").records, 0);
    if (work === "fetch") {
      const wanted = await this.#ana.workspace.resolve(reference);
      assert.equal((await this.#bob.fetch(`${this.#lines[0]}/${reference}`)).checkpoint.id, wanted.id);
    }
    if (work === "share") {
      using share = await openShare(answer as string, downloadShared);
      assert.ok([...share.files()].some(({ path }) => String(path) === "bob.txt"));
    }
    if (work === "handoff")
      assert.ok(await findHandoff(workspace, { name: undefined, thread: this.#thread }, host));
    const { ok } = await workspace.upkeep.verify({ full: true });
    assert.ok(ok, "the store is damaged");
  }

  /** [R2051] A clone that was killed has put nothing into the directory, or the next command completes it. */
  async #clone(trial: KillTrial | undefined): Promise<Ended> {
    const newcomer = new Machine(() => this.#server.store, "newcomer");
    const { home, root } = newcomer;
    const recoveryKey = this.#ana.recoveryKey;
    const [line] = this.#lines;
    const task = {
      work: "clone",
      home,
      root,
      endpoint: this.#endpoint,
      user: "newcomer",
      recoveryKey,
    } as const;
    const ended = await this.#child({ ...task, line: line! }, trial);
    const isThere = () =>
      findWorkspace(root, { home }).then(
        (workspace) => workspace,
        () => undefined,
      );
    let workspace = await isThere();
    if (workspace === undefined) {
      assert.ok(ended.isKilled, "there is no clone");
      assert.deepEqual(readdirSync(root), []);
      await this.#child({ ...task, line: line! }, undefined);
      workspace = await isThere();
    }
    await using found = workspace!;
    assert.deepEqual(namesBelow(root), namesBelow(this.#ana.root));
    assert.equal(found.exchange.remotes().length, 1, "the clone has no remote");
    assert.ok((await found.upkeep.verify({ full: true })).ok, "the clone is damaged");
    return ended;
  }

  async #child(task: ChildTask, trial: KillTrial | undefined): Promise<Ended> {
    const log = join(this.#ana.home, "changes.log");
    rmSync(log, { force: true });
    const isRefusal = trial?.where === "refused a change";
    const isChange = isRefusal || trial?.where === "at a change";
    const env = !hasCompiler
      ? process.env
      : {
          ...process.env,
          LD_PRELOAD: buildShim(this.#ana.home),
          BELAY_FAULT_BELOW: `${task.home}:${task.root}`,
          BELAY_FAULTS: isChange ? `${trial.at} ${isRefusal ? NOT_ALLOWED : "kill"}` : "",
          BELAY_FAULT_LOG: log,
          UV_USE_IO_URING: "0",
        };
    const words = ["--disable-warning=ExperimentalWarning", CHILD, JSON.stringify(task)];
    const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "pipe"], env });
    const isRequest = trial !== undefined && !isChange;
    const when = trial?.where === "before a request" ? "before" : "after";
    const kill = () => void child.kill("SIGKILL");
    this.#server.strike(isRequest ? { at: trial.at, when, kill } : undefined);
    const texts = { out: "", err: "" };
    child.stdout.on("data", (part: Buffer) => (texts.out += part.toString()));
    child.stderr.on("data", (part: Buffer) => (texts.err += part.toString()));
    const [code, signal] = await new Promise<[number | null, string | null]>((resolve) =>
      child.on("close", (...ended) => resolve(ended)),
    );
    const requests = this.#server.count;
    this.#server.strike(undefined);
    assert.ok(signal === "SIGKILL" || code === 0 || isRefusal, `it failed by itself: ${texts.err}`);
    const changes = existsSync(log) ? readFileSync(log, "latin1").split("\n").length - 1 : 0;
    return { isKilled: code !== 0, said: texts.out, requests, changes };
  }

  #linesNow(): string[] {
    return [this.#ana, this.#bob].map(({ workspace }) => workspace.exchange.remotes()[0]!.line);
  }

  /** [T1] What a machine says is stored, another one can read. */
  async #expectClaimsKept(): Promise<void> {
    await this.#eve.pull();
    using remote = openExchange(this.#eve.workspace, undefined, this.#eve.host);
    for (const [at, { workspace }] of [this.#ana, this.#bob].entries()) {
      const read = new Set((await remote.checkpoints(this.#lines[at]!, 1000)).map(({ id }) => id));
      for (const { id, synced } of await workspace.list({ limit: 20 }))
        assert.ok(synced !== true || read.has(id), `${id} was claimed, and is not there`);
    }
  }

  /** Everything that was ever stored is sound, and a clone has it. */
  async finish(): Promise<void> {
    await this.#bob.push();
    await this.#bob.pull();
    assert.deepEqual((await this.#ana.verify()).problems, []);
    const late = await this.#ana.clone(() => this.#server.store, { name: "late", line: this.#lines[1]! });
    await late.workspace.restoreTo("@");
    assert.deepEqual(namesBelow(late.root), namesBelow(this.#bob.root));
    assert.ok((await late.workspace.upkeep.verify({ full: true })).ok);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop();
  }
}

/** Files with what they hold, short enough to be printed. */
function namesBelow(root: string): string[] {
  const named = Object.entries(filesBelow(root)).map(
    ([name, content]) => `${name} ${createHash("sha256").update(content).digest("hex").slice(0, 16)}`,
  );
  return named.toSorted();
}
