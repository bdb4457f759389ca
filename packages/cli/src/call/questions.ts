/** Questions on the terminal, one after another. What is typed before a question stands is not an answer to it. */
import { createInterface, type Interface } from "node:readline/promises";

/** Asks until it is disposed of. */
export class Questions implements Disposable {
  readonly #terminal: Interface;
  readonly #ended = new AbortController();

  constructor() {
    this.#terminal = createInterface({ input: process.stdin, output: process.stdout });
    // Ctrl-C and Ctrl-D end all questions
    this.#terminal.on("SIGINT", () => this.#ended.abort());
    this.#terminal.on("close", () => this.#ended.abort());
  }

  /** The answer without spaces around it; undefined where the person left. */
  async ask(question: string): Promise<string | undefined> {
    try {
      const answer = await this.#terminal.question(question, { signal: this.#ended.signal });
      return answer.trim();
    } catch {
      process.stdout.write("\n");
      return undefined;
    }
  }

  /** Leaves the terminal to other work, such as a pager, until it is done. */
  async aside(work: () => Promise<void>): Promise<void> {
    this.#terminal.pause();
    try {
      await work();
    } finally {
      this.#terminal.resume();
    }
  }

  [Symbol.dispose](): void {
    this.#terminal.close();
  }
}
