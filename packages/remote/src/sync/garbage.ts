/** Buffers that are used once: without this, hundreds of megabytes of them wait for a collection that V8 puts off. */
import type { Surroundings } from "./surroundings.ts";

/** After so much of it is collected: often enough to stay small, too seldom to be felt. */
const LIMIT_BYTES = 8 * 1024 * 1024;

/** Counts what an exchange throws away. */
export class Garbage {
  readonly #around: Pick<Surroundings, "collectGarbage">;
  #bytes = 0;

  constructor(around: Pick<Surroundings, "collectGarbage">) {
    this.#around = around;
  }

  /** Adds what is no longer used. */
  add(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes < LIMIT_BYTES) return;
    this.#bytes = 0;
    this.#around.collectGarbage?.();
  }
}
