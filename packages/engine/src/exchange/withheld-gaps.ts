/** What was withheld from this store, written down with the checkpoints that name it: every list of gaps shows it. */
import { withheldIn } from "../diff/withheld-in.ts";
import { pathToBytes } from "../model/byte-path.ts";
import { hashFromBytes } from "../model/object-hash.ts";
import type { Store } from "../store/store.ts";

/**
 * Makes the gaps of checkpoints what this store lacks; of all of them, unless one is named. Gaps of another line say what was
 * withheld from that one. Call it in the transaction that adds them.
 */
export function noteWithheldGaps({ db, objects }: Store, checkpoint?: number): void {
  const rows =
    checkpoint === undefined
      ? db.all("SELECT seq, snapshot FROM checkpoint")
      : db.all("SELECT seq, snapshot FROM checkpoint WHERE seq = ?", checkpoint);
  for (const row of rows) {
    const seq = Number(row["seq"]);
    db.run("DELETE FROM gap WHERE checkpoint = ? AND reason = 'withheld'", seq);
    for (const [path, { hash, size }] of withheldIn(objects, hashFromBytes(row["snapshot"] as Uint8Array)))
      if (!objects.has(hash))
        db.run(
          "INSERT OR IGNORE INTO gap (checkpoint, path, reason, size) VALUES (?, ?, 'withheld', ?)",
          seq,
          pathToBytes(path),
          size,
        );
  }
}
