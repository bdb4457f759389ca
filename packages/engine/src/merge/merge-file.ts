/**
 * Merges the content of one path. Taken without asking is only what is certain: changes with an unchanged line between
 * them, and changes of layout, in a result that parses and loses no name. Everything else is a conflict with its facts,
 * and, where the changes can be joined at all, a proposal.
 */
import { isUtf8 } from "node:buffer";
import { joinLines, splitLines } from "../diff/lines.ts";
import type { BytePath } from "../model/byte-path.ts";
import type { ConflictFact, ConflictRegion, MergeOption } from "../model/merge.ts";
import { checkResult } from "./check-result.ts";
import { classifyRegion, type SameSyntax, type Versions } from "./classify-region.ts";
import { isGenerated } from "./generated-files.ts";
import { isLockFile, isSoundLock } from "./lock-files.ts";
import { mergePieces } from "./merge3.ts";
import { isNotebook, mergeNotebook } from "./notebook.ts";
import type { Syntax } from "./syntax.ts";
import { BOTH_FILES, contested, type Contested, type Taken } from "./verdict.ts";

/** Three contents of one path; without a base, both sides added it. */
export interface FileVersions {
  readonly path: BytePath;
  readonly base: Buffer | undefined;
  readonly ours: Buffer;
  readonly theirs: Buffer;
  /** True when the project itself calls the file generated. */
  readonly isGenerated?: boolean;
}

/** Merges one file's content. */
export function mergeFile(file: FileVersions, syntax: Syntax | undefined): Taken | Contested {
  const { path, base = EMPTY, ours, theirs } = file;
  if ([base, ours, theirs].some((content) => content.includes(0)))
    return contested({ kind: "binary", fact: "both sides changed a binary file", options: BOTH_FILES });
  const notebook = isNotebook(path) ? mergeNotebook({ base, ours, theirs }) : undefined;
  if (notebook !== undefined) return notebook;
  const merged = mergeByLines(file, syntax);
  if (isLockFile(path)) return asLock(path, merged);
  const isMade = file.isGenerated === true || isGenerated(path, ours) || isGenerated(path, theirs);
  return isMade ? asGenerated(merged) : judge(file, merged, syntax);
}

const EMPTY = Buffer.alloc(0);

interface MergedLines {
  readonly regions: readonly ConflictRegion[];
  /** undefined where a region overlaps */
  readonly content: Buffer | undefined;
}

function mergeByLines(
  { path, base = EMPTY, ours, theirs }: FileVersions,
  syntax: Syntax | undefined,
): MergedLines {
  const versions: Versions = { base: splitLines(base), ours: splitLines(ours), theirs: splitLines(theirs) };
  const regions: ConflictRegion[] = [];
  const lines: string[] = [];
  const sameSyntax: SameSyntax = (a, b) =>
    isUtf8(a) && isUtf8(b) ? syntax?.sameSyntax(path, a.toString(), b.toString()) : undefined;
  for (const piece of mergePieces(versions.base, versions.ours, versions.theirs)) {
    if (piece.conflict === undefined) {
      for (const line of piece.lines) lines.push(line);
      continue;
    }
    const { conflict } = piece;
    const region = classifyRegion(versions, conflict, sameSyntax);
    for (const line of region.lines ?? []) lines.push(line);
    regions.push({
      class: region.class,
      base: [conflict.base.start, conflict.base.end],
      ours: [conflict.ours.start, conflict.ours.end],
      theirs: [conflict.theirs.start, conflict.theirs.end],
    });
  }
  const isWhole = regions.every((region) => region.class !== "overlap");
  return { regions, content: isWhole ? joinLines(lines) : undefined };
}

function asLock(path: BytePath, { regions, content }: MergedLines): Taken | Contested {
  if (regions.length === 0 && isSoundLock(path, content!.toString()))
    return { taken: true, content: content!, severity: "medium", how: "lock" };
  const fact = "both sides changed a lock file; generate it again from the merged manifest";
  return { ...contested({ kind: "lock", fact, severity: "medium", options: SIDES }), regions };
}

function asGenerated({ regions, content }: MergedLines): Taken | Contested {
  if (regions.length === 0) return { taken: true, content: content!, severity: "medium", how: "lines" };
  const fact = "both sides changed a generated file; generate it again";
  return { ...contested({ kind: "generated", fact, severity: "medium", options: SIDES }), regions };
}

const SIDES: readonly MergeOption[] = ["ours", "theirs"];

function judge(
  file: FileVersions,
  { regions, content }: MergedLines,
  syntax: Syntax | undefined,
): Taken | Contested {
  const { path, base, ours, theirs } = file;
  const facts = regions.map(factOf);
  const options: MergeOption[] = [
    "ours",
    "theirs",
    "both",
    ...(base === undefined ? [] : (["base"] as const)),
  ];
  const rest = { taken: false, kind: "content", regions } as const;
  if (content === undefined) {
    // overlaps first: they are what the user has to decide
    const inOrder = facts.toSorted((a, b) => Number(b.code === "overlap") - Number(a.code === "overlap"));
    return { ...rest, severity: "high", facts: inOrder, options, proposal: null };
  }
  const checked = checkResult({ path, base: base ?? EMPTY, ours, theirs, result: content }, syntax);
  const proposed = { ...rest, options: [...options, "proposal"] as const, proposal: content };
  if (checked.broken.length > 0)
    return { ...proposed, severity: "critical", facts: [...checked.broken, ...facts] };
  if (regions.every((region) => region.class === "format")) {
    const how =
      regions.length === 0 ? { severity: "medium", how: "lines" } : { severity: "low", how: "format" };
    return { taken: true, content, ...(how as Pick<Taken, "severity" | "how">) };
  }
  return { ...proposed, severity: "medium", facts: checked.isChecked ? facts : [...facts, UNCHECKED] };
}

const UNCHECKED: ConflictFact = { code: "syntax", line: null, detail: "unchecked" };

function factOf({ class: code, ours: [start, end], theirs }: ConflictRegion): ConflictFact {
  const [first, last] = end > start ? [start + 1, end] : [theirs[0] + 1, Math.max(theirs[1], theirs[0] + 1)];
  const where = first === last ? `line ${first}` : `lines ${first}–${last}`;
  const detail: Record<ConflictRegion["class"], string> = {
    overlap: `both sides changed ${where}`,
    disjoint: `both sides changed ${where}, without overlap`,
    format: `one side changed only the layout of ${where}`,
  };
  return { code, line: first, detail: detail[code] };
}
