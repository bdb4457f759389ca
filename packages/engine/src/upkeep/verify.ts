/**
 * Proves the store sound, or reports what is damaged and which checkpoints are affected. Quick: every row,
 * tree and reference. Full: every byte is hashed again.
 */
import { treeSeenHere } from "../diff/compare-trees.ts";
import { findBrokenChain } from "../history/operations.ts";
import { areChangesSealed, readCheckpointChanges } from "../history/changes.ts";
import { assertSealed } from "../history/checkpoint-seal.ts";
import { checkpointAt } from "../history/checkpoints.ts";
import { outsideContents } from "../history/outside-files.ts";
import { EngineError } from "../model/errors.ts";
import type { CheckpointId } from "../model/ids.ts";
import { createContentHash, hashFromBytes, type ObjectHash } from "../model/object-hash.ts";
import type { VerifyProblem, VerifyReport } from "../model/reports.ts";
import { decodeRules } from "../model/rules.ts";
import { decodeTree, type Tree } from "../model/tree.ts";
import { openStore, type Store } from "../store/store.ts";

/** How thorough to be. */
export interface VerifyOptions {
  readonly full: boolean;
  /** Receives how many objects are checked, and how many there are. */
  readonly progress?: (done: number, total: number) => void;
  /** Receives every sound tree, once. */
  readonly eachTree?: (entries: Tree, name: ObjectHash) => void;
}

/** Verifies a store: its structure, or every byte of it. */
export function verifyStore(store: Store, options: VerifyOptions): VerifyReport {
  const verifier = new Verifier(store, options);
  verifier.run();
  return verifier.report();
}

/** What is wrong with an object or row, before the affected checkpoints are known. */
interface Finding {
  readonly kind: VerifyProblem["kind"];
  readonly detail: string;
}

class Verifier {
  readonly #store: Store;
  readonly #options: VerifyOptions;
  readonly #findings = new Map<string, Finding>();
  readonly #users = new Map<string, Set<CheckpointId>>();
  /** For each tree: the damaged objects at or below it. */
  readonly #damageBelow = new Map<ObjectHash, ReadonlySet<ObjectHash>>();
  readonly #checked = new Map<ObjectHash, boolean>();
  #checkpoints = 0;
  #objects = 0;
  #bytes = 0;

  constructor(store: Store, options: VerifyOptions) {
    this.#store = store;
    this.#options = options;
  }

  run(): void {
    this.#go("pages", () => this.#checkPages());
    this.#go("schema", () => this.#checkSchema());
    this.#go("packs", () => this.#checkPacks());
    this.#go("checkpoints", () => this.#checkCheckpoints());
    this.#go("carried", () => this.#checkCarried());
    this.#go("sessions", () => this.#checkSessions());
    this.#go("log", () => this.#checkLog());
  }

