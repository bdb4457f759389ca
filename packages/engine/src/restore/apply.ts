/**
 * Carries out edits on the working copy. For each path the order is: move the old node into the stage, give the new
 * one its name if that is still free, then prove that the old one was what the plan says. A node that turns out to be
 * something else was changed by another program meanwhile: it goes back where it was, and the path is a conflict.
 * [R5] So no byte is lost even to a write between check and rename.
 * Strict: one conflict takes everything back. Best effort: conflicts are skipped and reported.
 */
import { Anchor } from "../fs/anchor.ts";
import type { AbsolutePath } from "../fs/absolute-path.ts";
import { removeFile } from "../fs/durable-file.ts";
import { isErrno, kindOf, statNode } from "../fs/file-stat.ts";
import { createDirectory, move, removeEmptyDirectory, setMode, whyRefused } from "../fs/mutate.ts";
import { ancestorPaths, type BytePath } from "../model/byte-path.ts";
import { isDirectory, isLeaf, type Entry } from "../model/entry.ts";
import type { Conflict, Edit, Kept, Skipped } from "../model/plan.ts";
import { matchesEntry, sameMode, statNodeBelow } from "../capture/node-state.ts";
import { keptAsIs } from "../rules/spare-ignored.ts";
import { changeRefused, syncTouched } from "./sync-touched.ts";
import { giveName, needsContent, type NumberedEdit, type Stage } from "./stage.ts";

/** What became of the edits. */
export interface Applied {
  /** The edits that are in place now. */
  readonly done: readonly Edit[];
  readonly conflicts: readonly Conflict[];
  readonly kept: readonly Kept[];
  readonly skipped: readonly Skipped[];
  /** Paths that could not be taken back, because another program has written there meanwhile. */
  readonly left: readonly BytePath[];
  /** The system's refusal that ended it; everything but `left` was taken back. */
  readonly failure?: unknown;
}

/** How edits are applied. */
export interface HowToApply {
  readonly bestEffort: boolean;
  /** Receives how many edits are in place; must not throw. */
  readonly progress?: (done: number) => void;
  /** Called before each edit with how many are in place; throws to stop and take everything back. */
  readonly stopIfAsked?: (done: number) => void;
  /** Called before each step of taking back; throws to leave the rest to recovery. */
  readonly stopTakingBack?: () => void;
  /** Paths that are kept as they are instead of being a conflict. */
  readonly spared?: ReadonlySet<BytePath>;
}

/** Applies edits whose content is staged. Throws only when what was done could not be taken back (`HalfDone`). */
export function applyEdits(
  root: AbsolutePath,
  stage: Stage,
  edits: readonly NumberedEdit[],
  how: HowToApply,
): Applied {
  using anchor = new Anchor(root);
  const { bestEffort } = how;
  const applier = new Applier(anchor, { stage, edits, how });
  const isDone = () => applier.conflicts.length === 0 || bestEffort;
  const outcome = () => {
    const { done, conflicts, kept, skipped, left } = applier;
    return { done, conflicts, kept, skipped, left };
  };
  try {
    applier.run();
    if (isDone()) {
      applier.verify();
      syncTouched(root, anchor, edits);
    }
  } catch (error) {
    takeBack(applier, error);
    return { ...outcome(), failure: error };
  }
  if (!isDone()) {
    takeBack(applier, undefined);
    syncTouched(root, anchor, edits);
  }
  return outcome();
}

/** Taking back failed as well: the files are in between, and the journal must stay. */
export class HalfDone extends Error {}

function takeBack(applier: Applier, reason: unknown): void {
  try {
    applier.takeBack();
  } catch (error) {
    throw new HalfDone("the change could not be taken back", { cause: reason ?? error });
  }
}

class Applier {
  readonly #anchor: Anchor;
  readonly #stage: Stage;
  readonly #edits: readonly NumberedEdit[];
  readonly #bestEffort: boolean;
  readonly #spared: ReadonlySet<BytePath>;
  readonly #how: HowToApply;
  /** How to take back what was done, in the order it was done. */
  #undo: (() => void)[] = [];
  done: Edit[] = [];
  conflicts: Conflict[] = [];
  kept: Kept[] = [];
  skipped: Skipped[] = [];
  left: BytePath[] = [];
  /** Paths that stay as they are, with everything below them: conflicts and skipped ones. */
  readonly #blocked = new Set<BytePath>();
  /** Paths that stay as they are by themselves. */
  readonly #keptPaths = new Set<BytePath>();

  constructor(anchor: Anchor, work: { stage: Stage; edits: readonly NumberedEdit[]; how: HowToApply }) {
    this.#anchor = anchor;
    this.#stage = work.stage;
    this.#edits = work.edits;
    this.#bestEffort = work.how.bestEffort;
    this.#how = work.how;
    this.#spared = work.how.spared ?? new Set();
  }

