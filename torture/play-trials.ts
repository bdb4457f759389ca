/** Suites of prepared trials, one after another, with a look at everything after some of them. */
import type { Round } from "./suite.ts";

/** The whole space is read, and cloned, after so many trials. */
const BETWEEN_LOOKS = 50;

/** Trials of several kinds of work, in one scene. */
export interface Trials<Work, Trial extends { readonly work: string }> {
  trialsOf(work: Work): Promise<Trial[]>;
  /** Runs one and returns how it ended. */
  run(trial: Trial): Promise<string>;
  /** Looks at everything that the trials left. */
  finish(): Promise<void>;
}

/** Plays trials in random order until the round is over; `next` chooses the kind of work among those with trials left. */
export async function playTrials<Work, Trial extends { readonly work: string }>(
  { round, trials, works }: { round: Round; trials: Trials<Work, Trial>; works: readonly Work[] },
  next: (n: number, kinds: number) => number,
): Promise<void> {
  const waiting: Trial[][] = [];
  for (const work of works) waiting.push(await trials.trialsOf(work));
  for (let n = 1; !round.isOver && waiting.length > 0; n += 1) {
    const which = next(n, waiting.length);
    const [trial] = waiting[which]!.splice(round.random.below(waiting[which]!.length), 1);
    if (waiting[which]!.length === 0) waiting.splice(which, 1);
    try {
      round.count(`${trial!.work} ${await trials.run(trial!)}`);
    } catch (cause) {
      throw new Error(`after ${JSON.stringify(trial)}`, { cause });
    }
    if (n % BETWEEN_LOOKS === 0) await trials.finish();
  }
  await trials.finish();
}
