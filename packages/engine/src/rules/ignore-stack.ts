/**
 * The ignore files in force in a directory, strongest first: `.belayignore`s, then `.gitignore`s, then
 * `info/exclude`s, each deepest first, then the defaults. Directories without ignore files share their
 * parent's stack. Paths here are relative to the repository's top level.
 */
import { displayPath, joinPath, type BytePath } from "../model/byte-path.ts";
import { IGNORE_FILE_PATHS, type IgnoreLayer, type RecordedIgnoreFile } from "../model/rules.ts";
import { IgnoreLookup } from "./ignore-lookup.ts";
import { createPatternList, type PatternList } from "./ignore-pattern-list.ts";
import { NameFilter } from "./name-filter.ts";

/** The ignore files of one directory. */
export type IgnoreFiles = { readonly [layer in IgnoreLayer]?: Buffer | undefined };

/** Ignore files of one directory, by layer. */
export function byLayer(files: readonly RecordedIgnoreFile[]): IgnoreFiles {
  return Object.fromEntries(files.map(({ layer, content }) => [layer, content]));
}

const FILE_LAYERS = ["belayignore", "gitignore", "exclude"] as const;
const STRONGEST_FIRST = [...FILE_LAYERS, "defaults"] as const;

type Layers = Readonly<Record<(typeof STRONGEST_FIRST)[number], readonly PatternList[]>>;

/** The ignore files in force, by layer. */
export class IgnoreStack {
  static readonly empty = new IgnoreStack(
    { belayignore: [], gitignore: [], exclude: [], defaults: [] },
    new NameFilter(),
  );

  readonly #layers: Layers;
  readonly #lists: readonly PatternList[];
  readonly #filter: NameFilter;

  private constructor(layers: Layers, filter: NameFilter) {
    this.#layers = layers;
    this.#lists = STRONGEST_FIRST.flatMap((layer) => layers[layer]);
    this.#filter = filter;
  }

  withDefaults(list: PatternList | undefined): IgnoreStack {
    return list === undefined ? this : this.#with("defaults", list);
  }

  /** The stack inside a git-ignored directory, where git's own rules no longer apply. */
  insideIgnored(noise: PatternList | undefined): IgnoreStack {
    const layers = { ...this.#layers, gitignore: [], exclude: [] };
    const lists = [...layers.belayignore, ...layers.defaults];
    const stack = new IgnoreStack(layers, NameFilter.union(lists.map(({ filter }) => filter)));
    return noise === undefined ? stack : stack.#with("defaults", noise);
  }

  /** The stack of a directory with these files; `shownAs` is the directory as verdicts name it. */
  withFiles(files: IgnoreFiles, directory: BytePath, shownAs: BytePath): IgnoreStack {
    const added = FILE_LAYERS.flatMap((layer) => {
      const content = files[layer];
      if (content === undefined) return [];
      const shown = displayPath(joinPath(shownAs, IGNORE_FILE_PATHS[layer]));
      const list = createPatternList({ layer, content, directory, label: (line) => `${shown}:${line}` });
      return list === undefined ? [] : [{ layer, list }];
    });
    return added.reduce<IgnoreStack>((stack, { layer, list }) => stack.#with(layer, list), this);
  }

  #with(layer: keyof Layers, list: PatternList): IgnoreStack {
    const layers = { ...this.#layers, [layer]: [list, ...this.#layers[layer]] };
    return new IgnoreStack(layers, NameFilter.union([this.#filter, list.filter]));
  }

  /** The look-up for names in one directory. */
  at(directory: BytePath): IgnoreLookup {
    return new IgnoreLookup(this.#lists, this.#filter, directory);
  }
}
