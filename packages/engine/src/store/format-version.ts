/** The format version of a database. A newer one was written by a newer Belay. */
import { EngineError } from "../model/errors.ts";

interface Readable {
  get(sql: string): Readonly<Record<string, unknown>> | undefined;
}

/** The format version that a database declares. */
export function readVersion(database: Readable): number {
  return Number(database.get("PRAGMA user_version")?.["user_version"] ?? 0);
}

/**
 * [R20] Refuses a newer format. Inside a transaction no migration can happen between this check and the
 * writes.
 */
export function assertKnownFormat(
  database: Readable,
  { store, supported }: { store: string; supported: number },
): void {
  const version = readVersion(database);
  if (version <= supported) return;
  throw new EngineError(
    "STORE_NEWER",
    `The store ${store} was written by a newer Belay (format ${version}, this one knows ${supported}). Nothing was changed.`,
    { store, version, supported },
  );
}
