/** When was each matching line of a file there? Lines are told apart by their text, wherever in the file they stand. */
import type { Entry } from "../model/entry.ts";
import type { TracedCheckpoint, TracedSpan } from "./trace-paths.ts";

/** A stretch of checkpoints that had a line. */
export interface TracedLine {
  readonly text: string;
  /** Set when the trace has come past it. */
  first: TracedCheckpoint;
  readonly last: TracedCheckpoint;
  /** The next checkpoint, which did not have it; undefined for the newest one. */
  readonly gone: TracedCheckpoint | undefined;
}

/** The lines of one file, newest first. `linesOf` gives those that match in one version. */
export function traceLines(
  spans: readonly TracedSpan[],
  linesOf: (entry: Entry) => Iterable<string>,
): TracedLine[] {
  return spans.flatMap((span) => linesOfSpan(span, linesOf));
}

function linesOfSpan(
  { gone: end, versions }: TracedSpan,
  linesOf: (entry: Entry) => Iterable<string>,
): TracedLine[] {
  const found = new Set<TracedLine>();
  /** What the next newer version had. */
  let newer = new Map<string, TracedLine>();
  let gone = end;
  for (const { entry, first, last } of versions) {
    const lines = new Map<string, TracedLine>();
    for (const text of linesOf(entry)) {
      const line = newer.get(text) ?? { text, first, last, gone };
      line.first = first;
      lines.set(text, line);
      found.add(line);
    }
    newer = lines;
    gone = first;
  }
  return [...found];
}
