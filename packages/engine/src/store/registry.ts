/**
 * Which directory belongs to which store, for all workspaces of one user. A directory is known by its path
 * and by its identity (device, inode, birth time), so that a moved directory finds its store again and a
 * replaced one is noticed. A workspace's root is its first working copy; its forks are further ones, with the same store.
 * A lost registry is rebuilt from the stores, which know their working copies.
 */
import { below, forSystem, realPath, type AbsolutePath } from "../fs/absolute-path.ts";
import { makePrivateDirectory } from "../fs/durable-file.ts";
import { explainSystemError } from "../fs/system-error.ts";
import { kindOf, statNode } from "../fs/file-stat.ts";
import { listDirectory } from "../fs/list-directory.ts";
import { whileUnchanged } from "../fs/while-unchanged.ts";
import { EngineError } from "../model/errors.ts";
import type { WorkspaceId } from "../model/ids.ts";
import type { System } from "../model/system.ts";
import { closingOnError, MAIN_WORKING_COPY, openDatabase, type Database, type Row } from "./database.ts";
import { hasRoots, writeRoots } from "./protected-roots.ts";
import { REGISTRY_MIGRATIONS } from "./schema.ts";
import { openStore, readForkRoots, readMeta, readRoot } from "./store.ts";

/** What identifies a directory apart from its path. */
export interface RootIdentity {
  readonly dev: string;
  readonly ino: string;
  readonly birth: string;
}

/** A workspace as the registry knows it. */
export interface RegisteredWorkspace extends RootIdentity {
  readonly id: WorkspaceId;
  /** The store's directory below `$BELAY_HOME/workspaces`. */
  readonly store: string;
  readonly path: AbsolutePath;
  readonly createdAt: number;
  /** When `belay uninstall` ended the protection; null while protected. The store is kept. */
  readonly endedAt: number | null;
  /** Which working copy of the workspace the directory is. */
  readonly workingCopy: number;
}

/** A directory whose store was attached to another one. */
export interface Departure {
  readonly workspace: WorkspaceId;
  readonly at: number;
}

/** The identity of a directory; undefined when there is none at the path. */
export function rootIdentity(path: AbsolutePath): RootIdentity | undefined {
  const stat = statNode(path);
  if (stat === undefined || kindOf(stat) !== "directory") return undefined;
  return { dev: String(stat.dev), ino: String(stat.ino), birth: String(stat.birthtimeNs) };
}

/** A workspace whose protection begins now, as it is added to the registry; `store` names its directory. */
export function newWorkspace(
  root: AbsolutePath,
  { newId, now }: System,
  store: (id: WorkspaceId) => string,
): RegisteredWorkspace {
  const id = newId() as WorkspaceId;
  return {
    id,
    store: store(id),
    path: root,
    ...rootIdentity(root)!,
    createdAt: now(),
    endedAt: null,
    workingCopy: MAIN_WORKING_COPY,
  };
}

/**
 * Caches a value read from the registry while its files stay the same: opening it takes longer than a live
 * capture.
 */
export function whileRegistryUnchanged<Value>(home: AbsolutePath, read: () => Value): () => Value {
  return whileUnchanged(
    ["registry.db", "registry.db-wal"].map((name) => below(home, name)),
    read,
  );
}

/** The open registry of one user. */
export class Registry implements Disposable {
  readonly #db: Database;
  readonly #home: AbsolutePath;

  constructor(db: Database, home: AbsolutePath) {
    this.#db = db;
    this.#home = home;
  }

  /** All workspaces by their roots, including those no longer protected. */
  list(): RegisteredWorkspace[] {
    return this.listCopies().filter(({ workingCopy }) => workingCopy === MAIN_WORKING_COPY);
  }

  /** All working copies: the roots of workspaces, and their forks. */
  listCopies(): RegisteredWorkspace[] {
    return this.#db.all(`${SELECT_COPIES} ORDER BY path`).map(toWorkspace);
  }

  byPath(path: AbsolutePath): RegisteredWorkspace | undefined {
    return first(this.#db.all(`SELECT * FROM (${SELECT_COPIES}) WHERE path = ?`, bytesOf(path)));
  }

  byIdentity({ dev, ino, birth }: RootIdentity): RegisteredWorkspace | undefined {
    const rows = this.#db.all(
      `SELECT * FROM (${SELECT_COPIES}) WHERE dev = ? AND ino = ? AND birth = ?`,
      dev,
      ino,
      birth,
    );
    return first(rows);
  }

