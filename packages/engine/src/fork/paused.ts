/** Steps between two pauses, so that a process that serves others keeps answering. */
const STEPS_AT_ONCE = 64;

/** Runs work step by step, with pauses. */
export async function paused<Result>(work: Generator<void, Result>): Promise<Result> {
  for (let step = 1; ; step += 1) {
    const next = work.next();
    if (next.done === true) return next.value;
    if (step % STEPS_AT_ONCE === 0) await new Promise<void>((resolve) => setImmediate(resolve));
  }
}
