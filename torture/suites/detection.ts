/**
 * Quick edits of the same length with the old time put back, right after a capture and in the middle of one:
 * the next capture has all of them.
 */
import assert from "node:assert/strict";
import { closeSync, futimesSync, mkdirSync, openSync, utimesSync, writeFileSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { Worker } from "node:worker_threads";
import type { SeededRandom } from "../../packages/engine/test/support/seeded-random.ts";
import { inWorkspace, type TempWorkspace } from "../../packages/engine/test/support/temp-workspace.ts";
import { readCheckpointMap } from "../../packages/engine/test/support/workspace-model.ts";
import type { Round, Suite } from "../suite.ts";

/** In the second tree native threads help. */
const FILES = [400, 1200];
const CAPTURES_A_ROUND = 40;
const LENGTH = 8;
/** A time that can be put back exactly. */
const TIME = 1_700_000_000;

export const detection: Suite = {
  name: "detection",
  unit: "racy edits",
  goal: 1_000_000,
  short: 20_000,
  async round(round) {
    await inWorkspace({}, async (temp) => {
      const files = round.random.pick(FILES);
      for (let file = 0; file < files; file += 1) create(join(temp.root, pathOf(file)));
      await using writer = new Disturber(temp.root);
      for (let capture = 0; capture < CAPTURES_A_ROUND && !round.isOver; capture += 1)
        await disturb(temp, { writer, files }, round);
    })();
  },
};

async function disturb(
  temp: TempWorkspace,
  { writer, files }: { writer: Disturber; files: number },
  { random, count }: Round,
): Promise<void> {
  const edits = random.pick([1, 20, files, files, files, files]);
  const first = random.below(files);
  for (let edit = 0; edit < edits; edit += 1)
    editUnseen(join(temp.root, pathOf((first + edit) % files)), random);
  // of edits in the middle of a capture only the last of each file is distinguishable; they are not counted
  if (random.below(3) === 0) await writer.during(() => temp.workspace.checkpoint());
  if (random.below(20) === 0) await temp.reopen();
  const { checkpoint } = await temp.workspace.checkpoint();
  assert.deepEqual(await readCheckpointMap(temp, checkpoint.id), temp.tree());
  count("each in the next capture", edits);
}

function pathOf(file: number): string {
  return `d${file % 8}/f${file}`;
}

function create(path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, "0".repeat(LENGTH));
  utimesSync(path, TIME, TIME);
}

function editUnseen(path: string, random: SeededRandom): void {
  const descriptor = openSync(path, "r+");
  writeSync(descriptor, String(random.below(10 ** LENGTH)).padStart(LENGTH, "0"), 0);
  futimesSync(descriptor, TIME, TIME);
  closeSync(descriptor);
}

/** A thread that edits the first files on request. */
class Disturber implements AsyncDisposable {
  readonly #state = new Int32Array(new SharedArrayBuffer(4));
  readonly #worker: Worker;

  constructor(root: string) {
    const paths = Array.from({ length: 40 }, (_, file) => join(root, pathOf(file)));
    this.#worker = new Worker(DISTURBER, {
      eval: true,
      workerData: { state: this.#state, paths, TIME, LENGTH },
    });
  }

  async during(work: () => Promise<unknown>): Promise<void> {
    this.#tell(RUN);
    await work();
    this.#tell(HALT);
    while (Atomics.load(this.#state, STATE) === HALT) Atomics.wait(this.#state, STATE, HALT, 100);
  }

  #tell(state: number): void {
    Atomics.store(this.#state, STATE, state);
    Atomics.notify(this.#state, STATE);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate();
  }
}

const STATE = 0;
const [IDLE, RUN, HALT] = [0, 1, 2];

const DISTURBER = `
  const fs = require("node:fs");
  const { state, paths, TIME, LENGTH } = require("node:worker_threads").workerData;
  for (let n = 0; ; n += 1) {
    if (Atomics.compareExchange(state, ${STATE}, ${HALT}, ${IDLE}) === ${HALT}) Atomics.notify(state, ${STATE});
    Atomics.wait(state, ${STATE}, ${IDLE});
    if (Atomics.load(state, ${STATE}) !== ${RUN}) continue;
    const descriptor = fs.openSync(paths[n % paths.length], "r+");
    fs.writeSync(descriptor, String(n).padStart(LENGTH, "0"), 0);
    fs.futimesSync(descriptor, TIME, TIME);
    fs.closeSync(descriptor);
  }`;