  /** Adds a workspace. If another process was faster, returns the one that is registered. */
  add(workspace: RegisteredWorkspace): RegisteredWorkspace {
    const { id, store, path, dev, ino, birth, createdAt } = workspace;
    return this.#change(() => {
      this.#db.run(
        "INSERT OR IGNORE INTO workspace (id, store, path, dev, ino, birth, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
        id,
        store,
        bytesOf(path),
        dev,
        ino,
        birth,
        createdAt,
      );
      // a fork of a workspace that is no longer protected
      this.#db.run("DELETE FROM fork WHERE path = ?", bytesOf(path));
      this.#db.run("DELETE FROM departure WHERE path = ?", bytesOf(path));
      return this.byPath(path) ?? workspace;
    });
  }

  /** Adds a fork of a workspace, and the first of the ports that are its own. */
  addFork(fork: RegisteredWorkspace, port: number | null = null): void {
    const { id, workingCopy, path, dev, ino, birth, createdAt } = fork;
    this.#change(() =>
      this.#db.run(
        `INSERT OR REPLACE INTO fork (workspace, working_copy, path, dev, ino, birth, created_at, port)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
        id,
        workingCopy,
        bytesOf(path),
        dev,
        ino,
        birth,
        createdAt,
        port,
      ),
    );
  }

  /** Forgets where a fork was: it is in the trash, or gone. */
  removeFork({ id, workingCopy }: Pick<RegisteredWorkspace, "id" | "workingCopy">): void {
    this.#change(() =>
      this.#db.run("DELETE FROM fork WHERE workspace = ? AND working_copy = ?", id, workingCopy),
    );
  }

  /** The first ports of all forks, whichever workspace they belong to. */
  forkPorts(): Set<number> {
    return new Set(
      this.#db.all("SELECT port FROM fork WHERE port IS NOT NULL").map((row) => Number(row["port"])),
    );
  }

  /** Records where a working copy is now and protects it. */
  move(
    { id, workingCopy }: Pick<RegisteredWorkspace, "id" | "workingCopy">,
    path: AbsolutePath,
    { dev, ino, birth }: RootIdentity,
  ): void {
    const isRoot = workingCopy === MAIN_WORKING_COPY;
    this.#change(() => {
      this.#db.run(
        isRoot
          ? "UPDATE workspace SET path = ?, dev = ?, ino = ?, birth = ?, ended_at = NULL WHERE id = ?"
          : "UPDATE fork SET path = ?, dev = ?, ino = ?, birth = ? WHERE workspace = ? AND working_copy = ?",
        bytesOf(path),
        dev,
        ino,
        birth,
        ...(isRoot ? [id] : [id, workingCopy]),
      );
      this.#db.run("DELETE FROM departure WHERE path = ?", bytesOf(path));
    });
  }

  /** Ends the protection of a directory and keeps its store. */
  end(id: WorkspaceId, now: number): void {
    this.#change(() => this.#db.run("UPDATE workspace SET ended_at = ? WHERE id = ?", now, id));
  }

  /** Records where the store of this directory went, for commands that look for it there. */
  noteDeparture(path: AbsolutePath, { workspace, at }: Departure): void {
    this.#db.transaction(() =>
      this.#db.run(
        "INSERT OR REPLACE INTO departure (path, workspace, at) VALUES (?, ?, ?)",
        bytesOf(path),
        workspace,
        at,
      ),
    );
  }

  departureFrom(path: AbsolutePath): Departure | undefined {
    const row = this.#db.get("SELECT workspace, at FROM departure WHERE path = ?", bytesOf(path));
    return row && { workspace: String(row["workspace"]) as WorkspaceId, at: Number(row["at"]) };
  }

  remove(id: WorkspaceId): void {
    this.#change(() => this.#db.run("DELETE FROM workspace WHERE id = ?", id));
  }

  /** Creates a missing list of roots, or removes surplus directories from it. Failing is harmless. */
  tidyRoots({ missingOnly }: { missingOnly: boolean }): void {
    try {
      if (missingOnly && hasRoots(this.#home)) return;
      this.#db.transaction(() => writeRoots(this.#home, this.#protected()));
    } catch {
      // the list is missing or has surplus entries, as before
    }
  }

  /**
   * [R170] Until the change is durable, the list of roots holds what is protected before it and after it. If
   * the list can be neither written nor removed it would lack the new directory, so the change is refused.
   */
  #change<Result>(work: () => Result): Result {
    const result = this.#db.transaction(() => {
      const before = this.#protected();
      const done = work();
      writeRoots(this.#home, [...before, ...this.#protected()]);
      return done;
    });
    this.tidyRoots({ missingOnly: false });
    return result;
  }

  #protected(): RegisteredWorkspace[] {
    return this.listCopies().filter(({ endedAt }) => endedAt === null);
  }

  [Symbol.dispose](): void {
    this.#db.close();
  }
}

/** A fork is protected as long as its workspace is. */
const SELECT_COPIES = `SELECT id, store, path, dev, ino, birth, created_at, ended_at, ${MAIN_WORKING_COPY} AS working_copy FROM workspace
  UNION ALL SELECT w.id, w.store, f.path, f.dev, f.ino, f.birth, f.created_at, w.ended_at, f.working_copy
    FROM fork f JOIN workspace w ON w.id = f.workspace`;

/** Opens `$BELAY_HOME/registry.db`, creating both if needed. */
export function openRegistry(home: AbsolutePath, userId: number | undefined): Registry {
  makeHome(home);
  assertPrivate(home, userId);
  const db = openDatabase(below(home, "registry.db"), { migrations: REGISTRY_MIGRATIONS, create: true });
  const registry = new Registry(db, home);
  closingOnError(db, () => {
    if (db.readOnly) return;
    if (registry.list().length === 0) rebuild(registry, home);
    registry.tidyRoots({ missingOnly: true });
  });
  return registry;
}

function makeHome(home: AbsolutePath): void {
  const path = String(forSystem(home));
  try {
    makePrivateDirectory(below(home, "workspaces"));
  } catch (error) {
    throw explainSystemError(error, {
      what: `The store cannot be kept in ${path}`,
      path,
      operation: "store",
    });
  }
}

/** Every store knows its working copies: a lost registry is rebuilt from them. */
function rebuild(registry: Registry, home: AbsolutePath): void {
  const found = storeDirectories(home).flatMap((directory) => identify(home, directory));
  // of several stores with the same root (one may be left from an interrupted init), the fullest
  for (const { checkpoints: _, forks, ...workspace } of found.sort((a, b) => b.checkpoints - a.checkpoints)) {
    if (registry.add(workspace).id === workspace.id)
      for (const { port, ...fork } of forks) registry.addFork(fork, port);
  }
}

interface FoundStore extends RegisteredWorkspace {
  readonly checkpoints: number;
  readonly forks: readonly (RegisteredWorkspace & { readonly port: number | null })[];
}

function identify(home: AbsolutePath, directory: string): FoundStore[] {
  try {
    using store = openStore(below(home, `workspaces/${directory}`), { create: false });
    const [id, path] = [readMeta(store.db, "workspace_id"), readRoot(store.db)];
    if (id === undefined || path === undefined) return [];
    const checkpoints = Number(store.db.get("SELECT count(*) AS n FROM checkpoint")?.["n"]);
    const placed = (workingCopy: number, root: AbsolutePath): RegisteredWorkspace => {
      const identity = rootIdentity(root) ?? { dev: "", ino: "", birth: "" };
      const known = { id: id as WorkspaceId, store: directory, path: root, ...identity };
      return { ...known, createdAt: 0, endedAt: null, workingCopy };
    };
    const forks = readForkRoots(store.db).map(({ workingCopy, root, port }) => ({
      ...placed(workingCopy, root),
      port,
    }));
    return [{ ...placed(MAIN_WORKING_COPY, path), checkpoints, forks }];
  } catch (error) {
    // a missing or damaged store does not hide the others
    if (error instanceof EngineError) return [];
    throw error;
  }
}

/** A store that other users can write is not trusted. A symbolic link has no mode of its own: what it leads to counts. */
function assertPrivate(home: AbsolutePath, userId: number | undefined): void {
  const node = statNode(home);
  if (node === undefined || userId === undefined) return;
  const stat = node.isSymbolicLink() ? statNode(realPath(home)) : node;
  const reason = [node, stat].some((each) => Number(each?.uid ?? userId) !== userId)
    ? "it belongs to another user"
    : ((stat?.mode ?? 0n) & 0o022n) !== 0n
      ? "other users can write to it"
      : undefined;
  if (reason === undefined) return;
  const store = String(forSystem(home));
  throw new EngineError("STORE_UNSAFE", `${store} is not used: ${reason}. Nothing was changed.`, {
    store,
    reason,
  });
}

/** Store directories that exist, registered or not. */
export function storeDirectories(home: AbsolutePath): string[] {
  const workspaces = below(home, "workspaces");
  return statNode(workspaces) === undefined ? [] : listDirectory(workspaces);
}

function bytesOf(path: AbsolutePath): Buffer {
  return Buffer.from(path, "latin1");
}

function first(rows: Row[]): RegisteredWorkspace | undefined {
  return rows[0] === undefined ? undefined : toWorkspace(rows[0]);
}

function toWorkspace(row: Row): RegisteredWorkspace {
  return {
    id: String(row["id"]) as WorkspaceId,
    store: String(row["store"]),
    path: Buffer.from(row["path"] as Uint8Array).toString("latin1") as AbsolutePath,
    dev: String(row["dev"]),
    ino: String(row["ino"]),
    birth: String(row["birth"]),
    createdAt: Number(row["created_at"]),
    endedAt: row["ended_at"] === null ? null : Number(row["ended_at"]),
    workingCopy: Number(row["working_copy"]),
  };
}
