/** A store as the first version wrote it: two files, a thread with two turns of which one is undone, a named checkpoint. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { gunzipSync } from "node:zlib";

const FIRST = join(import.meta.dirname, "../fixtures/store-v1.db.gz");

/** Puts it in the place of a workspace's own, which must be closed. */
export function putOldStore({ id, store }: { readonly id: string; readonly store: string }): void {
  for (const name of readdirSync(store)) rmSync(join(store, name));
  writeFileSync(join(store, "store.db"), gunzipSync(readFileSync(FIRST)));
  using db = new DatabaseSync(join(store, "store.db"));
  assert.equal(db.prepare("PRAGMA user_version").get()!["user_version"], 1);
  db.prepare("UPDATE meta SET value = ? WHERE key = 'workspace_id'").run(id);
}
