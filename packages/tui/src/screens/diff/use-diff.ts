/** The files of a diff and the one that is shown. */
import { useEffect, useState } from "react";
import {
  loadComparedFiles,
  loadComparedLines,
  type ComparedFile,
  type ComparedFiles,
  type ComparedLines,
  type CompareOptions,
  type StatePair,
} from "../../data/comparisons.ts";
import { useSource } from "../../data/source.tsx";

/** What a diff screen knows. */
export interface Diff {
  readonly list: ComparedFiles | undefined;
  readonly file: ComparedFile | undefined;
  readonly index: number;
  /** The lines of the file; undefined while they come. */
  readonly lines: ComparedLines | undefined;
  readonly problem: string | undefined;
  readonly whitespace: "exact" | "ignore";
  /** So long that its lines are shown only when they are asked for. */
  readonly isLong: boolean;
  goTo(index: number): void;
  toggleWhitespace(): void;
  /** Shows what was folded: all unchanged lines, or a long diff. */
  expand(): void;
}

const WHOLE_FILE = 100_000;
const LONG_LINES = 5000;

/** Loads a diff, one file at a time; `path` is the first one shown. */
export function useDiff(pair: StatePair, path?: string): Diff {
  const source = useSource();
  const { from, to, plan, own, only } = pair;
  const [list, setList] = useState<ComparedFiles>();
  const [chosen, setChosen] = useState<number>();
  const [whitespace, setWhitespace] = useState<"exact" | "ignore">("exact");
  const [expanded, setExpanded] = useState<ReadonlySet<string>>(new Set());
  const [shown, setShown] = useState<{ key: string; lines: ComparedLines }>();
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    loadComparedFiles(source, { from, to, plan, own, only }).then(setList, (error: Error) =>
      setProblem(error.message),
    );
  }, [source, from, to, plan, own, only]);
  const files = list?.files ?? [];
  const named = files.findIndex((file) => file.path === path);
  const index = Math.max(0, Math.min(chosen ?? named, files.length - 1));
  const file = files[index];
  const isExpanded = file !== undefined && expanded.has(file.path);
  const key = JSON.stringify([file?.path, whitespace, isExpanded]);
  useEffect(() => {
    if (file === undefined) return undefined;
    let isWanted = true;
    const options: CompareOptions = {
      whitespace,
      ...(isExpanded && { context: WHOLE_FILE, large: true }),
    };
    loadComparedLines(source, { from, to, plan, own }, file, options).then(
      (lines) => isWanted && setShown({ key, lines }),
      (error: Error) => isWanted && setProblem(error.message),
    );
    return () => {
      isWanted = false;
    };
  }, [source, from, to, plan, own, file, whitespace, isExpanded, key]);
  return {
    list,
    file,
    index,
    lines: shown?.key === key ? shown.lines : undefined,
    problem,
    whitespace,
    isLong: file !== undefined && !isExpanded && changedLines(file) > LONG_LINES,
    goTo: (wanted) => setChosen(Math.max(0, Math.min(wanted, files.length - 1))),
    toggleWhitespace: () => setWhitespace(whitespace === "exact" ? "ignore" : "exact"),
    expand: () => file !== undefined && setExpanded(new Set([...expanded, file.path])),
  };
}

/** How many lines of a file changed. */
export function changedLines({ linesAdded, linesDeleted }: ComparedFile): number {
  return (linesAdded ?? 0) + (linesDeleted ?? 0);
}
