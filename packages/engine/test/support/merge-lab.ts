/** Trees in memory, to merge without a store or a disk. */
import { compareTrees, walkTree } from "../../src/diff/compare-trees.ts";
import { editTree } from "../../src/diff/edit-tree.ts";
import type { MergedChanges, MergeInput } from "../../src/merge/change-set.ts";
import { mergeChanges } from "../../src/merge/merge-changes.ts";
import type { Syntax } from "../../src/merge/syntax.ts";
import { ancestorPaths, type BytePath } from "../../src/model/byte-path.ts";
import type { Entry } from "../../src/model/entry.ts";
import { hashBytes, NO_OBJECT, type ObjectHash } from "../../src/model/object-hash.ts";
import { encodeTree } from "../../src/model/tree.ts";
import type { ObjectSource } from "../../src/store/object-store.ts";
import type { ContentSink } from "../../src/store/content-sink.ts";

/** A file's text, or something else than an ordinary file. */
export type Node =
  | string
  | Buffer
  | { readonly mode: number; readonly text: string }
  | { readonly link: string }
  | { readonly directory: number }
  | { readonly gap: "too-large" };
export type Files = Readonly<Record<string, Node>>;

/** Objects in memory. */
class Objects implements ObjectSource, ContentSink {
  readonly #kept = new Map<ObjectHash, Buffer>();

  put(bytes: Buffer): ObjectHash {
    const name = hashBytes(bytes);
    this.#kept.set(name, bytes);
    return name;
  }

  small(name: ObjectHash, bytes: Buffer): void {
    this.#kept.set(name, Buffer.from(bytes));
  }

  piece(name: ObjectHash, bytes: Buffer): void {
    this.small(name, bytes);
  }

  large(name: ObjectHash, pieces: readonly ObjectHash[]): void {
    this.#kept.set(name, Buffer.concat(pieces.map((piece) => this.read(piece))));
  }

  has(name: ObjectHash): boolean {
    return this.#kept.has(name);
  }

  read(name: ObjectHash): Buffer {
    const bytes = this.#kept.get(name);
    if (bytes === undefined) throw new Error(`no object ${name}`);
    return bytes;
  }

  pieces(name: ObjectHash): Iterable<Buffer> {
    return [this.read(name)];
  }
}

export interface LabMerge extends MergedChanges {
  /** The files of the result; what is in conflict is as ours has it. */
  readonly files: Files;
  readonly tree: ObjectHash;
}

/** Makes trees, merges them and reads them. */
export class MergeLab {
  readonly objects = new Objects();

  /** The snapshot of some files. */
  tree(files: Files): ObjectHash {
    const edits = new Map<BytePath, Entry>();
    for (const [name, node] of Object.entries(files)) {
      const path = name as BytePath;
      for (const above of ancestorPaths(path))
        if (!edits.has(above)) edits.set(above, { kind: "directory", mode: 0o755, hash: NO_OBJECT });
      edits.set(path, this.#entry(node));
    }
    const empty = this.objects.put(encodeTree([]));
    return editTree(
      { source: this.objects, sink: this.objects },
      empty,
      [...edits].map(([path, to]) => ({ path, to })),
    );
  }

  merge(versions: { base: Files; ours: Files; theirs: Files }, options: Partial<MergeInput> = {}): LabMerge {
    const [base, ours, theirs] = [versions.base, versions.ours, versions.theirs].map((files) =>
      this.tree(files),
    );
    return this.mergeTrees({ base: base!, ours: ours!, theirs: theirs! }, options);
  }

  mergeTrees(
    { base, ours, theirs }: Record<"base" | "ours" | "theirs", ObjectHash>,
    options: Partial<MergeInput> = {},
  ): LabMerge {
    const { objects } = this;
    const merged = mergeChanges({
      ours: compareTrees(objects, base, ours),
      theirs: compareTrees(objects, base, theirs),
      read: (entry) => objects.read((entry as Entry & { kind: "file" }).hash),
      put: (content) => objects.put(content),
      ...options,
    });
    const tree = editTree({ source: objects, sink: objects }, ours, merged.edits);
    return { ...merged, tree, files: this.files(tree) };
  }

  /** What differs between two lists of files. */
  compare(from: Files, to: Files): ReturnType<typeof compareTrees> {
    return compareTrees(this.objects, this.tree(from), this.tree(to));
  }

  /** The files of a snapshot; directories only where they are empty. */
  files(tree: ObjectHash): Files {
    const files: Record<string, Node> = {};
    const all = [...walkTree(this.objects, tree)];
    const occupied = new Set(all.flatMap(({ path }) => ancestorPaths(path)));
    for (const { path, entry } of all)
      if (entry.kind !== "directory" || !occupied.has(path)) files[path] = this.#node(entry);
    return files;
  }

  #entry(node: Node): Entry {
    if (typeof node === "string" || Buffer.isBuffer(node)) return this.#file(node, 0o644);
    if ("text" in node) return this.#file(node.text, node.mode);
    if ("link" in node)
      return { kind: "symlink", size: node.link.length, hash: this.objects.put(Buffer.from(node.link)) };
    if ("gap" in node) return { kind: "gap", reason: node.gap, size: 1 };
    return { kind: "directory", mode: node.directory, hash: NO_OBJECT };
  }

  #file(content: string | Buffer, mode: number): Entry {
    const bytes = Buffer.from(content as string);
    return { kind: "file", mode, size: bytes.length, hash: this.objects.put(bytes) };
  }

  #node(entry: Entry): Node {
    if (entry.kind === "gap") return { gap: "too-large" };
    if (entry.kind === "directory") return { directory: entry.mode };
    const text = this.objects.read(entry.hash).toString("latin1");
    if (entry.kind === "symlink") return { link: text };
    return entry.mode === 0o644 ? text : { mode: entry.mode, text };
  }
}

/** Merges some files, for tests of one case. */
export function mergeFiles(base: Files, ours: Files, theirs: Files, syntax?: Syntax): LabMerge {
  return new MergeLab().merge({ base, ours, theirs }, syntax === undefined ? {} : { syntax });
}
