/**
 * Operations on a small project with a fault at any call that changes a file. A killed process is simulated
 * by failing all calls from one on; some processes are really killed, to show that it is the same.
 */
import { openWorkspace } from "../../packages/engine/src/index.ts";
import { FaultControl, shimBase } from "../../packages/engine/test/support/fault-control.ts";
import {
  expectHonest,
  expectProtected,
  expectVerified,
  expectSound,
  readSessions,
  type States,
} from "../../packages/engine/test/support/fault-check.ts";
import { expectTold } from "../../packages/engine/test/support/fault-conversation.ts";
import { expectNoScratch, meetFork, trashFork } from "../../packages/engine/test/support/fault-forks.ts";
import { FaultLab, hasCompiler, type Fault } from "../../packages/engine/test/support/fault-lab.ts";
import {
  carryOut,
  unmigrate,
  type Operation,
  type Said,
} from "../../packages/engine/test/support/fault-operations.ts";
import { buildFaultProject, keepOldFormat } from "../../packages/engine/test/support/fault-project.ts";
import { OLD_FORMATS } from "../../packages/engine/test/support/old-store.ts";
import { readTreeMap } from "../../packages/engine/test/support/tree-map.ts";
import type { Round } from "../suite.ts";

/** An operation from a saved state, and its result without a fault. */
interface Scene extends States {
  readonly title: string;
  readonly operation: Operation;
  readonly kept: string;
  readonly calls: readonly string[];
}

export interface Point {
  readonly scene: Scene;
  /** The number of the call, from 1. */
  readonly at: number;
  readonly call: string;
}

/** Operations with the saved state that each starts from; every suite that lets calls fail plays them. */
export const COMMON_SCENES: readonly (readonly [Operation, kept: string])[] = [
  ["open", "bare"],
  ["create", "start"],
  ["restore", "start"],
  ["undo", "turned"],
  ["redo", "undone"],
  ["approve", "start"],
  ["reset", "start"],
  ["prune", "start"],
  ["gc", "start"],
];
const SCENES = [
  ...COMMON_SCENES,
  ["migrate", "start"],
  ["converse", "start"],
  ["switch", "start"],
  ["fork", "start"],
  ["takeover", "start"],
  ["unfork", "forked"],
  ["merge", "start"],
  ["check", "start"],
  ["resolve", "start"],
] as const;
const MOVES_FILES: ReadonlySet<Operation> = new Set<Operation>([
  "restore",
  "undo",
  "redo",
  "reset",
  "switch",
  "merge",
  "check",
  "resolve",
]);
const FORKING: ReadonlySet<Operation> = new Set<Operation>(["fork", "takeover", "unfork"]);
const CHANGES_SESSIONS: ReadonlySet<Operation> = new Set<Operation>(["approve", "reset"]);
/** The self-test tries only where its bug is: one scene, or selected calls. */
const CHOSEN_SCENE = process.env["BELAY_TORTURE_SCENE"] ?? "";
const CHOSEN_CALLS = new RegExp(process.env["BELAY_TORTURE_CALLS"] ?? "");
const RECOVERIES = 4;
const MOST_FAILURES = 12;
/** One in this many is restored from afterwards. */
const RESTORED = 4;

export function missingShim(): string | undefined {
  return hasCompiler ? undefined : "there is no C compiler";
}

/** A project in this process's laboratory and all points at which a fault can strike. */
export class FaultScenes {
  readonly lab = new FaultLab(shimBase);
  readonly #control = new FaultControl(shimBase!);
  readonly #scenes: Scene[] = [];
  readonly #failures: Error[] = [];
  #strikes = 0;

