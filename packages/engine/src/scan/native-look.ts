/**
 * Speeds up a scan where `native/look.c` was compiled: threads compare directories with the previous scan
 * ahead of it. One `lstat` per entry is nearly all a scan of a big tree does, and from C it takes half the
 * time. The threads only report whole directories as unchanged; the scan examines everything else itself.
 */
import { forSystem, type AbsolutePath } from "../fs/absolute-path.ts";
import { nativeLook } from "../fs/on-demand.ts";
import type { FileTable, TableTexts } from "./file-table.ts";

/** For fewer entries, loading the module takes longer than scanning without it. */
const FEWEST_ENTRIES = 1000;

/** The running threads. The table must not change until this is disposed. */
export interface DirectoryLook extends Disposable {
  /** True when all entries of a directory of the table are as before. */
  isAsBefore(directory: number): boolean;
}

/**
 * Starts the threads; undefined where the module was not compiled, or the tree is too small to gain. With `onlySingle` a
 * file that has another name somewhere counts as changed.
 */
export function beginNativeLook(
  root: AbsolutePath,
  table: FileTable,
  { texts, onlySingle = false }: { texts?: TableTexts | undefined; onlySingle?: boolean } = {},
): DirectoryLook | undefined {
  if (table.length < FEWEST_ENTRIES) return undefined;
  const native = nativeLook();
  if (native === undefined) return undefined;
  const { paths, names } = texts ?? table.texts();
  const look = native.begin(
    table.length,
    onlySingle,
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
