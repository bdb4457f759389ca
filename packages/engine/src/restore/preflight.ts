/**
 * Everything that can be known to fail is found before the first change: space, permissions, immutable
 * files, names the file system would confuse.
 */
import { below, type AbsolutePath } from "../fs/absolute-path.ts";
import { kindOf, statNode } from "../fs/file-stat.ts";
import { createFile, freeBytes, removeName, whyRefused, whyUnwritable } from "../fs/mutate.ts";
import { ancestorPaths, displayPath, parentPath, pathToBytes, type BytePath } from "../model/byte-path.ts";
import { EngineError } from "../model/errors.ts";
import type { Edit } from "../model/plan.ts";
import { statNodeBelow } from "../capture/node-state.ts";
import { needsContent, PROBE, type Stage } from "./stage.ts";

/** Room for the journal, the new checkpoint and directory blocks on top of the staged content. */
const SPARE_BYTES = 1024 * 1024;

interface Problem {
  readonly path: string;
  readonly reason: string;
}

/** Throws `PREFLIGHT_FAILED` with every problem found; nothing has been touched then. Best effort skips single paths later. */
export function preflight(root: AbsolutePath, edits: readonly Edit[], bestEffort: boolean): void {
  const problems = [...findSpaceProblem(root, edits), ...findUnwritable(root, bestEffort ? [] : edits)];
  if (problems.length > 0) throw failed(problems);
}

function findSpaceProblem(root: AbsolutePath, edits: readonly Edit[]): Problem[] {
  let needed = 0;
  for (const { from, to } of edits)
    if (to?.kind === "file" && needsContent(from, to)) needed += Math.ceil(to.size * 1.1);
  // [R163] what only takes away needs no space here; the store has its reserve
  if (needed === 0) return [];
  needed += SPARE_BYTES;
  const free = freeBytes(root);
  if (free >= needed) return [];
  return [{ path: ".", reason: `not enough space: ${needed} bytes are needed, ${free} are free` }];
}

function findUnwritable(root: AbsolutePath, edits: readonly Edit[]): Problem[] {
  const problems = new Map<BytePath, string>();
  const note = (path: BytePath, code: string | undefined) => {
    if (code !== undefined && code !== "ENOENT" && code !== "ENOTDIR") problems.set(path, whyRefused(code));
  };
  note("" as BytePath, whyUnwritable(root, true));
  for (const directory of new Set(edits.map(({ path }) => parentPath(path)))) {
    // a file or link that stands there or above now will have made way for the directory
    if (isRealDirectory(root, directory)) note(directory, whyUnwritable(below(root, directory), true));
  }
  for (const { path, from } of edits) {
    if (from?.kind !== "file") continue;
    const code = whyUnwritable(below(root, path), false);
    // a read-only file can still be replaced; an immutable one cannot
    if (code === "EPERM") note(path, code);
  }
  return [...problems].map(([path, reason]) => ({ path: displayPath(path) || ".", reason }));
}

function isRealDirectory(root: AbsolutePath, directory: BytePath): boolean {
  return [...ancestorPaths(directory), directory].every((path) => {
    const stat = statNodeBelow(below(root, path));
    return stat !== undefined && kindOf(stat) === "directory";
  });
}

/** On a file system that folds case or Unicode forms, refuses names that would land on one another. */
export function refuseClashes(stage: Stage, edits: readonly Edit[]): void {
  const created = edits.filter(({ from, to }) => from === undefined && to !== undefined);
  if (created.length === 0 || !foldsNames(stage)) return;
  const seen = new Map<string, BytePath>();
  const problems: Problem[] = [];
  for (const { path } of created) {
    const folded = pathToBytes(path).toString("utf8").normalize("NFC").toLowerCase();
    const other = seen.get(folded);
    if (other === undefined) seen.set(folded, path);
    else
      problems.push({
        path: displayPath(path),
        reason: `on this file system it is the same name as ${displayPath(other)}`,
      });
  }
  if (problems.length > 0) throw failed(problems);
}

function foldsNames(stage: Stage): boolean {
  const probe = stage.at(PROBE);
  createFile(probe, [], { mode: 0o600, sync: false });
  const folded = statNode(stage.at(PROBE.toUpperCase()));
  removeName(probe);
  return folded !== undefined && kindOf(folded) === "file";
}

function failed(problems: readonly Problem[]): EngineError<"PREFLIGHT_FAILED"> {
  const first = problems[0]!;
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : "";
  return new EngineError(
    "PREFLIGHT_FAILED",
    `This cannot be carried out: ${first.path}: ${first.reason}${more}. Nothing was changed.`,
    {
      problems: [...problems],
    },
  );
}
