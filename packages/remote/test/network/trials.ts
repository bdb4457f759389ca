/**
 * What two machines and a newcomer do with a space, with one thing going wrong at one request. Whatever it is, the work is
 * done or it is not; the next try ends it; what was claimed to be stored can be read by others; and no wrong byte arrives.
 */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { RetryingRemoteStore } from "../../src/stores/retrying-remote-store.ts";
import { S3RemoteStore } from "../../src/stores/s3-remote-store.ts";
import type { TestServer } from "../support/ceph-server.ts";
import { FaultProxy, FAULTS, type Fault } from "../support/fault-proxy.ts";
import { filesBelow, Machine } from "../support/machines.ts";

/** What is done while something goes wrong. */
export const WORKS = ["push", "pull", "fetch", "sync", "clone", "race"] as const;
export type Work = (typeof WORKS)[number];

/** One fault at one request of one kind of work. */
export interface Trial {
  readonly work: Work;
  readonly fault: Fault;
  readonly at: number;
  /** Whether a request that failed is sent again by the same command. */
  readonly isPatient: boolean;
}

const PATIENT_MS = 60_000;
/** The client gives up on an answer after this long, where one may not come. */
const TIMEOUT_MS = 700;
const LONG_MS = 30_000;

/** Two machines that share a space behind a proxy. */
export class NetworkTrials implements AsyncDisposable {
  readonly #server: TestServer;
  readonly #proxy: FaultProxy;
  readonly #prefix = randomBytes(6).toString("hex");
  #endpoint = "";
  readonly ana: Machine;
  #bob!: Machine;
  /** Reads what the others claimed, and is never disturbed. */
  #eve!: Machine;
  #lines: readonly string[] = [];
  #n = 0;

