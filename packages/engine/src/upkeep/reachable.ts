/** Everything that a checkpoint or recorded change refers to. */
import { readTree } from "../diff/compare-trees.ts";
import { decodeEdit, readUnsettled } from "../history/journal.ts";
import { outsideContents } from "../history/outside-files.ts";
import { listConflicts, type ConflictRecord } from "../history/merge-rows.ts";
import type { Entry } from "../model/entry.ts";
import { joinPath, ROOT_PATH, type BytePath } from "../model/byte-path.ts";
import { decodeEntry } from "../model/tree.ts";
import { hashFromBytes, type ObjectHash } from "../model/object-hash.ts";
import type { Store } from "../store/store.ts";

/** A live object and where it is used. Objects used at the same place compress well together. */
export interface Use {
  readonly path: BytePath;
  readonly isTree: boolean;
  /** Smaller for newer uses. */
  readonly age: number;
}

/** Finds live objects, each with its use by the newest checkpoint. Can be run again to find newer ones. */
export class Reachable {
  readonly #store: Store;
  readonly #uses = new Map<ObjectHash, Use>();
  /** Separate from the uses: a file may have the same bytes as a tree. */
  readonly #trees = new Set<ObjectHash>();
  readonly #without: ReadonlySet<number>;
  #seenChanges = 0;

  /** `without`: checkpoints that are about to be dropped. */
  constructor(store: Store, without: ReadonlySet<number> = new Set()) {
    this.#store = store;
    this.#without = without;
  }

  get uses(): ReadonlyMap<ObjectHash, Use> {
    return this.#uses;
  }

  /** Adds what the checkpoints themselves refer to, without what only an undo needs. */
  addSnapshots(): this {
    for (const row of this.#store.db.all(
      "SELECT seq, snapshot, rules, excluded FROM checkpoint ORDER BY seq DESC",
    )) {
      if (this.#without.has(Number(row["seq"]))) continue;
      const age = -Number(row["seq"]);
      const name = (column: string) => hashFromBytes(row[column] as Uint8Array);
      this.#addTree(name("snapshot"), { path: ROOT_PATH, isTree: true, age });
      for (const column of ["rules", "excluded"])
        this.#addBlob(name(column), { path: ROOT_PATH, isTree: false, age });
    }
    for (const name of outsideContents(this.#store.db))
      this.#addBlob(name, { path: ROOT_PATH, isTree: false, age: 0 });
    // an open edit holds the state it began with
    for (const row of this.#store.db.all(
      "SELECT snapshot, rules, excluded FROM tool_call WHERE snapshot IS NOT NULL",
    )) {
      const name = (column: string) => hashFromBytes(row[column] as Uint8Array);
      this.#addTree(name("snapshot"), { path: ROOT_PATH, isTree: true, age: 0 });
      for (const column of ["rules", "excluded"])
        this.#addBlob(name(column), { path: ROOT_PATH, isTree: false, age: 0 });
    }
    return this;
  }

  /** Adds what changes refer to, for checkpoints not visited yet. */
  addChanges(): this {
    const newest = Number(this.#store.db.get("SELECT max(seq) AS seq FROM checkpoint")?.["seq"] ?? 0);
    for (const row of this.#store.db.iterate(
      "SELECT checkpoint, path, old, new FROM change WHERE checkpoint > ?",
      this.#seenChanges,
    )) {
      if (this.#without.has(Number(row["checkpoint"]))) continue;
      const path = Buffer.from(row["path"] as Uint8Array).toString("latin1") as BytePath;
      for (const bytes of [row["old"], row["new"]]) {
        const entry = bytes === null ? undefined : decodeEntry(bytes as Uint8Array);
        if (entry?.kind === "file" || entry?.kind === "symlink")
          this.#addBlob(entry.hash, { path, isTree: false, age: 0 });
      }
    }
    this.#seenChanges = newest;
    return this;
  }

  /** Adds what a running or unfinished restore still has to put in place or back, or to record. */
  addJournal(): this {
    for (const { edits, finish } of readUnsettled(this.#store.db, "all")) {
      const parts = finish.merge?.parts.flatMap((part) => part.edits.map(decodeEdit)) ?? [];
      for (const { path, from, to } of [...edits, ...parts])
        for (const entry of [from, to]) this.#addEntry(path, entry);
      for (const conflict of finish.merge?.record.conflicts ?? []) this.#addConflict(conflict);
    }
    return this;
  }

  /** Adds what is left to decide, and what was decided and not applied yet. */
  addConflicts(): this {
    for (const conflict of listConflicts(this.#store.db)) this.#addConflict(conflict);
    return this;
  }

  #addConflict({ path, base, ours, theirs, facts, result }: ConflictRecord): void {
    const { here, other, proposal, merger } = facts;
    const entries = [base, ours, theirs, here.ours, here.theirs, other?.ours, other?.theirs];
    for (const entry of [...entries, ...(result ?? []).map(([, each]) => each)]) this.#addEntry(path, entry);
    for (const made of [proposal, merger])
      if (made) this.#addBlob(made.hash, { path, isTree: false, age: 0 });
  }

  #addEntry(path: BytePath, entry: Entry | null | undefined): void {
    if (entry?.kind === "file" || entry?.kind === "symlink")
      this.#addBlob(entry.hash, { path, isTree: false, age: 0 });
    else if (entry?.kind === "directory" && this.#store.objects.has(entry.hash))
      this.#addTree(entry.hash, { path, isTree: true, age: 0 });
  }

  #addTree(name: ObjectHash, use: Use): void {
    if (this.#trees.has(name)) return;
    this.#trees.add(name);
    this.#addBlob(name, use);
    for (const [child, entry] of readTree(this.#store.objects, name)) {
      const path = joinPath(use.path, child);
      if (entry.kind === "directory") this.#addTree(entry.hash, { ...use, path });
      else if (entry.kind !== "gap") this.#addBlob(entry.hash, { path, isTree: false, age: use.age });
    }
  }

  #addBlob(name: ObjectHash, use: Use): void {
    if (this.#uses.has(name)) return;
    // its owner keeps it elsewhere
    if (this.#store.objects.withheld().has(name) && !this.#store.objects.has(name)) return;
    this.#uses.set(name, use);
    for (const piece of this.#store.objects.pieceNames(name))
      if (!this.#uses.has(piece)) this.#uses.set(piece, use);
  }
}
