/**
 * Imports that a merge would break: one side imports a file that the other deleted or moved. Each side is whole, and no
 * line is in conflict, so only the imports themselves show it.
 */
import { isUtf8 } from "node:buffer";
import { baseName, displayPath, pathFromText, type BytePath } from "../model/byte-path.ts";
import type { Entry } from "../model/entry.ts";
import type { ConflictFact } from "../model/merge.ts";
import type { ChangeSet, PathConflict } from "./change-set.ts";
import type { Import, Syntax } from "./syntax.ts";

/** Turns every file whose import would lead nowhere into a conflict. */
export function findLostModules(set: ChangeSet): void {
  const { syntax } = set.input;
  if (syntax === undefined) return;
  for (const [side, other] of [
    ["ours", "theirs"],
    ["theirs", "ours"],
  ] as const) {
    const gone = deletedBy(set, other);
    if (gone.size === 0) continue;
    const words = new Set([...gone].flatMap((path) => wordsOf(path)));
    for (const { path, to } of set[side].values()) {
      if (to?.kind !== "file") continue;
      const lost = lostBy(set, syntax, { path, side, gone, words });
      if (lost.length > 0) holdBack(set, path, lost);
    }
  }
}

/** Files that only this side deleted, and that the result does not have. */
function deletedBy(set: ChangeSet, side: "ours" | "theirs"): Set<BytePath> {
  const gone = [...set[side].values()].filter(
    ({ path, from, to }) => from?.kind === "file" && to === undefined && set.resultAt(path) === undefined,
  );
  return new Set(gone.map(({ path }) => path));
}

/** The names by which code may import a file: its own, and that of its directory for an index file. */
function wordsOf(path: BytePath): string[] {
  return path
    .split("/")
    .slice(-2)
    .map((name) => name.replace(/\.\w+$/, ""));
}

interface Lost {
  readonly imported: Import;
  readonly module: BytePath;
  /** Who deleted the module. */
  readonly by: "ours" | "theirs";
}

function lostBy(
  set: ChangeSet,
  syntax: Syntax,
  file: { path: BytePath; side: "ours" | "theirs"; gone: Set<BytePath>; words: Set<string> },
): Lost[] {
  const { path, side, gone, words } = file;
  const text = textOf(set, set.resultAt(path));
  if (text === undefined || !words.values().some((word) => text.includes(word))) return [];
  const by = side === "ours" ? "theirs" : "ours";
  const importsOf = (content: string | undefined) =>
    content === undefined ? [] : (syntax.imports(displayPath(path), content) ?? []);
  // a side that still imports what it deleted was broken before
  const known = new Set(
    importsOf(textOf(set, by === "ours" ? set.oursAt(path) : set.theirsAt(path))).map(
      ({ specifier }) => specifier,
    ),
  );
  return importsOf(text).flatMap((imported) => {
    const candidates = imported.candidates.map(pathFromText);
    const module = candidates.find((candidate) => gone.has(candidate));
    const isThere = candidates.some(
      (candidate) => isChanged(set, candidate) && set.resultAt(candidate) !== undefined,
    );
    return module === undefined || isThere || known.has(imported.specifier) ? [] : [{ imported, module, by }];
  });
}

function isChanged(set: ChangeSet, path: BytePath): boolean {
  return set.ours.has(path) || set.theirs.has(path) || set.edits.has(path);
}

function textOf(set: ChangeSet, entry: Entry | undefined): string | undefined {
  if (entry?.kind !== "file") return undefined;
  const content = set.input.read(entry);
  return isUtf8(content) && !content.includes(0) ? content.toString() : undefined;
}

/** What an earlier stage found out about the three versions: of a moved file they are not all at one path. */
function pick({ otherPath, base, ours, theirs }: PathConflict): Partial<PathConflict> {
  return { otherPath, base, ours, theirs };
}

function holdBack(set: ChangeSet, path: BytePath, lost: readonly Lost[]): void {
  const facts = lost.map(({ imported, module, by }): ConflictFact => ({
    code: "module",
    line: imported.line,
    detail: `${by} deleted or moved ${displayPath(module)}, which ${by === "ours" ? "theirs" : "ours"} imports (line ${imported.line})`,
  }));
  const known = set.conflicts.get(path);
  const result = set.resultAt(path);
  const versions = {
    base: (set.ours.get(path) ?? set.theirs.get(path))!.from,
    ours: set.oursAt(path),
    theirs: set.theirsAt(path),
  };
  set.conflict({
    taken: false,
    kind: known?.kind ?? "content",
    severity: "critical",
    facts: [...facts, ...(known?.facts ?? [])],
    regions: known?.regions ?? [],
    options: known?.options ?? ["ours", "theirs", "proposal"],
    proposal: known === undefined ? set.input.read(result!) : known.proposal,
    path,
    ...versions,
    ...(known === undefined ? {} : pick(known)),
  });
  for (const { module, by } of lost) {
    // while the import is undecided, what it needs stays
    if (by !== "theirs" || !set.edits.delete(module)) continue;
    set.leave(module, `${displayPath(baseName(path))} still imports it`);
  }
}
