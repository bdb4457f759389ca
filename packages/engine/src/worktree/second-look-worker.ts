/** The helping thread of a scan: compares directories with what they were, from the last one on, until the scan meets it. */
import { parentPort } from "node:worker_threads";
import { below } from "../fs/absolute-path.ts";
import { createNameStat } from "../fs/file-stat.ts";
import type { BytePath } from "../model/byte-path.ts";
import { CLAIM, type LookTask } from "./second-look-protocol.ts";
import { areAsBefore } from "./stat-columns.ts";

parentPort!.once("message", ({ root, table, claims }: LookTask) => {
  const columns = { ...table, names: texts(table.names) };
  const directories = texts(table.directories) as BytePath[];
  let first = columns.names.length;
  for (let directory = directories.length - 1; directory >= 0; directory -= 1) {
    const count = table.entryCount[directory]!;
    first -= count;
    if (Atomics.compareExchange(claims, directory, CLAIM.free, CLAIM.second) !== CLAIM.free) return;
    const statOf = createNameStat(below(root, directories[directory]!));
    const verdict = areAsBefore(columns, first, count, statOf) ? CLAIM.same : CLAIM.other;
    Atomics.store(claims, directory, verdict);
    Atomics.notify(claims, directory);
  }
});

function texts(bytes: Uint8Array): string[] {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1").split("\0");
}
