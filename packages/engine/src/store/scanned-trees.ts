/**
 * Which trees may hold one of some contents, directly or below? Learned while the packs are scanned, so that a walk through
 * a history reads only these. "May" errs on one side: a tree that is damaged or was not seen, and one that names what was
 * not seen, may hold anything. The walk then reads it, and reports what is wrong with it.
 */
import { HASH_BYTES, type HashKey, type ObjectHash } from "../model/object-hash.ts";
import { beginsAsTree, everyContent } from "../model/tree.ts";
import { grown, HashIds } from "./hash-ids.ts";
import type { ScannedPack } from "./pack-scan.ts";

/** What is known of an object, by its id. */
const [NOT_SEEN, SEEN, SEEN_AS_TREE] = [0, 1, 2] as const;

/** The trees of a store. */
export class ScannedTrees {
  readonly #ids = new HashIds();
  #seen = new Uint8Array(1024);
  /** One tree after the other: its id, how many contents it names, and their ids; `~id` for a directory's. */
  #graph = new Int32Array(4096);
  #length = 0;
  /** Where each tree begins in the graph. */
  #starts = new Int32Array(1024);
  #trees = 0;
  #mayHold = new Uint8Array(0);

  /** Learns the objects of a pack. */
  add({ raw, places, names }: ScannedPack): void {
    const [bytes, nameBytes] = [viewOf(raw), viewOf(names)];
    for (let index = 0; index * 2 < places.length; index += 1) {
      const id = this.#ids.idAt(nameBytes, index * HASH_BYTES);
      const start = places[index * 2]!;
      const end = start + places[index * 2 + 1]!;
      const isTree = beginsAsTree(raw, start, end) && this.#addTree(id, bytes, { start, end });
      this.#note(id, isTree ? SEEN_AS_TREE : SEEN);
    }
  }

  /** Learns that there is an object, whatever it is. */
  addName(name: ObjectHash): void {
    this.#note(this.#idOf(name, "hex"), SEEN);
  }

  /** False when what the bytes say is not a tree. */
  #addTree(id: number, bytes: DataView, { start, end }: { start: number; end: number }): boolean {
    const first = this.#length;
    this.#push(id);
    this.#push(0);
    const isTree = everyContent(bytes, { start, end }, (hashAt, isDirectory) => {
      const content = this.#ids.idAt(bytes, hashAt);
      this.#push(isDirectory ? ~content : content);
    });
    if (!isTree) {
      this.#length = first;
      return false;
    }
    this.#graph[first + 1] = this.#length - first - 2;
    if (this.#trees === this.#starts.length) this.#starts = grown(this.#starts);
    this.#starts[this.#trees] = first;
    this.#trees += 1;
    return true;
  }

  /** Decides which trees may hold one of these. */
  markHolders(contents: Iterable<ObjectHash>): void {
    const found = Array.from(contents, (name) => this.#idOf(name, "hex"));
    this.#mayHold = new Uint8Array(this.#ids.count);
    for (const id of found) this.#mayHold[id] = 1;
    // there and back: in one of the two directions a round marks every level
    while (this.#markParents(this.#trees - 1, -1) && this.#markParents(0, 1));
  }

  /** Marks trees one after the other; true when there was a new one. */
  #markParents(from: number, step: 1 | -1): boolean {
    const [graph, mayHold] = [this.#graph, this.#mayHold];
    let isAnyNew = false;
    for (let index = from; index >= 0 && index < this.#trees; index += step) {
      const at = this.#starts[index]!;
      const tree = graph[at]!;
      if (mayHold[tree] === 1) continue;
      const end = at + 2 + graph[at + 1]!;
      for (let child = at + 2; child < end; child += 1) {
        if (!this.#mayBeIn(graph[child]!)) continue;
        mayHold[tree] = 1;
        isAnyNew = true;
        break;
      }
    }
    return isAnyNew;
  }

  #mayBeIn(child: number): boolean {
    const id = child < 0 ? ~child : child;
    const seen = id < this.#seen.length ? this.#seen[id]! : NOT_SEEN;
    return this.#mayHold[id] === 1 || seen < (child < 0 ? SEEN_AS_TREE : SEEN);
  }

  /** Only after `markHolders`. */
  mayHold(tree: HashKey): boolean {
    const id = this.#idOf(tree, "latin1");
    return this.#seen[id] !== SEEN_AS_TREE || this.#mayHold[id] === 1;
  }

  #idOf(name: string, encoding: "hex" | "latin1"): number {
    return this.#ids.idAt(viewOf(Buffer.from(name, encoding)), 0);
  }

  #note(id: number, seen: number): void {
    if (id >= this.#seen.length) {
      const larger = new Uint8Array(Math.max(id + 1, this.#seen.length * 2));
      larger.set(this.#seen);
      this.#seen = larger;
    }
    this.#seen[id] = seen;
  }

  #push(number: number): void {
    if (this.#length === this.#graph.length) this.#graph = grown(this.#graph);
    this.#graph[this.#length] = number;
    this.#length += 1;
  }
}

function viewOf(bytes: Buffer): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
