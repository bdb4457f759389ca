/** Steps between two pauses, so that a process that serves others keeps answering. */
const STEPS_AT_ONCE = 64;

/** Runs work step by step, with pauses; what a step yields is waited for. */
export async function paused<Result>(work: Generator<Promise<void> | void, Result>): Promise<Result> {
  for (let step = 1; ; step += 1) {
    const next = work.next();
    if (next.done === true) return next.value;
    if (next.value !== undefined) await next.value;
    else if (step % STEPS_AT_ONCE === 0) await new Promise<void>((resolve) => setImmediate(resolve));
  }
}
