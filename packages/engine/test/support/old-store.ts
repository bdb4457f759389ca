/**
 * Stores as earlier versions wrote them. Format 1: two files, a thread with two turns of which one is undone, a named
 * checkpoint. Format 2: three files, a thread whose turn is over, a turn that is undone, and a thread that was
 * interrupted while its tool ran. Format 3: that, with an approved session, a path that git ignores and a tool named, a
 * restore, a name, a note and a tag.
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { gunzipSync } from "node:zlib";

/** The formats before the present one. */
export const OLD_FORMATS = [1, 2, 3] as const;
export type OldFormat = (typeof OLD_FORMATS)[number];

/** Puts one in the place of a workspace's own, which must be closed. */
export function putOldStore(
  { id, store }: { readonly id: string; readonly store: string },
  format: OldFormat = 1,
): void {
  const fixture = join(import.meta.dirname, `../fixtures/store-v${format}.db.gz`);
  for (const name of readdirSync(store)) rmSync(join(store, name));
  writeFileSync(join(store, "store.db"), gunzipSync(readFileSync(fixture)));
  using db = new DatabaseSync(join(store, "store.db"));
  assert.equal(db.prepare("PRAGMA user_version").get()!["user_version"], format);
  db.prepare("UPDATE meta SET value = ? WHERE key = 'workspace_id'").run(id);
}
