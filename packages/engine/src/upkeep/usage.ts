/**
 * Who takes the space of a store? Equal content is stored once, so most of it belongs to many checkpoints. A group's own
 * bytes are those that no other group needs: what would be freed if it went. Everything else is shared. Single checkpoints
 * share nearly everything with the next one, so theirs are the bytes that each was the first to hold.
 */
import { joinPath, pathFromBytes, ROOT_PATH, type BytePath } from "../model/byte-path.ts";
import { HASH_BYTES, hashFromBytes, type ObjectHash } from "../model/object-hash.ts";
import type { SpaceGroup, SpaceUse, SpaceUsage, UsageBy } from "../model/reports.ts";
import { decodeEntry, someEntry } from "../model/tree.ts";
import { FORM, ObjectStore } from "../store/object-store.ts";
import type { Store } from "../store/store.ts";

/** Trees are read once each, in no order that a small cache could follow. */
const CACHE_BYTES = 64 * 1024 * 1024;

/** The space of each thread, kind of checkpoint, directory or checkpoint, largest first. */
export function readUsage(store: Store, by: UsageBy): SpaceUsage {
  return readGroups(store, by, (row) => keyOf(row, by));
}

/** About how many stored bytes only these checkpoints need: what goes when they do. */
export function storedOnlyIn(store: Store, checkpoints: ReadonlySet<number>): number {
  const these = "these";
  const { groups } = readGroups(store, "kind", (row) =>
    checkpoints.has(Number(row["seq"])) ? these : "others",
  );
  return groups.find(({ key }) => key === these)?.storedBytes ?? 0;
}

type Row = Readonly<Record<string, unknown>>;
type KeyOf = (checkpoint: Row) => string | null;

function readGroups(store: Store, by: UsageBy, keyOfRow: KeyOf): SpaceUsage {
  const { db } = store;
  const groupOf: KeyOf = (row) => (row["pruned"] === 1 ? PRUNED : keyOfRow(row));
  return db.unchanging(() => {
    const owners = new Owners(new ObjectStore(db, CACHE_BYTES), by === "checkpoint" ? "first" : "only");
    const counts = new Map<string | null, number>();
    // what a pruned checkpoint and a later one have is the later one's
    for (const row of db.iterate(
      `SELECT c.seq, c.id, c.snapshot, c.kind, c.thread, c.pruned_at IS NOT NULL AS pruned FROM checkpoint c
         ORDER BY ${by === "checkpoint" ? "pruned, seq" : "seq DESC"}`,
    )) {
      const key = groupOf(row);
      counts.set(key, (counts.get(key) ?? 0) + 1);
      const root = latin1(row["snapshot"] as Uint8Array);
      if (by === "directory") owners.addByDirectory(root);
      else owners.addTree(root, key);
    }
    addChanges(store, owners, by === "directory" ? undefined : groupOf);
    addPieces(store, owners);
    return sumUp(store, owners, by === "directory" || by === "checkpoint" ? new Map() : counts);
  });
}

/** The group of checkpoints that are pruned and not freed yet. */
const PRUNED = "pruned";

/** null = without a thread */
function keyOf(row: Row, by: UsageBy): string | null {
  if (by === "kind") return String(row["kind"]);
  if (by === "checkpoint") return String(row["id"]);
  return row["thread"] === null ? null : String(row["thread"]);
}

/** What an undo needs may be in no snapshot. Without `groupOf` directories are the groups. */
function addChanges({ db }: Store, owners: Owners, groupOf: KeyOf | undefined): void {
  for (const row of db.iterate(
    `SELECT g.path, g.old, g.new, c.seq, c.id, c.kind, c.thread, c.pruned_at IS NOT NULL AS pruned
       FROM change g JOIN checkpoint c ON c.seq = g.checkpoint`,
  )) {
    const group =
      groupOf === undefined ? directoryOf(pathFromBytes(row["path"] as Uint8Array)) : groupOf(row);
    for (const encoded of [row["old"], row["new"]]) {
      const entry = encoded === null ? undefined : decodeEntry(encoded as Uint8Array);
      if (entry?.kind === "file" || entry?.kind === "symlink") owners.add(nameKey(entry.hash), group);
    }
  }
}

/** The pieces of a large file belong to the group that the file belongs to. */
function addPieces({ db, objects }: Store, owners: Owners): void {
  for (const row of db.all("SELECT hash FROM object WHERE form = ?", FORM.pieces)) {
    const name = hashFromBytes(row["hash"] as Uint8Array);
    const owner = owners.of(nameKey(name));
    if (owner === undefined) continue;
    for (const piece of objects.pieceNames(name)) owners.add(nameKey(piece), owner);
  }
}

