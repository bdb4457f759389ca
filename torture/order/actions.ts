/** What can happen around a workspace, in random order: what agents, a person and Belay's own commands do. */
import type { SeededRandom } from "../../packages/engine/test/support/seeded-random.ts";
import { SLOT_FILE } from "./slot-file.ts";

const PATHS = ["a.txt", "b.txt", "src/c.txt", "src/d.txt", "docs/new/e.txt", SLOT_FILE] as const;
/** Two of one kind: two windows of the same agent. */
export const PLAYERS = ["claude-code", "codex", "gemini-cli", "claude-code"] as const;

/** A path is written (number: which line of the long file), or removed. */
export interface Write {
  readonly path: string;
  readonly slot: number;
  readonly isRemoval: boolean;
}

type PlayerAction =
  | { readonly kind: "prompt" | "stop" | "escape" | "die" | "end" | "close" }
  | { readonly kind: "open"; readonly path: string | undefined; readonly isBackground: boolean }
  | { readonly kind: "work"; readonly writes: readonly Write[] }
  | { readonly kind: "tool"; readonly isNamed: boolean; readonly writes: readonly Write[] };

/** `player` is an index into PLAYERS. */
export type Action =
  | (PlayerAction & { readonly player: number })
  | { readonly kind: "hand" | "run"; readonly writes: readonly Write[] }
  | { readonly kind: "checkpoint" }
  | { readonly kind: "restore"; readonly choice: number; readonly paths: readonly string[] | undefined }
  | { readonly kind: "redo"; readonly count: number; readonly player: number | undefined }
  | {
      readonly kind: "undo";
      readonly count: number;
      readonly player: number | undefined;
      readonly includeShared: boolean;
      /** Only what was done to this path. */
      readonly path: string | undefined;
    };

type Maker = (random: SeededRandom) => Action;

/** Who of a sequence's two acts. */
const player = (random: SeededRandom) => random.below(2);
const oneIn = (random: SeededRandom, number: number) => random.below(number) === 0;

function writes(random: SeededRandom): Write[] {
  return Array.from({ length: 1 + random.below(2) }, () => ({
    path: random.pick(PATHS),
    slot: random.below(3),
    isRemoval: oneIn(random, 5),
  }));
}

const MAKERS: readonly (readonly [weight: number, Maker])[] = [
  [3, (random) => ({ kind: "prompt", player: player(random) })],
  [
    8,
    (random) => ({ kind: "tool", player: player(random), isNamed: oneIn(random, 2), writes: writes(random) }),
  ],
  [
    4,
    (random) => ({
      kind: "open",
      player: player(random),
      path: oneIn(random, 2) ? random.pick(PATHS) : undefined,
      isBackground: oneIn(random, 3),
    }),
  ],
  [6, (random) => ({ kind: "work", player: player(random), writes: writes(random) })],
  [3, (random) => ({ kind: "close", player: player(random) })],
  [3, (random) => ({ kind: "stop", player: player(random) })],
  [2, (random) => ({ kind: "escape", player: player(random) })],
  [1, (random) => ({ kind: "die", player: player(random) })],
  [1, (random) => ({ kind: "end", player: player(random) })],
  [4, (random) => ({ kind: "hand", writes: writes(random) })],
  [1, (random) => ({ kind: "run", writes: writes(random) })],
  [2, () => ({ kind: "checkpoint" })],
  [
    2,
    (random) => ({
      kind: "restore",
      choice: random.below(100),
      paths: oneIn(random, 4) ? [random.pick(PATHS)] : undefined,
    }),
  ],
  [
    5,
    (random) => ({
      kind: "undo",
      count: oneIn(random, 4) ? 2 : 1,
      player: oneIn(random, 5) ? player(random) : undefined,
      includeShared: oneIn(random, 6),
      path: oneIn(random, 3) ? random.pick(PATHS) : undefined,
    }),
  ],
  [
    3,
    (random) => ({
      kind: "redo",
      count: oneIn(random, 5) ? 2 : 1,
      player: oneIn(random, 6) ? player(random) : undefined,
    }),
  ],
];
const TOTAL = MAKERS.reduce((sum, [weight]) => sum + weight, 0);

/** One sequence, of two agents that may be of the same kind. */
export function randomActions(random: SeededRandom): Action[] {
  const length = 8 + random.below(18);
  const first = random.below(PLAYERS.length);
  const directed = oneIn(random, 2) ? random.pick(DIRECTED)(random) : [];
  // a directed beginning is played by two
  const other = directed.length > 0 ? first + 1 + random.below(3) : random.below(PLAYERS.length);
  const cast = [first, other % PLAYERS.length];
  const actions = [...directed, ...Array.from({ length }, () => randomAction(random)), undo(1)];
  return actions.map((action) =>
    "player" in action && action.player !== undefined ? { ...action, player: cast[action.player]! } : action,
  );
}

/** Beginnings that chance seldom brings about. */
const DIRECTED = [
  /**
   * Two turns that change one file in turn: they are taken out together, by another process than the one that saw them,
   * and so is what the first agent does then.
   */
  (random: SeededRandom): Action[] => {
    const path = random.pick(PATHS);
    const turns = [toolAt(random, 0, path), toolAt(random, 1, path), toolAt(random, 0, path)];
    return [...turns, { kind: "stop", player: 0 }, undo(2), toolAt(random, 0, random.pick(PATHS)), undo(1)];
  },
  /** A client is killed at its work, and another agent goes on: what that one does is its own. */
  (random: SeededRandom): Action[] => [
    { kind: "work", player: 0, writes: writes(random) },
    { kind: "die", player: 0 },
    { kind: "checkpoint" },
    toolAt(random, 1, random.pick(PATHS)),
    { kind: "stop", player: 1 },
    undo(1),
  ],
];

function toolAt(random: SeededRandom, who: number, path: string): Action {
  const write = { path, slot: random.below(3), isRemoval: false };
  return { kind: "tool", player: who, isNamed: oneIn(random, 2), writes: [write] };
}

function undo(count: number): Action {
  return { kind: "undo", count, player: undefined, includeShared: false, path: undefined };
}

function randomAction(random: SeededRandom): Action {
  let at = random.below(TOTAL);
  for (const [weight, make] of MAKERS) {
    at -= weight;
    if (at < 0) return make(random);
  }
  throw new Error("unreachable");
}

/** One line for people. */
export function describeAction(action: Action): string {
  return JSON.stringify(action);
}
