/**
 * The staging directory of one operation: `<root>/.belay-stage-<op>`, on the same file system as the files it will
 * become, never captured. It holds new content (`n<i>`) until it is renamed into place, and the nodes that were
 * replaced or removed (`o<i>`) until `endStage` has proved that the store has them. It is the only place where
 * bytes have no other name, so [R111] it is held by descriptor from its making on, and one that a crash left is
 * touched only if it bears the mark that nothing but this store can have put there.
 */
import { hash } from "node:crypto";
import { below, type AbsolutePath } from "../fs/absolute-path.ts";
import { removeTree } from "../fs/remove-tree.ts";
import { syncFileSystem, syncFile, removeFile } from "../fs/durable-file.ts";
import { isErrno, statNode, type FileStat } from "../fs/file-stat.ts";
import { HeldDirectory } from "../fs/held-directory.ts";
import { listIfThere } from "../fs/list-directory.ts";
import { addName, copyFile, createDirectory, createFile, createLink, move } from "../fs/mutate.ts";
import { EngineError } from "../model/errors.ts";
import { isId } from "../model/ids.ts";
import type { Edit } from "../model/plan.ts";
import type { ObjectSource } from "../store/object-store.ts";
import { STAGE_PREFIX } from "../rules/hard-excludes.ts";

/** Beyond this many files one sync of the file system is cheaper than one each. */
const SYNC_EACH_LIMIT = 64;

/** An edit and its number in the journal, by which its nodes in the stage are found again. */
export interface NumberedEdit extends Edit {
  readonly index: number;
}

/** Edits with their numbers in the stage. */
export function numberEdits(edits: readonly Edit[]): NumberedEdit[] {
  return edits.map((edit, index) => ({ ...edit, index }));
}

/** A node in a stage: what edit `index` took away (`old`) or puts in place (`new`). */
export interface StagedNode {
  readonly name: string;
  readonly role: "old" | "new";
  readonly index: number;
}

/** The workspace that a stage is made for. */
export interface StageOwner {
  readonly store: { readonly id: string };
  readonly workingCopy: { readonly root: AbsolutePath };
}

/** The staging directory of one operation, held open. */
export class Stage implements Disposable {
  readonly #root: AbsolutePath;
  readonly #directory: HeldDirectory;
  readonly #mark: string;
  readonly name: string;
  /** Old nodes that were read and were what the plan says, as they were just before that. */
  readonly proved = new Map<string, FileStat>();

  private constructor(root: AbsolutePath, place: { name: string; mark: string; directory: HeldDirectory }) {
    this.#root = root;
    this.#directory = place.directory;
    this.#mark = place.mark;
    this.name = place.name;
  }

  static create(owner: StageOwner, operation: string): Stage {
    const { root } = owner.workingCopy;
    const place = placeOf(owner, operation);
    createDirectory(below(root, place.name));
    const directory = HeldDirectory.open(below(root, place.name));
    if (directory === undefined) throw replaced(place.name);
    const isNew = directory.list().length === 0;
    createFile(directory.at(place.mark), [], { mode: 0o600, sync: false });
    // [R111] a directory put there in the meantime belongs to the user who put it there
    if (!isNew || statNode(directory.at(place.mark))?.uid !== directory.stat.uid) throw replaced(place.name);
    return new Stage(root, { ...place, directory });
  }

  /** The stage of an interrupted operation; undefined when what bears its name is not ours, or nothing does. */
  static find(owner: StageOwner, operation: string): Stage | undefined {
    const { root } = owner.workingCopy;
    const place = placeOf(owner, operation);
    const directory = HeldDirectory.open(below(root, place.name));
    if (directory === undefined) return undefined;
    if (directory.list().includes(place.mark)) return new Stage(root, { ...place, directory });
    // killed between making and marking it: nothing is lost with an empty directory
    directory.removeIfEmpty();
    directory[Symbol.dispose]();
    return undefined;
  }

  newNode(index: number): AbsolutePath {
    return this.#directory.at(`n${index}`);
  }

  oldNode(index: number): AbsolutePath {
    return this.#directory.at(`o${index}`);
  }

  at(name: string): AbsolutePath {
    return this.#directory.at(name);
  }

