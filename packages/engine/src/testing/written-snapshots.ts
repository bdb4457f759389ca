/** Snapshots written down as tables, in a store in memory: what unit tests of planners and of the applier begin with. */
import { editTree } from "../diff/edit-tree.ts";
import { ancestorPaths, type BytePath } from "../model/byte-path.ts";
import type { Entry, GapReason } from "../model/entry.ts";
import { NO_OBJECT, type ObjectHash } from "../model/object-hash.ts";
import { encodeTree } from "../model/tree.ts";
import { createStoreSink } from "../store/content-sink.ts";
import { ObjectWriter } from "../store/object-writer.ts";
import { openStore, type Store } from "../store/store.ts";

/** What stands at each path; directories above a path need no row of their own. */
export type Table = Readonly<Record<string, Entry>>;

/** A path of a test. */
export function at(path: string): BytePath {
  return path as BytePath;
}

/** A store in memory that takes what a test writes down. */
export class WrittenSnapshots implements Disposable {
  readonly store: Store = openStore(undefined, { create: true });

  [Symbol.dispose](): void {
    this.store[Symbol.dispose]();
  }

  put(content: string | Uint8Array): ObjectHash {
    return this.#write((writer) => writer.put(Buffer.from(content as string)));
  }

  file(content: string | Uint8Array, mode = 0o644): Extract<Entry, { kind: "file" }> {
    return { kind: "file", mode, size: Buffer.from(content as string).length, hash: this.put(content) };
  }

  link(target: string): Entry {
    return { kind: "symlink", size: target.length, hash: this.put(target) };
  }

  directory(mode = 0o755): Entry {
    return { kind: "directory", mode, hash: NO_OBJECT };
  }

  gap(reason: GapReason, size = 0): Entry {
    return { kind: "gap", reason, size };
  }

  /** The snapshot with these entries. */
  snapshot(table: Table): ObjectHash {
    const directories = new Set(Object.keys(table).flatMap((path) => ancestorPaths(at(path))));
    const all = new Map<string, Entry>([...directories].map((path) => [path, this.directory()]));
    for (const [path, entry] of Object.entries(table)) all.set(path, entry);
    const edits = [...all].sort(([a], [b]) => (a < b ? -1 : 1)).map(([path, to]) => ({ path: at(path), to }));
    const empty = this.#write((writer) => writer.put(encodeTree([])));
    return this.#write((writer) =>
      editTree({ source: this.store.objects, sink: createStoreSink(writer) }, empty, edits),
    );
  }

  #write<Result>(work: (writer: ObjectWriter) => Result): Result {
    const owner = { pid: process.pid, started: "", boot: "" };
    const writer = new ObjectWriter(this.store.db, this.store.objects, owner);
    let result: Result;
    writer.commit(() => {
      result = work(writer);
      writer.storeNow();
    });
    return result!;
  }
}
