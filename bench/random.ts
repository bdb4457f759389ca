/** Random numbers from a seed (xoshiro128**): poor generators make text that compresses too well and flatters every figure. */
export interface Random {
  /** 0 ≤ x < 1 */
  next(): number;
  below(limit: number): number;
  pick<Item>(items: readonly Item[]): Item;
}

export function createRandom(seed: number): Random {
  const state = new Uint32Array(4);
  let fill = seed >>> 0;
  for (let i = 0; i < 4; i += 1) {
    fill = (fill + 0x9e3779b9) >>> 0;
    let mixed = Math.imul(fill ^ (fill >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    state[i] = mixed ^ (mixed >>> 15);
  }
  const next = () => {
    const [a, b, c, d] = state as unknown as [number, number, number, number];
    const result = Math.imul(rotate(Math.imul(b, 5), 7), 9) >>> 0;
    state[2] = c ^ a;
    state[3] = d ^ b;
    state[1] = b ^ state[2];
    state[0] = a ^ state[3];
    state[2] = state[2] ^ (b << 9);
    state[3] = rotate(state[3], 11);
    return result / 2 ** 32;
  };
  return {
    next,
    below: (limit) => Math.floor(next() * limit),
    pick: (items) => items[Math.floor(next() * items.length)]!,
  };
}

function rotate(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits));
}