  /** Gives a node another name in the stage, so that its number can be used again; says which. */
  setApart(name: string): string {
    if (name.includes(APART)) return name;
    const taken = new Set(this.#directory.list());
    let number = 1;
    while (taken.has(`${name}${APART}${number}`)) number += 1;
    const apart = `${name}${APART}${number}`;
    move(this.at(name), this.at(apart));
    return apart;
  }

  /** Writes the new content of every edit that needs some, checked against its hash and synced. */
  fill(
    edits: readonly NumberedEdit[],
    objects: ObjectSource,
    beforeEach?: (staged: number, total: number) => void,
  ): void {
    const files = edits.flatMap(({ from, to, index }) =>
      needsContent(from, to) ? [{ index, to: to! }] : [],
    );
    const each = files.length <= SYNC_EACH_LIMIT;
    removeFile(this.at(DRAFT));
    for (const [staged, { index, to }] of files.entries()) {
      beforeEach?.(staged, files.length);
      const path = this.newNode(index);
      if (to.kind === "symlink") createLink(path, objects.read(to.hash));
      else if (to.kind === "file")
        this.#whole(path, (draft) =>
          createFile(draft, objects.pieces(to.hash), { mode: to.mode, sync: each }),
        );
    }
    // [R4] content is durable before the journal names it
    if (!each && !syncFileSystem(this.#root))
      for (const { index, to } of files) if (to.kind === "file") syncFile(this.newNode(index));
    this.#directory.sync();
  }

  /** Copies a file as the new content of an edit, with another mode. */
  copy(from: AbsolutePath, index: number, mode: number): void {
    removeFile(this.at(DRAFT));
    this.#whole(this.newNode(index), (draft) => copyFile(from, draft, mode));
  }

  /** [N1] What a crash left half written must not look like the doing of another program: it never has a node's name. */
  #whole(path: AbsolutePath, write: (draft: AbsolutePath) => void): void {
    const draft = this.at(DRAFT);
    write(draft);
    move(draft, path);
  }

  /** What lies in it, apart from what is not ours. */
  nodes(): StagedNode[] {
    return this.#directory.list().flatMap((name) => {
      const [, letter, number] = NODE_NAME.exec(name) ?? [];
      if (letter === undefined) return [];
      return [{ name, role: letter === "o" ? ("old" as const) : ("new" as const), index: Number(number) }];
    });
  }

  /** Removes an emptied stage. What is not ours in it stays, and the directory with it. */
  remove(): void {
    for (const _ of removeTree(this.at(TREE)));
    for (const name of [PROBE, DRAFT, NAMES, this.#mark]) removeFile(this.at(name));
    this.#directory.removeIfEmpty();
    this[Symbol.dispose]();
  }

  /** Removes a stage that has never been used: nothing in it but copies of what the store has. */
  discard(): void {
    for (const { name, role } of this.nodes()) if (role === "new") removeFile(this.at(name));
    this.remove();
  }

  [Symbol.dispose](): void {
    this.#directory[Symbol.dispose]();
  }
}

/** The name of a file that is made to see how the file system takes names. */
export const PROBE = "probe";

/** The name of the directory in which the files of a clone are written. Nothing in it but copies of what the store has. */
export const TREE = "tree";

/** The name of the list of paths in the stage of a store in memory. */
export const NAMES = "names.json";

/** The name of new content until all of it is there. */
const DRAFT = "draft";

/** Between the name of a node and a number where the name itself was needed again. */
const APART = "-";

const NODE_NAME = /^([no])(\d+)(?:-\d+)?$/;

/** The mark is made of what only the store knows: other users can neither guess it nor read it in a private directory. */
function placeOf({ store }: StageOwner, operation: string): { name: string; mark: string } {
  const mark = hash("sha256", `${store.id} ${operation}`, "hex").slice(0, 32);
  return { name: `${STAGE_PREFIX}${operation}`, mark: `belay-${mark}` };
}

function replaced(name: string): EngineError<"FILE_SYSTEM"> {
  return new EngineError(
    "FILE_SYSTEM",
    `Another program replaced ${name} while it was being made. Nothing was changed.`,
    { path: name, operation: "restore" },
  );
}

/**
 * Gives a node of the stage its final name unless something has appeared there. Its name in the stage may stay:
 * a program that saw something else meanwhile may write over what was put back, and that is noticed at the end.
 */
export function giveName(staged: AbsolutePath, path: AbsolutePath): boolean {
  try {
    if (addName(staged, path)) return true;
  } catch (error) {
    if (isErrno(error, "EEXIST")) return false;
    throw error;
  }
  if (statNode(path) !== undefined) return false;
  move(staged, path);
  return true;
}

/** True when an edit puts bytes somewhere; a change of mode alone does not. */
export function needsContent(from: Edit["from"], to: Edit["to"]): boolean {
  if (to === undefined || to.kind === "directory" || to.kind === "gap") return false;
  return !(from?.kind === to.kind && from.hash === to.hash);
}

/** The operations whose staging directories stand in the root, ours or not. */
export function findStages(root: AbsolutePath): string[] {
  return listIfThere(root)
    .filter((name) => name.startsWith(STAGE_PREFIX))
    .map((name) => name.slice(STAGE_PREFIX.length))
    .filter(isId);
}
