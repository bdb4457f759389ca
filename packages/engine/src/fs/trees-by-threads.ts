/**
 * The files of trees, copied by threads once the trees' directories and links are made (`copyTree` with `later`); after
 * them the directories get their modes and times, the innermost first.
 */
import { lutimesSync } from "node:fs";
import { joinPath, ROOT_PATH, type BytePath } from "../model/byte-path.ts";
import { forSystem } from "./absolute-path.ts";
import { Anchor } from "./anchor.ts";
import { copySettled, isSwapped, type LaterCopies } from "./copy-file.ts";
import { CopyThreads, type CopyPlace } from "./copy-threads.ts";
import { removeFile } from "./durable-file.ts";
import { statNode, type FileStat } from "./file-stat.ts";
import { EnteredDirectory } from "./entered-directory.ts";

/** A directory that is complete. */
interface MadeDirectory {
  readonly path: BytePath;
  readonly mode: number;
  readonly stat: FileStat | undefined;
}

/** Trees below one directory, copied to the same paths below another. */
export class TreesByThreads {
  readonly #place: CopyPlace;
  readonly #threads: CopyThreads;
  readonly #directories: MadeDirectory[] = [];

  private constructor(place: CopyPlace, threads: CopyThreads) {
    this.#place = place;
    this.#threads = threads;
  }

  /** Undefined where files have to be copied one by one. */
  static create(place: CopyPlace): TreesByThreads | undefined {
    const threads = CopyThreads.create({ asItIs: true });
    return threads && new TreesByThreads(place, threads);
  }

  /** Takes what is left of the copy of one tree. */
  below(tree: BytePath): LaterCopies {
    return {
      file: (path) => this.#threads.add(joinPath(tree, path)),
      directory: (path, mode, stat) =>
        this.#directories.push({ path: path === ROOT_PATH ? tree : joinPath(tree, path), mode, stat }),
    };
  }

  /** Copies the files, and says which were written each time they were copied; what is yielded is to be waited for. */
  *finish(torn: (path: BytePath) => void): Generator<Promise<void> | void> {
    yield* this.#threads.run(this.#place);
    using source = new Anchor(this.#place.from);
    using target = new Anchor(this.#place.to, { real: true });
    for (const { path } of this.#threads.left()) {
      whereItStands(() => {
        const [from, to] = [source.at(path), target.at(path)];
        const stat = statNode(from);
        if (stat === undefined) return;
        removeFile(to);
        if (!copySettled(from, to, this.#place)) torn(path);
        setTimes(to, stat);
      });
      yield;
    }
    for (const { path, mode, stat } of this.#directories)
      whereItStands(() => {
        using directory = new EnteredDirectory(target.at(path));
        directory.setMode(mode);
        if (stat !== undefined) setTimes(target.at(path), stat);
      });
  }
}

/** [R1951] What was swapped for something else, or is gone, is left out. */
function whereItStands(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!isSwapped(error)) throw error;
  }
}

function setTimes(path: Parameters<typeof forSystem>[0], { atimeNs, mtimeNs }: FileStat): void {
  lutimesSync(forSystem(path), Number(atimeNs) / 1e9, Number(mtimeNs) / 1e9);
}
