/** Content that a plan made, on top of another source: the store has none of it before the plan is carried out. */
import { hashBytes, type ObjectHash } from "../model/object-hash.ts";
import type { ObjectSource } from "./object-store.ts";

/** Keeps made content in memory. */
export class MadeContent implements ObjectSource {
  readonly #below: ObjectSource;
  readonly #made = new Map<ObjectHash, Buffer>();

  constructor(below: ObjectSource) {
    this.#below = below;
  }

  /** Takes content and returns its name. */
  put(bytes: Buffer): ObjectHash {
    const name = hashBytes(bytes);
    this.#made.set(name, bytes);
    return name;
  }

  has(name: ObjectHash): boolean {
    return this.#made.has(name) || this.#below.has(name);
  }

  read(name: ObjectHash): Buffer {
    return this.#made.get(name) ?? this.#below.read(name);
  }

  withheld(): ReadonlySet<ObjectHash> {
    return this.#below.withheld?.() ?? new Set();
  }

  pieces(name: ObjectHash): Iterable<Buffer> {
    const made = this.#made.get(name);
    return made === undefined ? this.#below.pieces(name) : [made];
  }
}
