/**
 * A directory held by descriptor. Its content is reached through that descriptor, so replacing the
 * directory's name by a symbolic link or another directory redirects no call. Without /proc the name is
 * compared with the descriptor just before each call, which is weaker (docs/limitations.md).
 */
import { closeSync, fsyncSync, openSync } from "node:fs";
import { below, forSystem, type AbsolutePath } from "./absolute-path.ts";
import { DIRECTORY_FLAGS, hasDescriptorPaths } from "./anchor.ts";
import { isErrno, statDescriptor, statNode, type FileStat } from "./file-stat.ts";
import { listDirectory } from "./list-directory.ts";
import { removeEmptyDirectory } from "./mutate.ts";

/** An open directory, held until disposed. */
export class HeldDirectory implements Disposable {
  readonly #path: AbsolutePath;
  readonly #descriptor: number;
  #isOpen = true;
  readonly stat: FileStat;

  private constructor(path: AbsolutePath, descriptor: number) {
    this.#path = path;
    this.#descriptor = descriptor;
    this.stat = statDescriptor(descriptor);
  }

  /** Returns undefined when nothing stands there or it is not a directory. Links are not followed. */
  static open(path: AbsolutePath): HeldDirectory | undefined {
    try {
      return new HeldDirectory(path, openSync(forSystem(path), DIRECTORY_FLAGS));
    } catch (error) {
      if (isErrno(error, "ENOENT", "ENOTDIR", "ELOOP")) return undefined;
      throw error;
    }
  }

  /** How system calls reach a name in this directory. */
  at(name: string): AbsolutePath {
    return below(this.#reach(), name);
  }

  list(): string[] {
    return listDirectory(this.#reach());
  }

  /** Makes the names in this directory durable. */
  sync(): void {
    fsyncSync(this.#descriptor);
  }

  /** Removes the directory if it is empty and still has its name; otherwise returns false. */
  removeIfEmpty(): boolean {
    return this.#isNamed() && removeEmptyDirectory(this.#path);
  }

  [Symbol.dispose](): void {
    if (this.#isOpen) closeSync(this.#descriptor);
    this.#isOpen = false;
  }

  #reach(): AbsolutePath {
    if (hasDescriptorPaths) return `/proc/self/fd/${this.#descriptor}` as AbsolutePath;
    if (this.#isNamed()) return this.#path;
    throw Object.assign(new Error(`not the same directory any more: ${this.#path}`), {
      code: "ENOTDIR",
      errno: -20,
    });
  }

  #isNamed(): boolean {
    const found = statNode(this.#path);
    return found?.ino === this.stat.ino && found.dev === this.stat.dev;
  }
}