  async build({ random, left }: Round): Promise<void> {
    const known = await buildFaultProject(this.lab, random);
    for (const [operation, kept] of SCENES)
      if (CHOSEN_SCENE === "" || CHOSEN_SCENE === operation)
        await this.#rehearse(operation, kept, { title: operation, known });
    if (CHOSEN_SCENE !== "") return;
    for (const format of OLD_FORMATS)
      await this.#rehearse("open", `format ${format}`, {
        title: `format ${format} to the present one`,
        known: await keepOldFormat(this.lab, format),
      });
    await this.#addRecoveries({ random, left }, known);
  }

  /** Opening after something that changes files was interrupted. */
  async #addRecoveries(
    { random, left }: Pick<Round, "random" | "left">,
    known: Scene["known"],
  ): Promise<void> {
    const changing = this.#scenes.filter((scene) => this.#callsInTree(scene).length > 0);
    for (let number = 0; number < Math.min(RECOVERIES, left / 20); number += 1) {
      const scene = random.pick(changing);
      this.lab.putBack(scene.kept);
      await this.#interrupt(scene.operation, {
        at: random.pick(this.#callsInTree(scene)),
        how: EIO,
        lasting: true,
      });
      this.lab.keep(`half ${number}`);
      const { before, after, sessions, branches, forking } = scene;
      const states = { before, after, sessions, branches, forking };
      await this.#rehearse("open", `half ${number}`, { title: "recovery", known, ...states });
    }
  }

  /** The numbers of the calls that change the tree itself. */
  #callsInTree({ calls }: Scene): number[] {
    return calls.flatMap((call, index) => (call.includes(" " + this.lab.root) ? [index + 1] : []));
  }

  /** Each point once, in an order from the seed. */
  points({ random }: Round): Point[] {
    const points = this.#scenes
      .flatMap((scene) => scene.calls.map((call, index) => ({ scene, at: index + 1, call })))
      .filter(({ call }) => CHOSEN_CALLS.test(call));
    for (let at = points.length - 1; at > 0; at -= 1) {
      const other = random.below(at + 1);
      [points[at], points[other]] = [points[other]!, points[at]!];
    }
    return points;
  }

  /** Lets faults strike an operation, in this process or a separate one, and checks what is left. */
  async strike(
    { scene, at, call }: Point,
    faults: readonly Fault[],
    mode: "judge" | "here" | "apart",
  ): Promise<void> {
    await this.#putBack(scene.kept, scene.operation);
    let said: Said | undefined;
    try {
      if (mode === "apart") await this.lab.run(scene.operation, ...faults);
      else said = await this.#interrupt(scene.operation, ...faults);
      if (mode === "judge") expectHonest(said, this.lab, scene);
      await this.#expectSound(scene, said?.done === true && scene.title !== "recovery");
      if (scene.operation === "converse") await this.#expectTold(said?.told ?? []);
      if (scene.operation === "check") await this.#expectNoScratch();
    } catch (error) {
      const where = `${scene.title}, call ${at} of ${scene.calls.length}: ${call}; ${JSON.stringify(faults)}; said ${JSON.stringify(said)}`;
      this.#failures.push(new Error(where, { cause: error }));
      if (this.#failures.length >= MOST_FAILURES) this.assertNoFailure();
    }
  }

  /** Reports the failing points of a round together. */
  assertNoFailure(): void {
    if (this.#failures.length > 0)
      throw new AggregateError(this.#failures, `${this.#failures.length} points fail`);
  }

  /** Restoring as well takes as long as all the rest. */
  async #expectSound(scene: Scene, done: boolean): Promise<void> {
    this.#strikes += 1;
    if (scene.operation === "migrate") await unmigrate(this.lab);
    if (scene.title === "open") return expectProtected(this.lab, scene);
    return expectSound(this.lab, scene, { done, restore: this.#strikes % RESTORED === 0 });
  }

  async #expectTold(told: readonly string[]): Promise<void> {
    await using workspace = await openWorkspace(this.lab.root, { home: this.lab.home });
    await expectTold(workspace, "first", told);
    await expectVerified(workspace);
  }

  async #expectNoScratch(): Promise<void> {
    await using workspace = await openWorkspace(this.lab.root, { home: this.lab.home });
    // a strike may have ended with the first state restored, which is not what the merge was planned on
    if ((await workspace.merges.list()).every(({ state }) => state !== "open"))
      await expectNoScratch(workspace);
  }

  async #interrupt(operation: Operation, ...faults: Fault[]): Promise<Said> {
    this.#control.arm(...faults);
    try {
      return await carryOut(operation, this.lab, { forgotten: true });
    } finally {
      this.#control.disarm();
    }
  }

  async #rehearse(
    operation: Operation,
    kept: string,
    facts: Pick<Scene, "title" | "known"> & Partial<States>,
  ): Promise<void> {
    const before = CHANGES_SESSIONS.has(operation) ? await this.#readSessions(kept) : undefined;
    await this.#putBack(kept, operation);
    const found = readTreeMap(this.lab.root);
    this.#control.arm();
    const said = await carryOut(operation, this.lab, { forgotten: true });
    const calls = this.#control.disarm();
    if (!said.done) throw new Error(`${facts.title} fails by itself: ${said.message}`);
    if (MOVES_FILES.has(operation) && said.outcome !== "applied")
      throw new Error(`${facts.title} has nothing to do: ${String(said.outcome)}`);
    if (operation === "takeover" && said.outcome !== "spare")
      throw new Error(`no file was taken over: ${String(said.outcome)}`);
    if (calls.length === 0) throw new Error(`${facts.title}: no call was counted`);
    const after = readTreeMap(this.lab.root);
    const sessions = before === undefined ? undefined : { before, after: await this.#readSessions() };
    const branches = operation === "switch" ? { before: "main", after: "other" } : undefined;
    const forking = FORKING.has(operation) ? operation : undefined;
    const states = { found, before: found, after, sessions, branches, forking };
    this.#scenes.push({ ...states, operation, kept, calls, ...facts });
  }

  async #putBack(kept: string, operation: Operation): Promise<void> {
    this.lab.putBack(kept);
    await meetFork(this.lab);
    if (operation === "takeover") await trashFork(this.lab);
  }

  async #readSessions(kept?: string): Promise<string> {
    if (kept !== undefined) this.lab.putBack(kept);
    await using workspace = await openWorkspace(this.lab.root, { home: this.lab.home });
    return await readSessions(workspace);
  }
}

export const EIO = 5;