  private constructor(server: TestServer, proxy: FaultProxy) {
    this.#server = server;
    this.#proxy = proxy;
    this.ana = new Machine(this.#connect(server.endpoint, true));
  }

  /** Makes the machines, and a space with a history. */
  static async start(server: TestServer): Promise<NetworkTrials> {
    const proxy = new FaultProxy(server.endpoint);
    const trials = new NetworkTrials(server, proxy);
    trials.#endpoint = await proxy.start();
    const { ana } = trials;
    ana.write({ "a.txt": "one\n", "dir/b.txt": "two\n" });
    await (await ana.init()).add();
    await ana.push();
    const direct = trials.#connect(server.endpoint, true);
    trials.#bob = await ana.invited(direct, "bob", "member");
    trials.#eve = await ana.invited(direct, "eve", "member");
    await trials.#bob.push();
    trials.#lines = trials.#linesNow();
    return trials;
  }

  #connect(endpoint: string, isPatient: boolean, isDisturbed = false) {
    const timeoutMs = isDisturbed ? TIMEOUT_MS : LONG_MS;
    return () =>
      new RetryingRemoteStore(
        new S3RemoteStore(
          { endpoint, bucket: "belay", prefix: this.#prefix, region: "us-east-1" },
          { access: this.#server.access, timeoutMs },
        ),
        {
          sleep: async () => undefined,
          now: Date.now,
          random: Math.random,
          patienceMs: isPatient ? PATIENT_MS : 0,
        },
      );
  }

  /** Every fault at every request of a kind of work. */
  async trialsOf(work: Work): Promise<Trial[]> {
    this.#proxy.strike(undefined);
    await this.#prepare(work);
    await this.#work(work, this.#connect(this.#endpoint, true));
    const trials: Trial[] = [];
    for (let at = 1; at <= this.#proxy.count; at += 1)
      for (const fault of FAULTS)
        for (const isPatient of [false, true]) trials.push({ work, fault, at, isPatient });
    return trials;
  }

  /** Throws when something that was claimed is not so. */
  async run({ work, fault, at, isPatient }: Trial): Promise<"done" | "failed"> {
    await this.#prepare(work);
    this.#proxy.strike({ at, fault });
    const failure = await this.#disturbed(work, isPatient).then(
      () => undefined,
      (error: unknown) => error,
    );
    this.#proxy.strike(undefined);
    if (failure !== undefined) {
      assert.match(String((failure as { code?: unknown }).code), /^REMOTE_/, String(failure));
      await this.#expectClaimsKept();
      await this.#work(work, this.#connect(this.#server.endpoint, true));
    }
    await this.#expectClaimsKept();
    // [T4] no other machine wrote them: what was interrupted goes on where it was
    assert.deepEqual(this.#linesNow(), this.#lines);
    for (const machine of work === "race" ? [this.ana, this.#bob] : work === "sync" ? [this.#bob] : [])
      assert.equal(machine.workspace.exchange.queued("team").records, 0, "something still waits");
    return failure === undefined ? "done" : "failed";
  }

  #disturbed(work: Work, isPatient: boolean): Promise<void> {
    return this.#work(work, this.#connect(this.#endpoint, isPatient, true));
  }

  /** What the work is about: something new of each machine, which the other one can see. */
  async #prepare(work: Work): Promise<void> {
    const n = String((this.#n += 1));
    // more than fits a segment, where it is sent while something goes wrong, and now and then elsewhere
    const isBig = work === "push" || work === "sync" || work === "race" || this.#n % 3 === 0;
    const big = isBig ? { "big.bin": randomBytes(1_100_000) } : {};
    this.ana.write({ "a.txt": n, ...big });
    await this.ana.workspace.checkpoint();
    if (work === "pull" || work === "fetch" || work === "clone" || work === "sync") await this.ana.push();
    if (work !== "sync" && work !== "race") return;
    this.#bob.write({ "bob.txt": n, ...big });
    await this.#bob.workspace.checkpoint();
  }

  async #work(work: Work, connect: Machine["host"]["connect"]): Promise<void> {
    const through = async (machine: Machine, doing: () => Promise<unknown>) => {
      const { host } = machine;
      machine.host = { ...host, connect };
      try {
        await doing();
      } finally {
        machine.host = host;
      }
    };
    const [ana, bob] = [this.ana, this.#bob];
    if (work === "push") return through(ana, () => ana.push());
    if (work === "pull") return through(bob, () => bob.pull());
    if (work === "fetch") return through(bob, () => this.#fetch(bob));
    if (work === "clone") return this.#clone(connect);
    if (work === "sync")
      return through(bob, async () => {
        await bob.push();
        await bob.pull();
      });
    const ends = await Promise.allSettled([through(ana, () => ana.push()), through(bob, () => bob.push())]);
    for (const end of ends) if (end.status === "rejected") throw end.reason;
  }

  async #fetch(machine: Machine): Promise<void> {
    const [newest] = await this.ana.workspace.list({ limit: 1 });
    const { checkpoint } = await machine.fetch(`${this.#line}/${newest!.id}`);
    assert.equal(checkpoint.snapshot, newest!.snapshot);
  }

  get #line(): string {
    return this.#linesNow()[0]!;
  }

  #linesNow(): string[] {
    return [this.ana, this.#bob].map(({ workspace }) => workspace.exchange.remotes()[0]!.line);
  }

  /** A newcomer has everything, or nothing at all. */
  async #clone(connect: Machine["host"]["connect"]): Promise<void> {
    const newcomer = new Machine(() => connect(""), "newcomer");
    try {
      await newcomer.receive(this.ana.recoveryKey, this.#line);
    } catch (error) {
      assert.deepEqual(filesBelow(newcomer.root), {});
      throw error;
    }
    await this.#expectSameAs(newcomer);
  }

  async #expectSameAs(clone: Machine): Promise<void> {
    await clone.workspace.restoreTo("@");
    assert.deepEqual(filesBelow(clone.root), filesBelow(this.ana.root));
    const { ok } = await clone.workspace.upkeep.verify({ full: true });
    assert.ok(ok, "the clone is damaged");
  }

  /** [T1] What a machine says is stored, another one can read; [R705] also while both push. */
  async #expectClaimsKept(): Promise<void> {
    await this.#eve.pull();
    for (const machine of [this.ana, this.#bob]) {
      const { line } = machine.workspace.exchange.remotes()[0]!;
      const read = new Set(await this.#readOf(line));
      for (const { id, synced } of await machine.workspace.list({ limit: 20 }))
        assert.ok(synced !== true || read.has(id), `${id} was claimed, and is not there`);
    }
  }

  async #readOf(line: string): Promise<string[]> {
    const { openExchange } = await import("../../src/sync/remote.ts");
    using remote = openExchange(this.#eve.workspace, undefined, this.#eve.host);
    return (await remote.checkpoints(line, 100)).map(({ id }) => id);
  }

  /** Everything that was ever stored is sound, and a clone has it. */
  async finish(): Promise<void> {
    await this.ana.push();
    await this.#bob.push();
    const report = await this.ana.verify();
    assert.deepEqual(report.problems, []);
    await this.#clone(this.#connect(this.#server.endpoint, true));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#proxy.stop();
  }
}
