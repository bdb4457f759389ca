/**
 * A directory that was entered without following a link. Names in it are reached through its descriptor: if it, or a
 * directory above it, is swapped for a link meanwhile, they are still those of the directory that was entered. Elsewhere
 * than on Linux names are reached by path, which is weaker (docs/limitations.md).
 */
import { chmodSync, closeSync, fchmodSync, fstatSync, openSync } from "node:fs";
import { below, forSystem, type AbsolutePath } from "./absolute-path.ts";
import { DIRECTORY_FLAGS, hasDescriptorPaths, O_PATH } from "./anchor.ts";
import { isErrno } from "./file-stat.ts";

const OWN_BITS = 0o700;

/** A real directory; throws ENOTDIR or ELOOP where something else stands. */
export class EnteredDirectory implements Disposable {
  /** How system calls reach it. */
  readonly path: AbsolutePath;
  readonly #descriptor: number;

  constructor(path: AbsolutePath) {
    this.#descriptor = openDirectory(path);
    this.path = hasDescriptorPaths ? (`/proc/self/fd/${this.#descriptor}` as AbsolutePath) : path;
  }

  /** How system calls reach a name in it. */
  at(name: string): AbsolutePath {
    return below(this.path, name);
  }

  /** Who may do what with it. */
  get mode(): number {
    return fstatSync(this.#descriptor).mode & 0o7777;
  }

  /** Lets this user change what is in it; throws where that is not allowed. */
  openUp(): void {
    const { mode } = this;
    if ((mode & OWN_BITS) !== OWN_BITS) this.setMode(mode | OWN_BITS);
  }

  setMode(mode: number): void {
    fchmodSync(this.#descriptor, mode);
  }

  [Symbol.dispose](): void {
    closeSync(this.#descriptor);
  }
}

function openDirectory(path: AbsolutePath): number {
  try {
    return openSync(forSystem(path), DIRECTORY_FLAGS);
  } catch (error) {
    if (!isErrno(error, "EACCES") || !hasDescriptorPaths) throw error;
    openUpUnread(path);
    return openSync(forSystem(path), DIRECTORY_FLAGS);
  }
}

/** A directory of our own that may not be read. */
function openUpUnread(path: AbsolutePath): void {
  const descriptor = openSync(forSystem(path), DIRECTORY_FLAGS | O_PATH);
  try {
    chmodSync(`/proc/self/fd/${descriptor}`, OWN_BITS);
  } finally {
    closeSync(descriptor);
  }
}
