/**
 * Vectors in memory, and the nearest of them. Each is kept as bytes and as the signs of its numbers. A search first adds
 * up all signs with the query's own numbers, by table; then it compares the best eighth by their bytes. That is a
 * quarter of the work of comparing everything, and nearly as good.
 */

/** A vector as bytes: its largest number becomes 127. */
export function toBytes(vector: Float32Array): Int8Array {
  let largest = 0;
  for (const value of vector) largest = Math.max(largest, Math.abs(value));
  const bytes = new Int8Array(vector.length);
  if (largest > 0)
    for (let at = 0; at < vector.length; at += 1) bytes[at] = Math.round((vector[at]! / largest) * 127);
  return bytes;
}

/** A found row, and how near it is. */
export interface Neighbour {
  readonly id: number;
  readonly score: number;
}

const FEWEST_CANDIDATES = 1000;
/** An eighth: of a tenth the recall of hashed vectors is just 0.95. */
const CANDIDATES = 1 / 8;
const BINS = 4096;

/** Rows of vectors, each with an id and the document that it belongs to. */
export class VectorTable {
  readonly #dimensions: number;
  readonly #signBytes: number;
  #rows = 0;
  #ids = new Float64Array(0);
  #documents = new Float64Array(0);
  #bytes = new Int8Array(0);
  #norms = new Float32Array(0);
  #signs = new Uint8Array(0);
  /** The mean of each number, against which signs are taken: what all texts have in common says nothing. */
  #means: Float32Array;
  /** How many rows the means are of. */
  #meansOf = 0;

  constructor(dimensions: number) {
    this.#dimensions = dimensions;
    this.#signBytes = Math.ceil(dimensions / 8);
    this.#means = new Float32Array(dimensions);
  }

  get size(): number {
    return this.#rows;
  }

  /** Adds a row; a vector of another length is passed over. */
  add(id: number, document: number, vector: Int8Array): void {
    if (vector.length !== this.#dimensions) return;
    if (this.#rows === this.#ids.length) this.#grow();
    const row = this.#rows++;
    this.#ids[row] = id;
    this.#documents[row] = document;
    this.#bytes.set(vector, row * this.#dimensions);
    let square = 0;
    for (const value of vector) square += value * value;
    this.#norms[row] = square === 0 ? 0 : 1 / Math.sqrt(square);
    this.#sign(row);
  }

  /** The nearest rows of the wanted documents, best first. */
  nearest(query: Float32Array, most: number, isWanted: (document: number) => boolean): Neighbour[] {
    const rows = this.#wantedRows(isWanted);
    const enough = Math.max(FEWEST_CANDIDATES, Math.ceil(rows.length * CANDIDATES));
    const candidates = rows.length <= enough ? rows : this.#bySigns(query, rows, enough);
    return Array.from(candidates, (row) => ({ id: this.#ids[row]!, score: this.#product(query, row) }))
      .sort((a, b) => b.score - a.score || a.id - b.id)
      .slice(0, most);
  }

  #sign(row: number): void {
    const [start, signs, norm] = [row * this.#dimensions, row * this.#signBytes, this.#norms[row]!];
    this.#signs.fill(0, signs, signs + this.#signBytes);
    for (let at = 0; at < this.#dimensions; at += 1) {
      if (this.#bytes[start + at]! * norm > this.#means[at]!)
        this.#signs[signs + (at >> 3)]! |= 1 << (at & 7);
    }
  }

  /** Takes means and signs again when a quarter of the rows is new. */
  #refreshSigns(): void {
    if (this.#rows <= this.#meansOf * 1.25) return;
    const means = new Float64Array(this.#dimensions);
    for (let row = 0; row < this.#rows; row += 1) {
      const [start, norm] = [row * this.#dimensions, this.#norms[row]!];
      for (let at = 0; at < this.#dimensions; at += 1) means[at]! += this.#bytes[start + at]! * norm;
    }
    this.#means = Float32Array.from(means, (sum) => sum / this.#rows);
    this.#meansOf = this.#rows;
    for (let row = 0; row < this.#rows; row += 1) this.#sign(row);
  }

  #wantedRows(isWanted: (document: number) => boolean): Uint32Array {
    const rows = new Uint32Array(this.#rows);
    let found = 0;
    for (let row = 0; row < this.#rows; row += 1) if (isWanted(this.#documents[row]!)) rows[found++] = row;
    return rows.subarray(0, found);
  }

  #product(query: Float32Array, row: number): number {
    const start = row * this.#dimensions;
    let sum = 0;
    for (let at = 0; at < query.length; at += 1) sum += query[at]! * this.#bytes[start + at]!;
    return sum * this.#norms[row]!;
  }

  /** About as many rows as wanted, with the largest sums of the query's numbers over the rows' signs. */
  #bySigns(query: Float32Array, rows: Uint32Array, wanted: number): Uint32Array {
    this.#refreshSigns();
    const tables = signTables(query, this.#signBytes);
    const sums = new Float32Array(rows.length);
    const [signs, width] = [this.#signs, this.#signBytes];
    let [lowest, highest] = [Infinity, -Infinity];
    for (let at = 0; at < rows.length; at += 1) {
      const start = rows[at]! * width;
      let sum = 0;
      for (let byte = 0; byte < width; byte += 1) sum += tables[(byte << 8) | signs[start + byte]!]!;
      sums[at] = sum;
      if (sum < lowest) lowest = sum;
      if (sum > highest) highest = sum;
    }
    const bar = barFor(sums, { lowest, highest, wanted });
    return rows.filter((_, at) => sums[at]! >= bar);
  }

  #grow(): void {
    const room = Math.max(1024, this.#rows * 2);
    const grown = <Kind extends Float64Array | Float32Array | Int8Array | Uint8Array>(
      old: Kind,
      next: Kind,
    ) => {
      next.set(old);
      return next;
    };
    this.#ids = grown(this.#ids, new Float64Array(room));
    this.#documents = grown(this.#documents, new Float64Array(room));
    this.#bytes = grown(this.#bytes, new Int8Array(room * this.#dimensions));
    this.#norms = grown(this.#norms, new Float32Array(room));
    this.#signs = grown(this.#signs, new Uint8Array(room * this.#signBytes));
  }
}

/** For each byte of signs the sum it stands for, for all 256 values. */
function signTables(query: Float32Array, signBytes: number): Float32Array {
  const tables = new Float32Array(signBytes * 256);
  for (let byte = 0; byte < signBytes; byte += 1) {
    for (let value = 0; value < 256; value += 1) {
      let sum = 0;
      for (let bit = 0; bit < 8; bit += 1) {
        const number = query[byte * 8 + bit] ?? 0;
        sum += (value & (1 << bit)) === 0 ? -number : number;
      }
      tables[(byte << 8) | value] = sum;
    }
  }
  return tables;
}

/** The sum that about `wanted` rows reach, by counting them in bins. */
function barFor(
  sums: Float32Array,
  { lowest, highest, wanted }: { lowest: number; highest: number; wanted: number },
): number {
  const scale = highest > lowest ? (BINS - 1) / (highest - lowest) : 0;
  const bins = new Uint32Array(BINS);
  for (const sum of sums) bins[Math.floor((sum - lowest) * scale)]! += 1;
  let left = wanted;
  let bin = BINS - 1;
  for (; bin > 0 && left > bins[bin]!; bin -= 1) left -= bins[bin]!;
  return scale === 0 ? lowest : lowest + bin / scale;
}
