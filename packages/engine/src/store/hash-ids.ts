/**
 * A number for each name, given in the order in which names are first seen. A search meets the names in its trees a
 * hundred thousand times: a table of strings would take longer than all the rest.
 */

/** The half of a name tells it from every other. */
const WORDS = 4;
const FIRST_ROOM = 1024;

/** The names seen so far. */
export class HashIds {
  #words = new Int32Array(FIRST_ROOM * WORDS);
  /** Ids plus one, at the place that a name's first word says or after it; zero where there is none. */
  #table = new Int32Array(FIRST_ROOM * 4);
  count = 0;

  /** The id of the name that lies in these bytes; a new one gets the next. */
  idAt(bytes: DataView, at: number): number {
    const first = bytes.getInt32(at, true);
    const mask = this.#table.length - 1;
    for (let slot = first & mask; ; slot = (slot + 1) & mask) {
      const id = this.#table[slot]! - 1;
      if (id < 0) return this.#add(bytes, at);
      if (this.#isSame(id, bytes, at)) return id;
    }
  }

  #isSame(id: number, bytes: DataView, at: number): boolean {
    const words = this.#words;
    const from = id * WORDS;
    return (
      words[from] === bytes.getInt32(at, true) &&
      words[from + 1] === bytes.getInt32(at + 4, true) &&
      words[from + 2] === bytes.getInt32(at + 8, true) &&
      words[from + 3] === bytes.getInt32(at + 12, true)
    );
  }

  #add(bytes: DataView, at: number): number {
    const id = this.count;
    this.count += 1;
    if (this.count * WORDS > this.#words.length) this.#words = grown(this.#words);
    for (let word = 0; word < WORDS; word += 1)
      this.#words[id * WORDS + word] = bytes.getInt32(at + word * 4, true);
    if (this.count * 2 > this.#table.length) this.#makeTable(this.#table.length * 4);
    else this.#enter(id);
    return id;
  }

  #makeTable(length: number): void {
    this.#table = new Int32Array(length);
    for (let id = 0; id < this.count; id += 1) this.#enter(id);
  }

  #enter(id: number): void {
    const mask = this.#table.length - 1;
    let slot = this.#words[id * WORDS]! & mask;
    while (this.#table[slot] !== 0) slot = (slot + 1) & mask;
    this.#table[slot] = id + 1;
  }
}

/** A copy of a table of numbers with twice the room. */
export function grown(numbers: Int32Array): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(numbers.length * 2);
  larger.set(numbers);
  return larger;
}
