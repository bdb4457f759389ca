/** The rows of a tree of changed files: folders with a single way through them are one row. */
import type { ChangedFile } from "./files.ts";

/** A folder, or a file below one. */
export type TreeRow =
  | { readonly kind: "folder"; readonly folder: string; readonly isOpen: boolean; readonly files: number }
  | { readonly kind: "file"; readonly folder: string; readonly file: ChangedFile };

/** Folders with their files, in the order of the files; a closed folder keeps its files to itself. */
export function treeRows(files: readonly ChangedFile[], closed: ReadonlySet<string>): TreeRow[] {
  return [...byFolder(files)].flatMap(([folder, its]) => {
    const isOpen = !closed.has(folder);
    const rows = isOpen ? its.map((file) => ({ kind: "file" as const, folder, file })) : [];
    return [{ kind: "folder" as const, folder, isOpen, files: its.length }, ...rows];
  });
}

function byFolder(files: readonly ChangedFile[]): Map<string, ChangedFile[]> {
  const folders = new Map<string, ChangedFile[]>();
  for (const file of files) {
    const folder = file.path.slice(0, Math.max(0, file.path.lastIndexOf("/"))) || ".";
    const its = folders.get(folder);
    if (its === undefined) folders.set(folder, [file]);
    else its.push(file);
  }
  return folders;
}

/** What a key does in the tree. */
export type TreeMove =
  | { readonly to: number }
  | { readonly fold: string; readonly isOpen: boolean }
  | { readonly press: number };

/** The answer to a key, as trees have it everywhere; undefined: the key is not the tree's. */
export function treeMove(key: string, rows: readonly TreeRow[], at: number): TreeMove | undefined {
  const row = rows[at];
  const last = rows.length - 1;
  switch (key) {
    case "ArrowDown":
      return { to: Math.min(last, at + 1) };
    case "ArrowUp":
      return { to: Math.max(0, at - 1) };
    case "Home":
      return { to: 0 };
    case "End":
      return { to: last };
    case "Enter":
    case " ":
      return { press: at };
    case "ArrowRight":
      if (row?.kind !== "folder") return { to: at };
      return row.isOpen ? { to: Math.min(last, at + 1) } : { fold: row.folder, isOpen: true };
    case "ArrowLeft":
      if (row?.kind === "folder") return { fold: row.folder, isOpen: false };
      return { to: rows.findIndex((each) => each.kind === "folder" && each.folder === row?.folder) };
    default:
      return undefined;
  }
}
