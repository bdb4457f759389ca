/** Ends a run in which no test file finishes any more, and names the files that hold it up: a blocked process keeps no deadline of its own. */
import type { Reporter, TestModule } from "vitest/node";

const STALLED_MS = 8 * 60_000;

/** Watches the test files that are at work. */
export class StallReporter implements Reporter {
  readonly #atWork = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  onTestModuleStart(module: TestModule): void {
    this.#atWork.add(module.relativeModuleId);
    this.#wind();
  }

  onTestModuleEnd(module: TestModule): void {
    this.#atWork.delete(module.relativeModuleId);
    this.#wind();
  }

  onTestRunEnd(): void {
    clearTimeout(this.#timer);
  }

  #wind(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      console.error(
        `No test file has finished for ${STALLED_MS / 60_000} minutes. At work: ${[...this.#atWork].join(", ")}`,
      );
      process.exit(1);
    }, STALLED_MS);
  }
}
