/** Files that a program wrote: a conflict in one is settled by running that program again. */
import { baseName, type BytePath } from "../model/byte-path.ts";

const HEAD_BYTES = 2048;

/** True for minified files and test snapshots by their name, and for files that say so at their beginning. */
export function isGenerated(path: BytePath, content: Buffer): boolean {
  if (/\.min\.\w+$/.test(baseName(path)) || /\.snap$|(^|\/)__snapshots__\//.test(path)) return true;
  return /@generated\b|\bDO NOT EDIT\b/.test(content.toString("latin1", 0, HEAD_BYTES));
}
