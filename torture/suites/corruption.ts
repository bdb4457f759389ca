/**
 * Flipped bits, cut ends, exchanged pages: no wrong byte reaches the working copy, and what is undamaged
 * restores.
 */
import { readFileSync, statSync } from "node:fs";
import {
  cutOff,
  DamagedStore,
  flipBit,
  overwrite,
  swapBlocks,
} from "../../packages/engine/test/support/damaged-store.ts";
import type { SeededRandom } from "../../packages/engine/test/support/seeded-random.ts";
import type { Suite } from "../suite.ts";

const PAGE_BYTES = 4096;
const SECTOR_BYTES = 512;
const RECORD_BYTES = 300;
const TRIES_A_ROUND = 500;

type Kind = {
  readonly name: string;
  readonly weight: number;
  harm(store: DamagedStore, random: SeededRandom): string;
};

const KINDS: readonly Kind[] = [
  { name: "flipped bits", weight: 74, harm: (store, random) => flip(store.file, random) },
  { name: "bits of records", weight: 4, harm: flipRecord },
  { name: "bits of the cache", weight: 5, harm: (store, random) => flip(store.cache, random) },
  { name: "cut off", weight: 8, harm: cut },
  { name: "pages exchanged", weight: 5, harm: exchange },
  { name: "sectors overwritten", weight: 4, harm: blot },
];

export const corruption: Suite = {
  name: "corruption",
  unit: "damaged stores",
  goal: 13_000,
  short: 120,
  async round(round) {
    const store = new DamagedStore(round.random);
    try {
      await store.build();
      for (let number = 0; number < TRIES_A_ROUND && !round.isOver; number += 1) {
        const kind = choose(round.random);
        let harm = "";
        store.damage(() => (harm = kind.harm(store, round.random)));
        try {
          await store.expectNoWrongByte();
        } catch (error) {
          throw new Error(`try ${number}: ${kind.name}: ${harm}`, { cause: error });
        }
        round.count(kind.name);
      }
    } finally {
      store.remove();
    }
  },
};

function choose(random: SeededRandom): Kind {
  let left = random.below(KINDS.reduce((sum, { weight }) => sum + weight, 0));
  return KINDS.find(({ weight }) => (left -= weight) < 0)!;
}

function flip(file: string, random: SeededRandom): string {
  const [position, bit] = [random.below(statSync(file).size), random.below(8)];
  flipBit(file, position, bit);
  return `bit ${bit} of byte ${position} of ${file}`;
}

/** Damages the record of a checkpoint: a few bytes among many, which chance alone hardly ever hits. */
function flipRecord({ file, states }: DamagedStore, random: SeededRandom): string {
  const bytes = readFileSync(file);
  const { ref, id } = random.pick(states);
  const places: number[] = [];
  for (let at = bytes.indexOf(id); at !== -1; at = bytes.indexOf(id, at + 1)) places.push(at);
  const [position, bit] = [random.pick(places) + random.below(RECORD_BYTES), random.below(8)];
  flipBit(file, Math.min(position, bytes.length - 1), bit);
  return `bit ${bit} of byte ${position}, a record of ${ref}`;
}

function cut({ file, size }: DamagedStore, random: SeededRandom): string {
  const length = random.pick([
    0,
    1,
    SECTOR_BYTES,
    random.below(size),
    random.below(size),
    random.below(size),
  ]);
  cutOff(file, length);
  return `at ${length} of ${size}`;
}

function exchange({ file, size }: DamagedStore, random: SeededRandom): string {
  const pages = Math.floor(size / PAGE_BYTES);
  const [one, other] = [random.below(pages), random.below(pages)];
  swapBlocks(file, one * PAGE_BYTES, other * PAGE_BYTES, PAGE_BYTES);
  return `${one} and ${other} of ${pages}`;
}

function blot(store: DamagedStore, random: SeededRandom): string {
  const sector = random.below(Math.floor(store.size / SECTOR_BYTES));
  const bytes = random.below(2) === 0 ? Buffer.alloc(SECTOR_BYTES) : store.noise(SECTOR_BYTES);
  overwrite(store.file, sector * SECTOR_BYTES, bytes);
  return `sector ${sector}`;
}
