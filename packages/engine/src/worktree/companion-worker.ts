/** The worker behind `ScanCompanion`. */
import { workerData } from "node:worker_threads";
import { below } from "../fs/absolute-path.ts";
import { createNameStat, kindOf } from "../fs/file-stat.ts";
import { MODE_BITS } from "../model/entry.ts";
import { EXCLUDED, RACY, TABLE_KINDS, type FileTable } from "./file-table.ts";
import type { CompanionTask } from "./scan-companion.ts";
import { readStatCache } from "./stat-cache.ts";

const { root, cachePath, checksum, verified, position } = workerData as CompanionTask;
const marks = new Uint8Array(verified);
const reached = new Int32Array(position);

const cache = readStatCache(cachePath);
if (cache?.checksum === checksum) {
  for (let directory = cache.table.directories.length - 1; directory > Atomics.load(reached, 0); directory -= 1) {
    if (isAsBefore(cache.table, directory)) Atomics.store(marks, directory, 1);
  }
}

function isAsBefore(table: FileTable, directory: number): boolean {
  const statOf = createNameStat(below(root, table.directories[directory]!));
  const first = table.firstEntry[directory]!;
  for (let index = first; index < first + table.entryCount[directory]!; index += 1) {
    if (table.flags[index] === RACY) return false;
    if (table.kind[index] === EXCLUDED) continue;
    const stat = statOf(table.names[index]!);
    if (
      stat === undefined ||
      stat.mtimeNs !== table.mtimeNs[index] ||
      stat.ctimeNs !== table.ctimeNs[index] ||
      stat.ino !== table.ino[index] ||
      Number(stat.size) !== table.size[index] ||
      kindOf(stat) !== TABLE_KINDS[table.kind[index]!] ||
      (Number(stat.mode) & MODE_BITS) !== table.mode[index]
    ) {
      return false;
    }
  }
  return true;
}
