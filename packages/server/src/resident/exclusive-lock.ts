/**
 * At most one resident process per user. The lock is a database's, which the system releases when its holder
 * dies.
 */
import type { DatabaseSync } from "node:sqlite";

/** A lock that ends with its process. */
export class ExclusiveLock implements Disposable {
  readonly #database: DatabaseSync;

  private constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** undefined when another process holds it longer than `patienceMs`. */
  static take(path: string, patienceMs = 0): ExclusiveLock | undefined {
    const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
    const database = new DatabaseSync(path, { timeout: patienceMs });
    try {
      database.exec("BEGIN EXCLUSIVE");
      return new ExclusiveLock(database);
    } catch (error) {
      database.close();
      if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return undefined;
      throw error;
    }
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}

const SQLITE_BUSY = 5;