  /** Deletes deepest first, creates shallowest first; directory modes last, when nothing more is written inside. */
  run(): void {
    const forwards = this.#edits;
    const backwards = forwards.toReversed();
    this.#each(
      forwards,
      ({ from, to }) => isLeaf(from) && !isLeaf(to),
      (edit) => this.#moveAside(edit),
    );
    this.#each(
      backwards,
      ({ from, to }) => isDirectory(from) && !isDirectory(to),
      (edit) => this.#removeDirectory(edit),
    );
    this.#each(
      forwards,
      ({ from, to }) => isDirectory(to) && !isDirectory(from),
      (edit) => this.#makeDirectory(edit),
    );
    this.#each(
      forwards,
      ({ to }) => isLeaf(to),
      (edit) => this.#place(edit),
    );
    this.#each(
      backwards,
      ({ to }) => isDirectory(to),
      (edit) => this.#setDirectoryMode(edit),
    );
  }

  #each(
    edits: readonly NumberedEdit[],
    isDue: (edit: Edit) => boolean,
    work: (edit: NumberedEdit) => boolean,
  ): void {
    for (const edit of edits) {
      if (!isDue(edit) || this.#staysAsIs(edit.path)) continue;
      if (this.conflicts.length > 0 && !this.#bestEffort) return;
      this.#how.stopIfAsked?.(this.done.length);
      this.#attempt(edit, work);
    }
  }

  #attempt(edit: NumberedEdit, work: (edit: NumberedEdit) => boolean): void {
    const before = this.#undo.length;
    try {
      if (!work(edit)) return;
      this.done.push({ path: edit.path, from: edit.from, to: edit.to });
      this.#how.progress?.(this.done.length);
    } catch (error) {
      // a path that is left out is left as it was
      if (this.#bestEffort) for (const undo of this.#undo.splice(before).reverse()) undo();
      if (isErrno(error, "ENOTDIR", "ELOOP")) this.#conflict(edit.path);
      else if (this.#bestEffort && isErrno(error, "EACCES", "EPERM", "EBUSY", "ETXTBSY", "ENOENT")) {
        this.#blocked.add(edit.path);
        this.skipped.push({
          path: edit.path,
          reason: whyRefused((error as NodeJS.ErrnoException).code ?? "failed"),
        });
      } else throw changeRefused(edit.path, error);
    }
  }

  #conflict(path: BytePath): false {
    if (this.#spared.has(path)) return this.#keep(keptAsIs(path));
    this.#blocked.add(path);
    this.conflicts.push({ path, reason: "changed while restoring" });
    return false;
  }

  #keep(kept: Kept): false {
    this.#keptPaths.add(kept.path);
    this.kept.push(kept);
    return false;
  }

  #staysAsIs(path: BytePath): boolean {
    if (this.#keptPaths.has(path) || this.#blocked.has(path)) return true;
    return this.#blocked.size > 0 && ancestorPaths(path).some((above) => this.#blocked.has(above));
  }

  /** Takes a file or link away; a directory may come in its place later. */
  #moveAside(edit: NumberedEdit): boolean {
    const path = this.#anchor.at(edit.path);
    const old = this.#stage.oldNode(edit.index);
    if (statNode(path) === undefined) return this.#conflict(edit.path);
    move(path, old);
    this.#undo.push(() => this.#putBack(old, edit.path));
    if (this.#proves(edit)) return edit.to === undefined;
    this.#undo.pop()!();
    return this.#conflict(edit.path);
  }

  /** True when what was moved aside is what the plan says. From then on its stat is enough to see it change. */
  #proves({ index, from }: NumberedEdit): boolean {
    const old = this.#stage.oldNode(index);
    const stat = statNode(old);
    if (stat === undefined || !matchesEntry(old, from)) return false;
    this.#stage.proved.set(`o${index}`, stat);
    return true;
  }

  #removeDirectory(edit: NumberedEdit): boolean {
    const path = this.#anchor.at(edit.path);
    const stat = statNode(path);
    if (stat === undefined || kindOf(stat) !== "directory") return this.#conflict(edit.path);
    this.#anchor.forget();
    if (!removeEmptyDirectory(this.#anchor.at(edit.path))) {
      if (edit.to !== undefined) return this.#conflict(edit.path);
      return this.#keep({ path: edit.path, reason: "the directory is not empty" });
    }
    this.#undo.push(() => {
      const again = this.#anchor.at(edit.path);
      if (statNode(again) !== undefined) return;
      createDirectory(again);
      setMode(again, Number(stat.mode & 0o777n));
    });
    return edit.to === undefined;
  }

  #makeDirectory(edit: NumberedEdit): boolean {
    const path = this.#anchor.at(edit.path);
    try {
      createDirectory(path);
    } catch (error) {
      if (isErrno(error, "EEXIST")) return this.#conflict(edit.path);
      throw error;
    }
    this.#undo.push(() => {
      this.#anchor.forget();
      if (!removeEmptyDirectory(this.#anchor.at(edit.path))) this.left.push(edit.path);
    });
    return false;
  }

  #setDirectoryMode(edit: NumberedEdit): boolean {
    const path = this.#anchor.at(edit.path);
    const stat = statNode(path);
    if (stat === undefined || kindOf(stat) !== "directory" || edit.to?.kind !== "directory")
      return this.#conflict(edit.path);
    this.#changeMode(path, edit.path, Number(stat.mode & 0o777n), edit.to.mode);
    return true;
  }

  /** Puts a file or link in place: new, instead of another, or with another mode only. */
  #place(edit: NumberedEdit): boolean {
    const { from, to } = edit;
    if (!needsContent(from, to)) return this.#placeMode(edit);
    return isLeaf(from) ? this.#replace(edit) : this.#placeNew(edit);
  }

  #placeMode(edit: NumberedEdit): boolean {
    const path = this.#anchor.at(edit.path);
    const stat = statNode(path);
    if (stat === undefined || kindOf(stat) !== "file" || edit.to?.kind !== "file")
      return this.#conflict(edit.path);
    if (edit.from?.kind === "file" && !sameMode(stat, edit.from.mode)) return this.#conflict(edit.path);
    if (stat.nlink > 1n) {
      // the mode belongs to all of its names, and the others may be outside of the workspace
      this.#stage.copy(path, edit.index, edit.to.mode);
      return this.#replace(edit);
    }
    this.#changeMode(path, edit.path, Number(stat.mode & 0o777n), edit.to.mode);
    return true;
  }

  #changeMode(path: AbsolutePath, name: BytePath, from: number, to: number): void {
    if (from === to) return;
    setMode(path, to);
    this.#undo.push(() => setMode(this.#anchor.at(name), from));
  }

  #placeNew(edit: NumberedEdit): boolean {
    const path = this.#anchor.at(edit.path);
    const staged = this.#stage.newNode(edit.index);
    const identity = identityOf(staged);
    if (!giveName(staged, path)) return this.#conflict(edit.path);
    this.#undo.push(() => {
      if (!this.#takeAway(edit, identity)) this.left.push(edit.path);
    });
    removeFile(staged);
    return true;
  }

  /** [R5] The old node is taken first and looked at afterwards: whatever it is by then, it is not overwritten. */
  #replace(edit: NumberedEdit): boolean {
    const path = this.#anchor.at(edit.path);
    const staged = this.#stage.newNode(edit.index);
    const old = this.#stage.oldNode(edit.index);
    const stat = statNode(path);
    if (stat === undefined || kindOf(stat) === "directory") return this.#conflict(edit.path);
    move(path, old);
    this.#undo.push(() => this.#putBack(old, edit.path));
    const identity = identityOf(staged);
    if (!giveName(staged, path)) {
      this.#undo.pop();
      this.left.push(edit.path);
      return this.#conflict(edit.path);
    }
    this.#undo[this.#undo.length - 1] = () => {
      if (this.#takeAway(edit, identity)) this.#putBack(old, edit.path);
      else this.left.push(edit.path);
    };
    removeFile(staged);
    if (this.#proves(edit)) return true;
    this.#undo.pop()!();
    return this.#conflict(edit.path);
  }

  /** What another program put there meanwhile stays; the end of the stage then sees to the old node. */
  #putBack(old: AbsolutePath, path: BytePath): void {
    if (!giveName(old, this.#anchor.at(path))) this.left.push(path);
  }

  /** Takes a new node away again; false when another program wrote to it, or put another in its place: that stays. */
  #takeAway(edit: NumberedEdit, identity: string): boolean {
    const path = this.#anchor.at(edit.path);
    const staged = this.#stage.newNode(edit.index);
    if (identityOf(path) !== identity) return false;
    // moving a node onto another name of itself would do nothing
    removeFile(staged);
    move(path, staged);
    if (matchesEntry(staged, edit.to)) return true;
    giveName(staged, path);
    return false;
  }

  /** Takes everything back, last change first. What cannot be taken back is left to recovery. */
  takeBack(): void {
    for (const undo of this.#undo.toReversed()) {
      this.#how.stopTakingBack?.();
      undo();
    }
    this.#undo = [];
    this.done = [];
  }

  /** [R6] Success is reported only for paths that are what the plan promised. */
  verify(): void {
    for (const { path, to } of this.done) {
      const reached = this.#anchor.reach(path);
      const stat = reached === undefined ? undefined : statNodeBelow(reached);
      const right =
        to === undefined
          ? stat === undefined
          : stat !== undefined &&
            kindOf(stat) === to.kind &&
            (to.kind === "symlink" || sameMode(stat, modeOf(to)));
      if (!right) this.skipped.push({ path, reason: "changed again right after it was restored" });
    }
    const wrong = new Set(this.skipped.map(({ path }) => path));
    this.done = this.done.filter(({ path }) => !wrong.has(path));
  }
}

function modeOf(entry: Entry): number {
  return entry.kind === "file" || entry.kind === "directory" ? entry.mode : 0;
}

function identityOf(path: AbsolutePath): string {
  const stat = statNode(path);
  return stat === undefined ? "" : `${stat.dev}:${stat.ino}`;
}
