/**
 * Whether a merged text is broken although each side is whole: it does not parse, or it uses a name that only the other
 * side still declared. Both are looked for in the text as it would be written, so neither is a guess about lines.
 */
import { isUtf8 } from "node:buffer";
import type { ConflictFact } from "../model/merge.ts";
import { isStrictJson } from "./strict-json.ts";
import type { Names, Syntax } from "./syntax.ts";

/** The versions of one file and what a merge made of them. */
export interface CheckedMerge {
  readonly path: string;
  readonly base: Buffer;
  readonly ours: Buffer;
  readonly theirs: Buffer;
  readonly result: Buffer;
}

/** What a check found: whether the language is known, and what is broken. */
export interface Checked {
  readonly isChecked: boolean;
  readonly broken: readonly ConflictFact[];
}

/** Checks a merged text against the two texts that it was made of. */
export function checkResult(merge: CheckedMerge, syntax: Syntax | undefined): Checked {
  const whole = parsesAs(merge.path, merge.result, syntax);
  if (whole === undefined) return { isChecked: false, broken: [] };
  if (whole) return { isChecked: true, broken: lostNames(merge, syntax) };
  return {
    isChecked: true,
    broken: wereWhole(merge, syntax)
      ? [{ code: "syntax", line: null, detail: "the merged text does not parse, though both sides do" }]
      : [],
  };
}

/** True when a merged text does not parse although both texts that it was made of do. */
export function isNewlyBroken(merge: Omit<CheckedMerge, "base">, syntax: Parses | undefined): boolean {
  return parsesAs(merge.path, merge.result, syntax) === false && wereWhole(merge, syntax);
}

type Parses = Pick<Syntax, "parses">;

function wereWhole(
  { path, ours, theirs }: Omit<CheckedMerge, "base" | "result">,
  syntax: Parses | undefined,
): boolean {
  return [ours, theirs].every((side) => parsesAs(path, side, syntax) === true);
}

/** True when the text is free of syntax errors; undefined when its language is unknown. */
function parsesAs(path: string, text: Buffer, syntax: Parses | undefined): boolean | undefined {
  if (!isUtf8(text)) return undefined;
  return path.endsWith(".json") ? isStrictJson(text.toString()) : syntax?.parses(path, text.toString());
}

function lostNames(
  { path, base, ours, theirs, result }: CheckedMerge,
  syntax: Syntax | undefined,
): ConflictFact[] {
  if (syntax === undefined || !mayLoseNames(base, ours, theirs)) return [];
  const [inResult, inOurs, inTheirs] = [result, ours, theirs].map((text) =>
    syntax.names(path, text.toString()),
  );
  if (inResult === undefined || inOurs === undefined || inTheirs === undefined) return [];
  const isFree = ({ declared, used }: Names, name: string) => used.has(name) && !declared.has(name);
  return [...inResult.used]
    .filter(([name]) => !inResult.declared.has(name) && !isFree(inOurs, name) && !isFree(inTheirs, name))
    .map(([name, line]) => {
      const [declarer, remover] = inOurs.declared.has(name) ? ["ours", "theirs"] : ["theirs", "ours"];
      return {
        code: "name",
        line,
        detail: `\`${name}\` is no longer declared by ${remover} but used by ${declarer} (line ${line})`,
      };
    });
}

/** A first pass, twenty times as fast as finding names: did one side remove a word that the other added? */
function mayLoseNames(base: Buffer, ours: Buffer, theirs: Buffer): boolean {
  const [before, left, right] = [base, ours, theirs].map(countWords);
  const isLess = (side: Map<string, number>, word: string) =>
    (side.get(word) ?? 0) < (before!.get(word) ?? 0);
  const isMore = (side: Map<string, number>, word: string) =>
    (side.get(word) ?? 0) > (before!.get(word) ?? 0);
  for (const word of before!.keys())
    if ((isLess(left!, word) && isMore(right!, word)) || (isLess(right!, word) && isMore(left!, word)))
      return true;
  return false;
}

function countWords(text: Buffer): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of text.toString().match(/[\p{L}_$][\p{L}\p{N}_$]*/gu) ?? [])
    counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}
