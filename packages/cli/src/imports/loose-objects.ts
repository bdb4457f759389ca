/** Objects of a git repository as its files have them: no config, hook or filter of it is read. */
import { createHash } from "node:crypto";
import { inflateSync } from "node:zlib";
import { LARGEST_BYTES, TOO_LARGE, type OldData } from "./old-data.ts";
import { PackedObjects } from "./packed-objects.ts";

/** The most names in the trees of one commit: trees that repeat each other can name more than any memory holds. */
const MOST_ENTRIES = 1_000_000;

/** A commit: its tree, its parents, when and why. */
export interface Commit {
  readonly id: string;
  readonly tree: string;
  readonly parents: readonly string[];
  readonly at: number;
  readonly message: string;
}

/** A name of a tree, which may have slashes, and what it names. */
export interface FlatEntry {
  /** A character for each byte. */
  readonly name: string;
  readonly mode: number;
  readonly hash: string;
}

/** The repository of one dialog. */
export class LooseObjects {
  readonly #data: OldData;
  readonly #packed: PackedObjects;

  /** `data`: the directory `.git`. */
  constructor(data: OldData) {
    this.#data = data;
    this.#packed = new PackedObjects(data);
  }

  /** The commits that branches stand on, by their short names. */
  heads(): Map<string, string> {
    const heads = new Map<string, string>();
    const packed = this.#data.has("packed-refs")
      ? this.#data.bytes("packed-refs")?.toString("utf8")
      : undefined;
    for (const [, hash, name] of (packed ?? "").matchAll(/^([0-9a-f]{40}) refs\/heads\/(.+)$/gm))
      heads.set(name!, hash!);
    for (const name of this.#data.names("refs/heads")) {
      const hash = this.#data.bytes(`refs/heads/${name}`)?.toString("utf8").trim() ?? "";
      if (/^[0-9a-f]{40}$/.test(hash)) heads.set(name, hash);
      else this.#data.skip(`refs/heads/${name}`, "it names no commit");
    }
    return heads;
  }

  /** The commit that HEAD stands on where it is on no branch. */
  head(): string | undefined {
    const text = this.#data.has("HEAD") ? this.#data.bytes("HEAD")?.toString("utf8").trim() : undefined;
    return text !== undefined && /^[0-9a-f]{40}$/.test(text) ? text : undefined;
  }

  /** The bytes of an object, or why they cannot be had. [R2602] One that a clean-up of git's moved is in a pack. */
  read(hash: string, kind: "commit" | "tree" | "blob"): Buffer | string {
    const raw = this.#data.tryBytes(`objects/${hash.slice(0, 2)}/${hash.slice(2)}`);
    if (typeof raw === "string") return this.#readPacked(hash, kind) ?? raw;
    try {
      const bytes = inflateSync(raw, { maxOutputLength: LARGEST_BYTES });
      if (createHash("sha1").update(bytes).digest("hex") !== hash) return "its content is damaged";
      const end = bytes.indexOf(0);
      return bytes.toString("latin1", 0, end).startsWith(`${kind} `)
        ? bytes.subarray(end + 1)
        : `it is no ${kind}`;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      return code === "ERR_BUFFER_TOO_LARGE" ? TOO_LARGE : "its content is damaged";
    }
  }

  #readPacked(hash: string, kind: "commit" | "tree" | "blob"): Buffer | string | undefined {
    const packed = this.#packed.read(hash);
    if (packed === undefined || typeof packed === "string") return packed;
    const { kind: found, content } = packed;
    const sum = createHash("sha1").update(`${found} ${content.length}\0`).update(content).digest("hex");
    if (sum !== hash) return "its content is damaged";
    return found === kind ? content : `it is no ${kind}`;
  }

  /** A commit; one that cannot be read is noted. */
  commit(id: string): Commit | undefined {
    const bytes = this.read(id, "commit");
    if (typeof bytes === "string") return this.#data.skip(`commit ${id}`, bytes);
    const text = bytes.toString("utf8");
    const end = text.indexOf("\n\n");
    const header = text.slice(0, end);
    return {
      id,
      tree: /^tree ([0-9a-f]{40})$/m.exec(header)?.[1] ?? "",
      parents: [...header.matchAll(/^parent ([0-9a-f]{40})$/gm)].map(([, parent]) => parent!),
      at: Number(/^committer .* (\d+) [+-]\d{4}$/m.exec(header)?.[1] ?? 0) * 1000,
      message: text.slice(end + 2).trimEnd(),
    };
  }

  /**
   * The entries of a tree and of trees in it, or why it cannot be read. A tree in it that cannot be read is an entry
   * itself, so that its files are unknown and not absent.
   */
  entries(hash: string): FlatEntry[] | string {
    const entries: FlatEntry[] = [];
    const waiting: FlatEntry[] = [{ name: "", mode: TREE, hash }];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const bytes = next.mode === TREE ? this.read(next.hash, "tree") : "";
      if (typeof bytes !== "string") waiting.push(...entriesIn(bytes, next.name));
      else if (next.name === "") return bytes;
      else entries.push({ ...next, name: next.name.replace(/\/$/, "") });
      if (entries.length + waiting.length > MOST_ENTRIES) return `it has more than ${MOST_ENTRIES} names`;
    }
    return entries;
  }
}

const TREE = 0o40000;

/** The entries of one tree, the last first; those of trees end in a slash. */
function entriesIn(bytes: Buffer, prefix: string): FlatEntry[] {
  const entries: FlatEntry[] = [];
  for (let at = 0; at < bytes.length;) {
    const [space, end] = [bytes.indexOf(0x20, at), bytes.indexOf(0, at)];
    if (space < 0 || end < 0) break;
    const mode = Number.parseInt(bytes.toString("latin1", at, space), 8);
    const name = `${prefix}${bytes.toString("latin1", space + 1, end)}${mode === TREE ? "/" : ""}`;
    entries.push({ name, mode, hash: bytes.toString("hex", end + 1, end + 21) });
    at = end + 21;
  }
  return entries.reverse();
}
