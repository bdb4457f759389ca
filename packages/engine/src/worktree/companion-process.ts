/** The process behind `ScanCompanion`: root and cache in its arguments, the board at descriptor 3. */
import { argv } from "node:process";
import { below, type AbsolutePath } from "../fs/absolute-path.ts";
import { createNameStat, kindOf } from "../fs/file-stat.ts";
import { SharedBytes } from "../fs/shared-bytes.ts";
import { MODE_BITS } from "../model/entry.ts";
import { EXCLUDED, RACY, TABLE_KINDS, type FileTable } from "./file-table.ts";
import { BOARD } from "./scan-companion.ts";
import { readStatCache } from "./stat-cache.ts";

const STRIDE = 16;
const MARK = Buffer.from([1]);

const [root, cachePath] = argv.slice(2).map((hex) => Buffer.from(hex, "hex").toString("latin1") as AbsolutePath);
const cache = cachePath === undefined ? undefined : readStatCache(cachePath);
if (root !== undefined && cache?.checksum !== undefined) verifyBackwards(new SharedBytes(3), root, cache.table, cache.checksum);

function verifyBackwards(board: SharedBytes, top: AbsolutePath, table: FileTable, checksum: string): void {
  board.write(Buffer.from(checksum, "hex"), BOARD.checksum);
  const position = Buffer.alloc(4);
  for (let directory = table.directories.length - 1; directory > position.readInt32LE(); directory -= 1) {
    if (isAsBefore(top, table, directory)) board.write(MARK, BOARD.marks + directory);
    if (directory % STRIDE === 0) board.read(position, BOARD.position);
  }
}

function isAsBefore(top: AbsolutePath, table: FileTable, directory: number): boolean {
  const statOf = createNameStat(below(top, table.directories[directory]!));
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
