/** What a merge has found out so far: the changes of both sides, and what becomes of each path. */
import type { BytePath } from "../model/byte-path.ts";
import type { Entry } from "../model/entry.ts";
import type { MergedPath, NotMerged } from "../model/merge.ts";
import type { ObjectHash } from "../model/object-hash.ts";
import type { Edit } from "../model/plan.ts";
import type { Syntax } from "./syntax.ts";
import type { Contested } from "./verdict.ts";

/** The changes of both sides since their base, and where contents are. */
export interface MergeInput {
  /** From base to each side, parents before children. */
  readonly ours: readonly Edit[];
  readonly theirs: readonly Edit[];
  /** Paths of which a side says nothing, because its rules left them out: they stay as they are. */
  readonly unknown?: ReadonlyMap<BytePath, string>;
  /** What differs between several equally good bases: such a path has no base. */
  readonly ambiguous?: readonly Edit[];
  read(entry: Entry): Buffer;
  /** Keeps merged content and returns its name. */
  put(content: Buffer): ObjectHash;
  readonly syntax?: Syntax | undefined;
  /** True for files that the project itself calls generated. */
  isGenerated?(path: BytePath): boolean;
}

/** A conflict and the three entries it is about. */
export interface PathConflict extends Contested {
  readonly path: BytePath;
  readonly otherPath?: BytePath | undefined;
  readonly base: Entry | undefined;
  readonly ours: Entry | undefined;
  readonly theirs: Entry | undefined;
}

/** What was combined at a path, and what came of it. */
export interface Combination {
  /** Where the file was, in the version of the side that did not move it. */
  readonly otherPath: BytePath | undefined;
  readonly base: Entry | undefined;
  readonly ours: Entry;
  readonly theirs: Entry;
  readonly result: Entry;
}

/** What a merge of two sides comes to; the edits lead from ours to the result. */
export interface MergedChanges {
  readonly edits: readonly Edit[];
  readonly merged: readonly Omit<MergedPath, "agents">[];
  /** The versions of what was merged, by path: what a person needs who wants it otherwise. */
  readonly combined: ReadonlyMap<BytePath, Combination>;
  readonly conflicts: readonly PathConflict[];
  readonly notMerged: readonly NotMerged[];
}

/** The state of a merge between its stages. */
export class ChangeSet {
  readonly ours: ReadonlyMap<BytePath, Edit>;
  readonly theirs: ReadonlyMap<BytePath, Edit>;
  readonly input: MergeInput;
  readonly edits = new Map<BytePath, Edit>();
  readonly conflicts = new Map<BytePath, PathConflict>();
  readonly #merged = new Map<BytePath, Omit<MergedPath, "agents">>();
  readonly #combined = new Map<BytePath, Combination>();
  readonly #notMerged: NotMerged[] = [];
  readonly #decided = new Set<BytePath>();

  constructor(input: MergeInput) {
    this.input = input;
    this.ours = new Map(input.ours.map((edit) => [edit.path, edit]));
    this.theirs = new Map(input.theirs.map((edit) => [edit.path, edit]));
  }

  /** Our entry at a path that either side changed. */
  oursAt(path: BytePath): Entry | undefined {
    const edit = this.ours.get(path);
    return edit === undefined ? this.theirs.get(path)?.from : edit.to;
  }

  /** Their entry at a path that either side changed. */
  theirsAt(path: BytePath): Entry | undefined {
    const edit = this.theirs.get(path);
    return edit === undefined ? this.ours.get(path)?.from : edit.to;
  }

  /** What the result has at a path that either side changed. */
  resultAt(path: BytePath): Entry | undefined {
    const edit = this.edits.get(path);
    return edit === undefined ? this.oursAt(path) : edit.to;
  }

  /** True when no later stage looks at the path. */
  isDecided(path: BytePath): boolean {
    return this.#decided.has(path);
  }

  decide(...paths: readonly BytePath[]): void {
    for (const path of paths) this.#decided.add(path);
  }

  /** Changes a path from what ours has to another entry. */
  edit(path: BytePath, to: Entry | undefined): void {
    this.edits.set(path, { path, from: this.oursAt(path), to });
  }

  merged(
    path: BytePath,
    { severity, how }: Pick<MergedPath, "severity" | "how">,
    combination: Combination,
  ): void {
    this.#merged.set(path, { path, severity, how });
    this.#combined.set(path, combination);
  }

  /** Leaves a path as ours has it, and says why. */
  leave(path: BytePath, reason: string): void {
    this.#notMerged.push({ path, reason });
  }

  /** Leaves a path to be decided; nothing of theirs is taken there. */
  conflict(conflict: PathConflict): void {
    this.conflicts.set(conflict.path, conflict);
    this.#merged.delete(conflict.path);
    this.edits.delete(conflict.path);
  }

  result(): MergedChanges {
    const byPath = <Item extends { path: BytePath }>(items: Iterable<Item>): Item[] =>
      [...items].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
    return {
      edits: byPath(this.edits.values()),
      merged: byPath(this.#merged.values()),
      combined: this.#combined,
      conflicts: byPath(this.conflicts.values()),
      notMerged: byPath(this.#notMerged),
    };
  }
}
