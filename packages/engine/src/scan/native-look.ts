/**
 * A scan's help, where it was compiled (`native/look.c`): threads that compare directories with what they were while
 * the scan comes along behind them. One `lstat` an entry is nearly all a scan of a big tree does, and from C it takes
 * half the time. They only ever say "as before" of a whole directory; everything else the scan looks at itself.
 */
import { forSystem, type AbsolutePath } from "../fs/absolute-path.ts";
import { nativeLook } from "../fs/on-demand.ts";
import type { FileTable, TableTexts } from "./file-table.ts";

/** To load it takes longer than to look at fewer entries without. */
const FEWEST_ENTRIES = 1000;

/** The table must stay as it is until the look is disposed of. */
export interface DirectoryLook extends Disposable {
  /** Tells of a directory of the table whether all its entries are as they were. */
  isAsBefore(directory: number): boolean;
}

/** Starts the threads; undefined where the helper was not compiled, or the tree is too small to gain by it. */
export function beginNativeLook(
  root: AbsolutePath,
  table: FileTable,
  texts?: TableTexts,
): DirectoryLook | undefined {
  if (table.length < FEWEST_ENTRIES) return undefined;
  const native = nativeLook();
  if (native === undefined) return undefined;
  const { paths, names } = texts ?? table.texts();
  const look = native.begin(
    table.length,
    Buffer.from(forSystem(root)),
    paths,
    names,
    Uint32Array.from(table.firstEntry),
    Uint32Array.from(table.entryCount),
    table.kind,
    table.flags,
    table.mode,
    table.size,
    table.mtimeNs,
    table.ctimeNs,
    table.ino,
  );
  if (look === undefined) return undefined;
  return {
    isAsBefore: (directory) => native.isAsBefore(look, directory),
    [Symbol.dispose]: () => native.end(look),
  };
}
