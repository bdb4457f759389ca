/**
 * Long work that another process does, so that this one goes on serving: it is a command like any that a person
 * types, and several processes may use one store. The same work asked for twice is done once; work with an input of its
 * own is never the same.
 */
import { ContractError, isErrorName } from "@belay/protocol/errors";

/** How far a piece of work has come. */
export interface WorkProgress {
  readonly done: number;
  readonly total: number;
}

/** Runs a command line on a directory, in another process, and gives its JSON, also where that is an error. */
export type RunCommand = (
  directory: string,
  words: readonly string[],
  how: {
    readonly progress: (progress: WorkProgress) => void;
    /** Ends the process when it is aborted. */
    readonly signal: AbortSignal;
    /** What the command reads from its standard input. */
    readonly input?: Uint8Array | undefined;
  },
) => Promise<object>;

interface Running {
  readonly since: number;
  readonly answer: Promise<object>;
  readonly ending: AbortController;
  progress: WorkProgress | undefined;
}

/** The long pieces of work that are under way. */
export class BackgroundWork {
  readonly #command: RunCommand;
  readonly #clock: () => number;
  readonly #running = new Map<string, Running>();
  #inputs = 0;

  constructor(command: RunCommand, clock: () => number) {
    this.#command = command;
    this.#clock = clock;
  }

  /** Runs a command on a directory, or waits for the same one under way. Its error is thrown. */
  run(directory: string, words: readonly string[], input?: Uint8Array): Promise<object> {
    const key = keyOf(directory, input === undefined ? words : [...words, `input ${++this.#inputs}`]);
    const under = this.#running.get(key);
    if (under !== undefined) return under.answer;
    const progress = (at: WorkProgress) => {
      running.progress = at;
    };
    const ending = new AbortController();
    const answer = this.#command(directory, words, { progress, input, signal: ending.signal })
      .then(resultOf)
      .finally(() => this.#running.delete(key));
    const running: Running = { since: this.#clock(), answer, ending, progress: undefined };
    this.#running.set(key, running);
    return answer;
  }

  /** Ends the process of a command on a directory; its answer is an error then. */
  stop(directory: string, words: readonly string[]): void {
    this.#running.get(keyOf(directory, words))?.ending.abort();
  }

  /** How far the command with this first word has come on a directory; undefined when none is under way. */
  underWay(
    directory: string,
    verb: string,
  ): (Partial<WorkProgress> & { readonly since: number }) | undefined {
    for (const [key, { since, progress }] of this.#running)
      if (key.startsWith(keyOf(directory, [verb]))) return { since, ...progress };
    return undefined;
  }
}

function keyOf(directory: string, words: readonly string[]): string {
  return [directory, ...words].map((word) => `${word}\0`).join("");
}

function resultOf(answer: object): object {
  const { error } = answer as { error?: { code: string; message: string; hint: string } };
  if (error === undefined) return answer;
  const { code, message, hint, ...facts } = error;
  throw new ContractError(isErrorName(code) ? code : "INTERNAL", message, { hint, facts });
}
