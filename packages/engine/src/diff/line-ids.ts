/**
 * Lines as small integers. Comparing two lines then takes one instruction, whatever their length, and lines
 * that one side lacks can be dropped before the costly search for common lines.
 */

/** Two sequences of lines; equal lines have equal numbers, all below `idCount`. */
export interface LineIds {
  readonly aIds: Int32Array;
  readonly bIds: Int32Array;
  readonly idCount: number;
}

/** The lines of one side that the other side has too, their positions, and a mark for each changed line. */
export interface SharedLines {
  readonly ids: Int32Array;
  readonly indexes: Int32Array;
  readonly changed: Uint8Array;
}

/** Gives equal lines of both sides the same number. */
export function internLines(a: readonly string[], b: readonly string[]): LineIds {
  const numbers = new Map<string, number>();
  const intern = (lines: readonly string[]): Int32Array => {
    const ids = new Int32Array(lines.length);
    for (let i = 0; i < lines.length; i++) {
      const line = lines[i]!;
      let id = numbers.get(line);
      if (id === undefined) numbers.set(line, (id = numbers.size));
      ids[i] = id;
    }
    return ids;
  };
  return { aIds: intern(a), bIds: intern(b), idCount: numbers.size };
}

/** Drops, and marks as changed, lines that the other side does not have: they cannot be common. */
export function dropAbsent({ aIds, bIds, idCount }: LineIds): [SharedLines, SharedLines] {
  const keepShared = (ids: Int32Array, others: Int32Array): SharedLines => {
    const present = new Uint8Array(idCount);
    for (let i = 0; i < others.length; i++) present[others[i]!] = 1;
    const shared = new Int32Array(ids.length);
    const indexes = new Int32Array(ids.length);
    const changed = new Uint8Array(ids.length);
    let kept = 0;
    for (let i = 0; i < ids.length; i++) {
      const id = ids[i]!;
      if (present[id] === 0) {
        changed[i] = 1;
        continue;
      }
      shared[kept] = id;
      indexes[kept++] = i;
    }
    return { ids: shared.subarray(0, kept), indexes: indexes.subarray(0, kept), changed };
  };
  return [keepShared(aIds, bIds), keepShared(bIds, aIds)];
}

/** Marks the numbers that occur more than once on a side. */
export function findRepeated({ aIds, bIds, idCount }: LineIds): Uint8Array {
  const isRepeated = new Uint8Array(idCount);
  for (const ids of [aIds, bIds]) {
    const seen = new Uint8Array(idCount);
    for (const id of ids) {
      if (seen[id] === 1) isRepeated[id] = 1;
      seen[id] = 1;
    }
  }
  return isRepeated;
}