const SHARED = Symbol("shared");
type Owner = string | null | typeof SHARED;

/** Which group needs an object, or that several do. Keys are the bytes of names. */
class Owners {
  readonly #objects: ObjectStore;
  /** Whose an object is that several groups need: shared, or the first one's. */
  readonly #rule: "only" | "first";
  readonly #owners = new Map<string, Owner>();
  readonly #visited = new Set<string>();

  constructor(objects: ObjectStore, rule: "only" | "first") {
    this.#objects = objects;
    this.#rule = rule;
  }

  of(key: string): Owner | undefined {
    return this.#owners.get(key);
  }

  /** False when nothing below it can change: the group, or several, had it before. */
  add(key: string, group: Owner): boolean {
    const owner = this.#owners.get(key);
    if (owner === SHARED || owner === group) return false;
    if (owner !== undefined && this.#rule === "first") return false;
    this.#owners.set(key, owner === undefined ? group : SHARED);
    return true;
  }

  addTree(key: string, group: Owner): void {
    if (!this.add(key, group)) return;
    const bytes = this.#read(key);
    someEntry(bytes, ({ kind, nameEnd }) => {
      const below = bytes.toString("latin1", nameEnd, nameEnd + HASH_BYTES);
      if (kind === "directory") this.addTree(below, group);
      else if (kind !== "gap") this.add(below, group);
      return false;
    });
  }

  /** The directories of the first two levels are groups, each with the files in it; the second with all below it. */
  addByDirectory(key: string, directory: BytePath = ROOT_PATH): void {
    const visit = `${directory}\0${key}`;
    if (this.#visited.has(visit)) return;
    this.#visited.add(visit);
    this.add(key, directory);
    const bytes = this.#read(key);
    someEntry(bytes, ({ kind, nameAt, nameEnd }) => {
      const below = bytes.toString("latin1", nameEnd, nameEnd + HASH_BYTES);
      if (kind === "directory") {
        const path = joinPath(directory, bytes.toString("latin1", nameAt, nameEnd));
        if (directory === ROOT_PATH) this.addByDirectory(below, path);
        else this.addTree(below, path);
      } else if (kind !== "gap") this.add(below, directory);
      return false;
    });
  }

  #read(key: string): Buffer {
    return this.#objects.read(Buffer.from(key, "latin1").toString("hex") as ObjectHash);
  }
}

/** The group of a path: the first two directories above it. */
function directoryOf(path: BytePath): string {
  return path.split("/").slice(0, -1).slice(0, 2).join("/");
}

function nameKey(name: ObjectHash): string {
  return Buffer.from(name, "hex").toString("latin1");
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}

/** Stored bytes are a share of the object's pack: what is compressed together cannot be told apart exactly. */
function sumUp({ db }: Store, owners: Owners, counts: ReadonlyMap<string | null, number>): SpaceUsage {
  const sums = new Map<Owner | undefined, { bytes: number; storedBytes: number }>();
  for (const row of db.iterate(
    `SELECT o.hash, o.size, CAST(length(p.data) AS REAL) / max(p.raw_bytes, 1) AS share
       FROM object o JOIN pack p ON p.id = o.pack`,
  )) {
    const owner = owners.of(latin1(row["hash"] as Uint8Array));
    const sum = sums.get(owner) ?? { bytes: 0, storedBytes: 0 };
    sum.bytes += Number(row["size"]);
    sum.storedBytes += Number(row["size"]) * Number(row["share"]);
    sums.set(owner, sum);
  }
  const use = (owner: Owner | undefined): SpaceUse => {
    const { bytes, storedBytes } = sums.get(owner) ?? { bytes: 0, storedBytes: 0 };
    return { bytes, storedBytes: Math.round(storedBytes) };
  };
  const keys = new Set<string | null>(counts.keys());
  for (const owner of sums.keys()) if (owner !== SHARED && owner !== undefined) keys.add(owner);
  const groups = [...keys].map((key): SpaceGroup => ({
    key,
    checkpoints: counts.get(key) ?? null,
    ...use(key),
  }));
  return {
    groups: groups.sort((a, b) => b.storedBytes - a.storedBytes || b.bytes - a.bytes),
    shared: use(SHARED),
    rest: use(undefined),
  };
}
