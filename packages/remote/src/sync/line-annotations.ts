/** [T11] What was written on checkpoints by other lines, as a store takes it over. */
import type { AnnotatedField, Annotation, RemoteEntry } from "@belay/engine";
import type { LineRecord } from "../line/segment.ts";
import type { Space } from "../space/space.ts";
import type { LineRecords } from "./line-records.ts";

const FIELD = /^(?:name|note|review|tag\/.{1,200})$/su;

interface Known {
  readonly space: Space;
  readonly records: LineRecords;
}

/** What lines wrote after these segments. What is about this store's own line is on the line "". */
export function annotationsFor(
  { space, records }: Known,
  entry: Pick<RemoteEntry, "line">,
  after: ReadonlyMap<string, number>,
): Annotation[] {
  const agents = agentLines(space, records);
  const found: Annotation[] = [];
  for (const { by, record } of records.annotations(after)) {
    if (by === entry.line) continue;
    const annotation = toAnnotation(record, by);
    if (annotation === undefined) continue;
    if (agents.has(by) && annotation.line !== by && !isNewTag(annotation)) continue;
    const line = annotation.line === entry.line ? "" : annotation.line;
    const { value } = annotation;
    const isReview = annotation.field === "review" && value !== null;
    found.push({
      ...annotation,
      line,
      value: isReview ? signedReview({ space, records }, by, value) : value,
    });
  }
  return found;
}

/** [R1843] Who approves is who wrote the line, whatever the review says. */
function signedReview({ space, records }: Known, line: string, value: string): string {
  const { member = "", device = "" } = records.line(line) ?? {};
  const by = space.members.get(member)?.name ?? `${member.slice(0, 8)}@${device}`;
  let message: unknown;
  try {
    ({ message } = JSON.parse(value) as { message?: unknown });
  } catch {
    // approved without a word that can be read
  }
  return JSON.stringify({ by, message: typeof message === "string" ? message : null });
}

/** [R1504] On the checkpoints of others an agent adds tags; it renames and removes nothing there. */
function agentLines(space: Space, records: LineRecords): Set<string> {
  const lines = records.lines().filter(({ member }) => {
    // who is not in the roster writes with a token
    const role = space.members.get(member)?.role ?? "agent";
    return role === "agent";
  });
  return new Set(lines.map(({ line }) => line));
}

function isNewTag({ field, value }: Annotation): boolean {
  return field.startsWith("tag/") && value !== null;
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
