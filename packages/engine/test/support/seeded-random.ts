/** Random numbers that can be had again: print the seed, pass it back. */
import assert from "node:assert/strict";

export interface SeededRandom {
  readonly seed: number;
  /** A whole number from 0 to `limit` - 1. */
  below(limit: number): number;
  pick<Item>(items: readonly Item[]): Item;
}

/** mulberry32, from BELAY_SEED if that is set. */
export function createSeededRandom(
  seed = Number(process.env["BELAY_SEED"] ?? Math.floor(Math.random() * 2 ** 31)),
): SeededRandom {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  const pick = <Item>(items: readonly Item[]): Item => {
    assert.ok(items.length > 0, "there is nothing to pick from");
    return items[below(items.length)]!;
  };
  return { seed, below, pick };
}
