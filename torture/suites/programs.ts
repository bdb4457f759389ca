/** Runs random programs of commands, several at a time; a failing one is shortened. */
import { SETTLE_MS } from "../../packages/engine/src/capture/read-pending.ts";
import { isPlanted, type Round } from "../suite.ts";

/** This many programs run at a time, each in its own workspace: while one waits the others continue. */
const LANES = 5;

/** Runs programs until there is none left, the round is over, or one throws. */
export async function runPrograms<Command>(
  round: Round,
  programs: Command[][],
  run: (program: readonly Command[]) => Promise<void>,
): Promise<void> {
  using _ = settleAtOnce();
  const failed: Failed<Command>[] = [];
  const attempt = (program: readonly Command[]) =>
    run(program).then(
      () => undefined,
      (error: unknown) => error,
    );
  const runLane = async () => {
    while (!round.isOver && failed.length === 0) {
      const program = programs.shift();
      if (program === undefined) return;
      const error = await attempt(program);
      if (error !== undefined) failed.push({ program, error });
      else round.count("programs");
    }
  };
  await Promise.all(Array.from({ length: LANES }, runLane));
  // for a planted bug it is enough that it was noticed
  if (failed.length > 0) throw isPlanted ? failed[0]!.error : await explain(failed[0]!, attempt);
}

interface Failed<Command> {
  readonly program: readonly Command[];
  readonly error: unknown;
}

/** Removes what the failure does not need: halves, quarters … single commands. */
async function explain<Command>(
  { program, error }: Failed<Command>,
  attempt: (program: readonly Command[]) => Promise<unknown>,
): Promise<Error> {
  let [shortest, cause] = [program, error];
  for (let size = Math.ceil(program.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < shortest.length;) {
      const fewer = shortest.toSpliced(at, size);
      const failure = await attempt(fewer);
      if (failure === undefined) at += size;
      else [shortest, cause] = [fewer, failure];
    }
  }
  await attempt(shortest);
  return new Error(`This program fails:${shortest.map(String).join("")}`, { cause });
}

/**
 * A capture waits a moment before it reads a fresh file a second time, for a writer to be done. Here no program writes
 * during a capture: the second reading is made all the same, but at once. Without this the wait is most of the time.
 */
function settleAtOnce(): Disposable {
  const { wait } = Atomics;
  Atomics.wait = (cells: Int32Array | BigInt64Array, index: number, value: never, timeoutMs?: number) =>
    timeoutMs === SETTLE_MS ? "timed-out" : wait(cells as Int32Array, index, value, timeoutMs);
  return { [Symbol.dispose]: () => void (Atomics.wait = wait) };
}