  /** Damage that ends one check does not prevent the others. */
  #go(key: string, check: () => void): void {
    try {
      check();
    } catch (error) {
      if (!(error instanceof EngineError) && (error as NodeJS.ErrnoException).code !== "ERR_SQLITE_ERROR")
        throw error;
      this.#note(key, { kind: "database", detail: (error as Error).message });
    }
  }

  report(): VerifyReport {
    const problems = [...this.#findings].map(([key, finding]): VerifyProblem => ({
      ...finding,
      ...(/^[0-9a-f]{64}$/.test(key) ? { object: key } : {}),
      checkpoints: [...(this.#users.get(key) ?? [])],
    }));
    return {
      ok: problems.length === 0,
      checkpoints: this.#checkpoints,
      objects: this.#objects,
      bytes: this.#bytes,
      problems,
    };
  }

  #checkPages(): void {
    // only the full check compares indexes with their tables
    const check = this.#options.full ? "integrity_check" : "quick_check";
    for (const row of this.#store.db.all(`PRAGMA ${check}(20)`)) {
      const detail = String(Object.values(row)[0]);
      if (detail !== "ok") this.#note(`database ${detail}`, { kind: "database", detail });
    }
  }

  /** SQLite does not notice a renamed table or column. */
  #checkSchema(): void {
    if (readSchema(this.#store) !== soundSchema())
      this.#note("schema", { kind: "database", detail: "The definition of a table is damaged." });
  }

  #checkPacks(): void {
    const { db } = this.#store;
    const lost = db.get(
      "SELECT count(*) AS n FROM object o LEFT JOIN pack p ON p.id = o.pack WHERE p.id IS NULL",
    );
    if (Number(lost?.["n"]) > 0)
      this.#note("packs", {
        kind: "row-invalid",
        detail: `${String(lost!["n"])} objects name a pack that does not exist.`,
      });
    this.#objects = Number(db.get("SELECT count(*) AS n FROM object")?.["n"] ?? 0);
  }

  #checkCheckpoints(): void {
    const { db } = this.#store;
    const seqs = db.all("SELECT seq FROM checkpoint ORDER BY seq DESC").map((row) => Number(row["seq"]));
    for (const seq of seqs) {
      this.#checkpoints += 1;
      this.#checkCheckpoint(seq);
    }
  }

  /** No seal covers these rows: only values that could never have been written are noticed. */
  #checkCarried(): void {
    const isForeign = "typeof(path) <> 'blob' OR typeof(reason) <> 'text'";
    const seqs = this.#store.db.all(
      `SELECT checkpoint FROM gap WHERE ${isForeign} UNION SELECT checkpoint FROM doubt WHERE ${isForeign}`,
    );
    for (const seq of seqs.map((row) => Number(row["checkpoint"])))
      this.#blame(`carried ${seq}`, this.#idOf(seq), {
        kind: "row-invalid",
        detail: `What checkpoint ${seq} left out is damaged.`,
      });
  }

  #checkSessions(): void {
    const rows = this.#store.db.all(
      `SELECT t.id AS thread FROM thread t
         WHERE (SELECT count(*) FROM session s WHERE s.thread = t.id AND s.status = 'active') <> 1`,
    );
    for (const { thread } of rows)
      this.#note(`session ${String(thread)}`, {
        kind: "row-invalid",
        detail: `Conversation ${String(thread)} has not exactly one open session.`,
      });
  }

  #checkLog(): void {
    for (const seq of findBrokenChain(this.#store.db)) {
      this.#note(`log ${seq}`, {
        kind: "log",
        detail: `Entry ${seq} of the log does not follow from the one before it.`,
      });
    }
  }

  #checkCheckpoint(seq: number): void {
    const key = `checkpoint ${seq}`;
    try {
      const checkpoint = checkpointAt(this.#store.db, seq);
      if (checkpoint === undefined) {
        return this.#note(key, {
          kind: "row-invalid",
          detail: `Checkpoint ${seq} is listed but cannot be found.`,
        });
      }
      assertSealed(this.#store.db, checkpoint);
      if (!areChangesSealed(this.#store.db, seq))
        this.#blame(key, checkpoint.id, {
          kind: "row-invalid",
          detail: `The changes of checkpoint ${seq} are damaged.`,
        });
      const damaged = new Set(this.#damageOf(checkpoint.snapshot));
      for (const name of [
        checkpoint.rules,
        checkpoint.excluded,
        ...changedContent(this.#store, seq),
        ...outsideContents(this.#store.db, seq),
      ])
        if (!this.#isSound(name)) damaged.add(name);
      if (!damaged.has(checkpoint.rules))
        decodeRules(this.#store.objects.read(checkpoint.rules), checkpoint.rules);
      for (const name of damaged) this.#use(name, checkpoint.id);
    } catch (error) {
      if (!(error instanceof EngineError) && !(error instanceof SyntaxError)) throw error;
      this.#blame(key, this.#idOf(seq), { kind: "row-invalid", detail: error.message });
    }
  }

  #idOf(seq: number): CheckpointId {
    return String(
      this.#store.db.get("SELECT id FROM checkpoint WHERE seq = ?", seq)?.["id"] ?? "",
    ) as CheckpointId;
  }

  /** The damaged objects at or below a tree; each tree is visited once. */
  #damageOf(tree: ObjectHash): ReadonlySet<ObjectHash> {
    const known = this.#damageBelow.get(tree);
    if (known !== undefined) return known;
    const damaged = new Set<ObjectHash>();
    this.#damageBelow.set(tree, damaged);
    const read = () => decodeTree(this.#store.objects.read(tree), tree);
    let whole: Tree | undefined;
    if (!this.#isSound(tree, () => (whole = read()))) return damaged.add(tree);
    // a file with the same bytes was looked at before
    whole ??= read();
    this.#options.eachTree?.(whole, tree);
    for (const entry of treeSeenHere(this.#store.objects, whole).values()) {
      if (entry.kind === "directory") for (const name of this.#damageOf(entry.hash)) damaged.add(name);
      else if (entry.kind !== "gap" && !this.#isSound(entry.hash)) damaged.add(entry.hash);
    }
    return damaged;
  }

  #isSound(name: ObjectHash, readTree?: () => void): boolean {
    const known = this.#checked.get(name);
    if (known !== undefined) return known;
    const finding = this.#examine(name, readTree);
    if (finding !== undefined) this.#note(name, finding);
    this.#checked.set(name, finding === undefined);
    this.#options.progress?.(this.#checked.size, Math.max(this.#objects, this.#checked.size));
    return finding === undefined;
  }

  #examine(name: ObjectHash, readTree: (() => void) | undefined): Finding | undefined {
    try {
      if (readTree !== undefined) readTree();
      else if (this.#options.full) this.#readWhole(name);
      else if (!this.#store.objects.has(name))
        return { kind: "object-missing", detail: `Object ${name.slice(0, 12)} is missing.` };
      return undefined;
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      const kind =
        error.code === "OBJECT_MISSING"
          ? "object-missing"
          : readTree === undefined
            ? "object-corrupt"
            : "tree-corrupt";
      return { kind, detail: error.message };
    }
  }

  #readWhole(name: ObjectHash): void {
    const whole = createContentHash();
    for (const piece of this.#store.objects.pieces(name)) {
      whole.update(piece);
      this.#bytes += piece.length;
    }
    if (whole.digest() !== name)
      throw new EngineError("OBJECT_CORRUPT", `Object ${name.slice(0, 12)} is damaged.`, {
        object: name,
        checkpoints: [],
      });
  }

  #note(key: string, finding: Finding): void {
    this.#findings.set(key, finding);
  }

  #use(key: string, checkpoint: CheckpointId): void {
    const users = this.#users.get(key) ?? new Set();
    this.#users.set(key, users.add(checkpoint));
  }

  #blame(key: string, checkpoint: CheckpointId, finding: Finding): void {
    this.#note(key, finding);
    this.#use(key, checkpoint);
  }
}

/** What undoing a checkpoint's changes needs; it may be in no snapshot. */
function changedContent({ db }: Store, seq: number): ObjectHash[] {
  if (!areChangesSealed(db, seq)) return [];
  const entries = readCheckpointChanges(db, seq).flatMap((change) => [change.old, change.new]);
  return entries.flatMap((entry) =>
    entry?.kind === "file" || entry?.kind === "symlink" ? [entry.hash] : [],
  );
}

/** The checkpoints that need a damaged or missing object. */
export function findAffected(store: Store, object: string): CheckpointId[] {
  const report = verifyStore(store, { full: false });
  const byObject = report.problems
    .filter((problem) => problem.object === object)
    .flatMap(({ checkpoints }) => checkpoints);
  return byObject.length > 0 ? byObject : findUsers(store, object as ObjectHash);
}

/** The quick check does not notice a blob with damaged bytes: find its users by name. */
function findUsers(store: Store, object: ObjectHash): CheckpointId[] {
  const uses = new Map<ObjectHash, boolean>();
  const usesObject = (tree: ObjectHash): boolean => {
    const known = uses.get(tree);
    if (known !== undefined) return known;
    uses.set(tree, tree === object);
    const found =
      tree === object ||
      [...decodeTree(store.objects.read(tree), tree).values()].some((entry) => {
        if (entry.kind === "gap") return false;
        return (
          entry.hash === object ||
          (entry.kind === "directory" && usesObject(entry.hash)) ||
          (entry.kind === "file" &&
            store.objects.has(entry.hash) &&
            store.objects.pieceNames(entry.hash).includes(object))
        );
      });
    uses.set(tree, found);
    return found;
  };
  const affected: CheckpointId[] = [];
  for (const row of store.db.all("SELECT id, snapshot FROM checkpoint ORDER BY seq DESC")) {
    try {
      if (usesObject(hashFromBytes(row["snapshot"] as Uint8Array)))
        affected.push(String(row["id"]) as CheckpointId);
    } catch (error) {
      // a tree on the way is damaged too: then this checkpoint is affected in any case
      if (!(error instanceof EngineError)) throw error;
      affected.push(String(row["id"]) as CheckpointId);
    }
  }
  return affected;
}

function readSchema({ db }: Store): string {
  return JSON.stringify(
    db.all("SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE type <> 'trigger' ORDER BY type, name"),
  );
}

let knownSchema: string | undefined;

/** The schema of a new store, created once per process. */
function soundSchema(): string {
  if (knownSchema === undefined) {
    using sound = openStore(undefined, { create: true });
    knownSchema = readSchema(sound);
  }
  return knownSchema;
}
