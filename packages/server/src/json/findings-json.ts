/** What a search through all contents found, in the contract's shape. */
import type { Findings, FoundFile, FoundLine, FoundPlace, FoundSpan } from "@belay/engine";
import type { Json, shapes } from "@belay/protocol";
import { pathJson } from "./path-json.ts";
import { isoTime } from "./thread-json.ts";

/** Every file with its stretches, and the commands that show a stretch's last version or bring it back. */
export function findingsJson(
  { files, total, lines, ...counts }: Findings,
  command: (verb: "cat" | "restore", file: FoundFile, span: FoundSpan) => string,
): Json<typeof shapes.findings> {
  return {
    files: files.map((file) => ({
      ...pathJson(file.path),
      onDisk: file.onDisk,
      spans: file.spans.map((span) => ({
        ...spanJson(span),
        cat: command("cat", file, span),
        restore: command("restore", file, span),
      })),
    })),
    filesTotal: total,
    ...counts,
    ...(lines && { spans: lines.map(foundLineJson) }),
  };
}

/** When a file had a line. */
export function foundLineJson({
  path,
  text,
  first,
  last,
  addedBy,
  removedBy,
}: FoundLine): Json<typeof shapes.foundLine> {
  return {
    ...pathJson(path),
    text,
    first: first.id,
    firstSeq: first.seq,
    firstAt: isoTime(first.at),
    last: last?.id ?? null,
    lastSeq: last?.seq ?? null,
    lastAt: last === null ? null : isoTime(last.at),
    addedBy,
    removedBy,
  };
}

function spanJson({ first, last, gone, ...span }: FoundSpan) {
  return {
    first: placeJson(first),
    last: placeJson(last),
    ...span,
    gone: gone === null ? null : { ...placeJson(gone), how: gone.how, by: gone.by },
  };
}

function placeJson({ id, seq, at }: FoundPlace) {
  return { id, seq, at: isoTime(at) };
}
