/**
 * The store and the disk as one source: content that a look named without storing it. A file is read again when its
 * content is needed; one that changed since is refused.
 */
import { below, type AbsolutePath } from "../fs/absolute-path.ts";
import type { BytePath } from "../model/byte-path.ts";
import { EngineError } from "../model/errors.ts";
import { createContentHash, type ObjectHash } from "../model/object-hash.ts";
import type { ContentSink } from "../store/content-sink.ts";
import type { ObjectSource } from "../store/object-store.ts";
import { readFileContent } from "./read-content.ts";

/** Keeps trees, link targets and rules in memory; file content stays on disk. */
export class Overlay implements ObjectSource, ContentSink {
  readonly #store: ObjectSource;
  readonly #root: AbsolutePath;
  readonly #kept = new Map<ObjectHash, Buffer>();
  readonly #files = new Map<ObjectHash, BytePath>();
  constructor(store: ObjectSource, root: AbsolutePath) {
    this.#store = store;
    this.#root = root;
  }

  /** Notes where on disk the content with this name is. */
  noteFile(name: ObjectHash, path: BytePath): void {
    this.#files.set(name, path);
  }

  small(name: ObjectHash, bytes: Buffer): void {
    this.#kept.set(name, Buffer.from(bytes));
  }

  piece(name: ObjectHash, bytes: Buffer): void {
    this.small(name, bytes);
  }

  large(name: ObjectHash, pieces: readonly ObjectHash[]): void {
    this.#kept.set(name, Buffer.concat(pieces.map((piece) => this.#kept.get(piece)!)));
  }

  withheld(): ReadonlySet<ObjectHash> {
    return this.#store.withheld?.() ?? new Set();
  }

  has(name: ObjectHash): boolean {
    return this.#kept.has(name) || this.#files.has(name) || this.#store.has(name);
  }

  read(name: ObjectHash): Buffer {
    return (
      this.#kept.get(name) ??
      (this.#isOnDisk(name) ? Buffer.concat([...this.pieces(name)]) : this.#store.read(name))
    );
  }

  *pieces(name: ObjectHash): Generator<Buffer> {
    const kept = this.#kept.get(name);
    if (kept !== undefined) yield kept;
    else if (this.#isOnDisk(name)) yield* this.#readFile(name);
    else yield* this.#store.pieces(name);
  }

  #isOnDisk(name: ObjectHash): boolean {
    return this.#files.has(name) && !this.#store.has(name);
  }

  #readFile(name: ObjectHash): Buffer[] {
    const path = this.#files.get(name)!;
    const pieces: Buffer[] = [];
    const collect = (_: ObjectHash, bytes: Buffer) => void pieces.push(Buffer.from(bytes));
    readFileContent(below(this.#root, path), { small: collect, piece: collect, large() {} });
    const whole = createContentHash();
    for (const piece of pieces) whole.update(piece);
    if (whole.digest() === name) return pieces;
    throw new EngineError(
      "PLAN_STALE",
      "A file changed while it was being read. Nothing was changed; try again.",
      { plan: "" },
    );
  }
}
