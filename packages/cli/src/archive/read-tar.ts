/** Finds the files of a tar archive without reading their content. */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";

const BLOCK = 512;

/** A tar archive on disk; `content` reads one file of it. */
export class TarFile implements Disposable {
  readonly #file: number;
  /** The regular files by name. */
  readonly #places = new Map<string, { readonly at: number; readonly size: number }>();

  /** Throws when it is not a tar archive, or ends too early. */
  constructor(path: string) {
    this.#file = openSync(path, "r");
    try {
      this.#readHeaders();
    } catch (error) {
      closeSync(this.#file);
      throw error;
    }
  }

  get names(): ReadonlySet<string> {
    return new Set(this.#places.keys());
  }

  /** The content of a file; undefined when the archive has none of that name. */
  content(name: string): Buffer | undefined {
    const place = this.#places.get(name);
    return place === undefined ? undefined : this.#read(place.at, place.size);
  }

  #readHeaders(): void {
    const { size: end } = fstatSync(this.#file);
    for (let at = 0; ;) {
      if (at + BLOCK > end) throw new Error("it ends too early");
      const header = this.#read(at, BLOCK);
      // a block of zeros is the end
      if (header.every((byte) => byte === 0)) return;
      if (header.toString("latin1", 257, 262) !== "ustar") throw new Error("it is not a tar archive");
      const size = Number.parseInt(header.toString("latin1", 124, 135), 8);
      if (!Number.isSafeInteger(size) || at + BLOCK + size > end) throw new Error("it ends too early");
      const name = header.toString("latin1", 0, 100).replace(/\0.*$/s, "");
      if (header[156] === 0x30) this.#places.set(name, { at: at + BLOCK, size });
      at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
    }
  }

  #read(at: number, length: number): Buffer {
    const bytes = Buffer.alloc(length);
    for (let done = 0; done < length;) {
      const count = readSync(this.#file, bytes, done, length - done, at + done);
      if (count === 0) throw new Error("it ends too early");
      done += count;
    }
    return bytes;
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }
}
