/**
 * What the watcher named and no capture has recorded yet: names by directory, and whether they were replaced.
 */
import { ancestorPaths, baseName, joinPath, parentPath, type BytePath } from "../../model/byte-path.ts";

/** More than this is no longer cheaper than a scan, and would only fill memory. */
const MOST_NAMES = 20_000;

/** A set of names by directory, each with whether another node may stand there now. */
export class LiveChanges {
  readonly #names = new Map<BytePath, Map<string, boolean>>();
  #count = 0;
  /** Most writers replace nothing: then no path has to be looked at from above. */
  #isAnyReplaced = false;

  /** False when there are too many to keep. */
  add(directory: BytePath, name: string, replaced: boolean): boolean {
    let names = this.#names.get(directory);
    if (names === undefined) this.#names.set(directory, (names = new Map()));
    const known = names.get(name);
    if (known === undefined) this.#count += 1;
    if (known !== true) names.set(name, replaced);
    this.#isAnyReplaced ||= replaced;
    return this.#count <= MOST_NAMES;
  }

  addPath(path: BytePath, replaced: boolean): void {
    this.add(parentPath(path), baseName(path), replaced);
  }

  has(path: BytePath): boolean {
    return this.#isReplacedAbove(path) || this.#replaced(path) !== undefined;
  }

  /** True when a path may hold another thing than before. */
  isReplaced(path: BytePath): boolean {
    return this.#isAnyReplaced && (this.#replaced(path) === true || this.#isReplacedAbove(path));
  }

  get size(): number {
    return this.#count;
  }

  clear(): void {
    this.#names.clear();
    this.#count = 0;
    this.#isAnyReplaced = false;
  }

  /**
   * Directories with the names to examine, parents first; names inside a replaced directory are not repeated.
   */
  *directories(): Generator<[BytePath, ReadonlyMap<string, boolean>]> {
    for (const directory of [...this.#names.keys()].sort()) {
      if (!this.#isReplacedAbove(joinPath(directory, "x"))) yield [directory, this.#names.get(directory)!];
    }
  }

  *paths(): Generator<BytePath> {
    for (const [directory, names] of this.#names) {
      for (const name of names.keys()) yield joinPath(directory, name);
    }
  }

  #isReplacedAbove(path: BytePath): boolean {
    return this.#isAnyReplaced && ancestorPaths(path).some((above) => this.#replaced(above) === true);
  }

  #replaced(path: BytePath): boolean | undefined {
    return this.#names.get(parentPath(path))?.get(baseName(path));
  }
}
