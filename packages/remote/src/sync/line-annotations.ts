/** [T11] What was written on checkpoints by other lines, as a store takes it over. */
import type { AnnotatedField, Annotation, RemoteEntry } from "@belay/engine";
import type { LineRecord } from "../line/segment.ts";
import type { LineRecords } from "./line-records.ts";

/** A clock may be ahead of the server's by this much; what is further ahead is cut back, so that it does not win for good. */
const AHEAD_MS = 5 * 60 * 1000;

const FIELD = /^(?:name|note|tag\/.{1,200})$/su;

interface Known {
  readonly records: LineRecords;
  readonly serverNow: () => number;
}

/** What lines wrote from these segments on. What is about this store's own line is on the line "". */
export function annotationsFor(
  { records, serverNow }: Known,
  entry: Pick<RemoteEntry, "line">,
  since: ReadonlyMap<string, number>,
): Annotation[] {
  const latest = serverNow() + AHEAD_MS;
  const found: Annotation[] = [];
  for (const { by, record } of records.annotations(since)) {
    if (by === entry.line) continue;
    const annotation = toAnnotation(record, by);
    if (annotation === undefined) continue;
    const line = annotation.line === entry.line ? "" : annotation.line;
    found.push({ ...annotation, line, clock: Math.min(annotation.clock, latest) });
  }
  return found;
}

/** What was written on one checkpoint of another line. */
export function annotationsOn(known: Known, line: string, checkpoint: string): Annotation[] {
  return annotationsFor(known, { line: "" }, new Map()).filter(
    (each) => each.line === line && each.checkpoint === checkpoint,
  );
}

function toAnnotation({ row }: LineRecord, by: string): Annotation | undefined {
  const { line, checkpoint, field, value = null, clock, device } = row;
  const isSound =
    typeof line === "string" &&
    typeof checkpoint === "string" &&
    typeof field === "string" &&
    FIELD.test(field) &&
    (value === null || (typeof value === "string" && value.length <= 10_000)) &&
    Number.isSafeInteger(clock) &&
    typeof device === "string";
  if (!isSound) return undefined;
  return {
    line: line === "" ? by : line,
    checkpoint,
    field: field as AnnotatedField,
    value,
    clock: clock as number,
    device,
  };
}
