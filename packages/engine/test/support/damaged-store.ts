/** A store with four checkpoints that is damaged in many ways, and what must hold however it is damaged. */
import assert from "node:assert/strict";
import {
  closeSync,
  cpSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import {
  EngineError,
  findWorkspace,
  openWorkspace,
  type Checkpoint,
  type VerifyProblem,
  type VerifyReport,
} from "../../src/index.ts";
import { makeDirectory } from "./place.ts";
import type { SeededRandom } from "./seeded-random.ts";
import { readTreeMap, type TreeMap } from "./tree-map.ts";

export interface KnownState {
  readonly ref: string;
  readonly id: string;
  readonly tree: TreeMap;
  /** What its seal covers. */
  readonly record: string;
}

const DAMAGE: readonly string[] = [
  "STORE_CORRUPT",
  "STORE_REPLACED",
  "STORE_NEWER",
  "OBJECT_CORRUPT",
  "OBJECT_MISSING",
  "CHECKPOINT_NOT_FOUND",
  "FILE_SYSTEM",
];

export class DamagedStore {
  readonly #base = makeDirectory("belay-damage-");
  readonly #random: SeededRandom;
  readonly root = join(this.#base, "root");
  readonly home = join(this.#base, "home");
  readonly states: KnownState[] = [];
  /** The database, and the cache beside it. */
  file = "";
  cache = "";

  constructor(random: SeededRandom) {
    this.#random = random;
  }

  async build(): Promise<void> {
    mkdirSync(this.root);
    const workspace = await openWorkspace(this.root, { home: this.home });
    for (let version = 1; version <= 4; version += 1) {
      this.#writeVersion(version);
      const { checkpoint } = await workspace.checkpoint({ name: `v${version}` });
      this.states.push({
        ref: `v${version}`,
        id: checkpoint.id,
        tree: readTreeMap(this.root),
        record: recordOf(checkpoint),
      });
      if (version === 2) await workspace.upkeep.gc();
    }
    const { store } = await workspace.status();
    await workspace.close();
    [this.file, this.cache] = [join(store, "store.db"), join(store, "stat-cache")];
    // room that is set aside would only be copied again and again
    rmSync(join(store, "reserve"), { force: true });
    for (const name of ["root", "home"]) this.#copy(this.#base, join(this.#base, "pristine"), name);
  }

  #writeVersion(version: number): void {
    for (let file = 0; file < 12; file += 1) {
      mkdirSync(join(this.root, `d${file % 3}`), { recursive: true });
      if (version === 1 || file % 4 === version - 1)
        writeFileSync(join(this.root, `d${file % 3}/f${file}`), this.noise(2_000 + file * 900));
    }
    writeFileSync(join(this.root, `only-in-${version}.txt`), `version ${version}\n`.repeat(50 * version));
  }

  noise(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.#random.below(256)));
  }

  get size(): number {
    return statSync(join(this.#base, "pristine", this.file.slice(this.#base.length))).size;
  }

  /** The project and its store as they were, then damaged. */
  damage(work: (file: string) => void): void {
    for (const name of ["root", "home"]) {
      rmSync(join(this.#base, name), { recursive: true });
      this.#copy(join(this.#base, "pristine"), this.#base, name);
    }
    work(this.file);
  }

  #copy(from: string, to: string, name: string): void {
    cpSync(join(from, name), join(to, name), { recursive: true, preserveTimestamps: true });
  }

  /** Opens the damaged store and restores one state: exactly, or not at all, and what was there before is saved. */
  async expectNoWrongByte(): Promise<"sound" | "found" | "refused"> {
    writeFileSync(join(this.root, "later.txt"), "something that no checkpoint has yet");
    const before = readTreeMap(this.root);
    const opened = await attempt(() => findWorkspace(this.root, { home: this.home }));
    if (opened instanceof EngineError) {
      assert.deepEqual(readTreeMap(this.root), before);
      return "refused";
    }
    await using workspace = opened;
    const report = await attempt(() => workspace.upkeep.verify({ full: true }));
    assert.ok(!(report instanceof EngineError), `verify itself fails: ${String(report)}`);
    const target = this.#random.pick(this.states);
    this.#expectRecords(await attempt(() => workspace.list()), report);
    await attempt(() => workspace.show(target.id));
    const outcome = await attempt(() => workspace.restoreTo(target.id));
    if (outcome instanceof EngineError) this.#expectKnown(outcome, target, { before, report });
    else {
      assert.deepEqual(readTreeMap(this.root), target.tree);
      // [R1] whatever the restore took away was saved, even if the store held a damaged copy of it
      const undone = await attempt(() => workspace.undo());
      const isKnown = report.problems.some(({ kind }) => kind === "database");
      if (undone instanceof EngineError)
        assert.ok(isKnown, `the restore cannot be undone: ${undone.message}`);
      const isBack = !(undone instanceof EngineError) || isInPlace(undone);
      assert.deepEqual(readTreeMap(this.root), isBack ? before : target.tree);
    }
    return report.ok ? "sound" : "found";
  }

  /** A list takes rows as they stand; one that is not as it was written is one that `verify` names. */
  #expectRecords(listed: readonly Checkpoint[] | EngineError, { ok, problems }: VerifyReport): void {
    if (listed instanceof EngineError) return;
    for (const { ref, id, record } of this.states) {
      const found = listed.find((checkpoint) => checkpoint.id === id);
      if (found !== undefined && recordOf(found) === record) continue;
      const isKnown = !ok && (found === undefined || problems.some((problem) => concerns(problem, found.id)));
      assert.ok(isKnown, `${ref} is not as it was recorded, which verify does not say`);
    }
  }

  /** A failure is one that `verify` foretells, and leaves everything as it was or says that it did not. */
  #expectKnown(
    error: EngineError,
    { ref, id, tree }: KnownState,
    { before, report: { ok, problems } }: { before: TreeMap; report: VerifyReport },
  ): void {
    assert.ok(!ok, `verify finds nothing, yet ${ref} fails with ${error.message}`);
    assert.deepEqual(readTreeMap(this.root), isInPlace(error) ? tree : before);
    const isKnown = problems.some((problem) => concerns(problem, id));
    assert.ok(
      isKnown || error.code === "CHECKPOINT_NOT_FOUND",
      `${ref} is not listed: ${error.message} ${JSON.stringify(problems)}`,
    );
  }

  remove(): void {
    rmSync(this.#base, { recursive: true, force: true });
  }
}

function recordOf({
  id,
  thread,
  kind,
  createdAt,
  snapshot,
  parents,
  messageId,
  toolUseId,
}: Checkpoint): string {
  return JSON.stringify([id, thread, kind, createdAt, snapshot, parents, messageId, toolUseId]);
}

function concerns({ kind, checkpoints }: VerifyProblem, id: string): boolean {
  return kind === "database" || checkpoints.some((damaged) => damaged === id);
}

/** The store failed only when all files were in place, and it says so. */
function isInPlace({ message }: EngineError): boolean {
  return message.startsWith("Your files were changed as planned");
}

/** What an attempt throws must be an error of the engine that speaks of damage. */
export async function attempt<Result>(work: () => Promise<Result>): Promise<Result | EngineError> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof EngineError && DAMAGE.includes(error.code)) return error;
    throw error;
  }
}

export function flipBit(file: string, position: number, bit: number): void {
  const byte = read(file, position, 1);
  byte[0]! ^= 1 << bit;
  overwrite(file, position, byte);
}

export function swapBlocks(file: string, one: number, other: number, bytes: number): void {
  const [first, second] = [read(file, one, bytes), read(file, other, bytes)];
  overwrite(file, one, second);
  overwrite(file, other, first);
}

export function overwrite(file: string, position: number, bytes: Buffer): void {
  const descriptor = openSync(file, "r+");
  writeSync(descriptor, bytes, 0, bytes.length, position);
  closeSync(descriptor);
}

export function cutOff(file: string, length: number): void {
  const descriptor = openSync(file, "r+");
  ftruncateSync(descriptor, length);
  closeSync(descriptor);
}

function read(file: string, position: number, length: number): Buffer {
  const descriptor = openSync(file, "r");
  const bytes = Buffer.alloc(length);
  readSync(descriptor, bytes, 0, length, position);
  closeSync(descriptor);
  return bytes;
}
