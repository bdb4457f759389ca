/** The lines of a space as people see them: who writes each, its checkpoints, and what a reference means there. */
import { ContractError } from "@belay/protocol/errors";
import type { LineRecord } from "../line/segment.ts";
import type { Space } from "../space/space.ts";
import { annotationsFor } from "./line-annotations.ts";
import type { LineRecords } from "./line-records.ts";

/** A checkpoint of another line, from its record. */
export interface LineCheckpoint {
  readonly line: string;
  readonly id: string;
  /** Its number there. */
  readonly seq: number;
  readonly kind: string;
  readonly phase: string | null;
  readonly name: string | null;
  readonly note: string | null;
  readonly tags: readonly string[];
  readonly description: string;
  readonly createdAt: number;
  readonly snapshot: string;
  readonly parents: readonly string[];
  readonly files: number;
  readonly bytes: number;
  readonly changes: { readonly added: number; readonly modified: number; readonly deleted: number };
  /** The conversation that it belongs to, as its agent calls it. */
  readonly conversation: { readonly agent: string; readonly id: string } | null;
}

/** A line of the space that another store writes. */
export interface OtherLine {
  readonly line: string;
  /** `<member>@<device>`, with `/2` for a second one of the same. */
  readonly name: string;
  readonly member: string;
  readonly device: string;
  /** When it last moved, by its writer's clock. */
  readonly at: number;
  readonly newest: LineCheckpoint | null;
}

/** What a reference means. */
export interface FoundCheckpoint {
  readonly line: string;
  readonly record: LineRecord;
}

interface Known {
  readonly space: Space;
  readonly records: LineRecords;
  /** The line that this store writes. */
  readonly own: string;
}

/** The lines of others, the oldest first. */
export function otherLines(known: Known): OtherLine[] {
  const { space, records, own } = known;
  const counts = new Map<string, number>();
  const written = writtenOn(known);
  return records
    .lines()
    .filter(({ line }) => line !== own)
    .map(({ line, member, device, at }) => {
      const [user = ""] = (space.members.get(member)?.name ?? "").split("@");
      const plain = `${user === "" ? member.slice(0, 8) : user}@${device}`;
      const number = (counts.get(plain) ?? 0) + 1;
      counts.set(plain, number);
      const name = number === 1 ? plain : `${plain}/${number}`;
      const [newest] = listed(records, line);
      return {
        line,
        name,
        member: user,
        device,
        at,
        newest: newest === undefined ? null : toCheckpoint(known, { line, record: newest }, written),
      };
    });
}

/** The checkpoints of a line that its own list shows, newest first. */
export function checkpointsOf(known: Known, line: string, limit: number): LineCheckpoint[] {
  const written = writtenOn(known);
  const found: LineCheckpoint[] = [];
  for (const record of listed(known.records, line)) {
    if (found.length >= limit) break;
    found.push(toCheckpoint(known, { line, record }, written));
  }
  return found;
}

/** The line that its owner is on: checkpoints of its branch and, up to where it began, of those before. */
function* listed(records: LineRecords, line: string): Generator<LineRecord> {
  const stretches = stretchesOf(records, line);
  for (const record of records.ofKind(line, "checkpoint")) {
    const { branch = 1, seq, pruned_at: pruned, origin } = record.row;
    const until = stretches.get(Number(branch));
    const isListed = pruned === undefined && origin === undefined;
    if (isListed && until !== undefined && Number(seq) <= until) yield record;
  }
}

function stretchesOf(records: LineRecords, line: string): Map<number, number> {
  const branches = new Map([...records.ofKind(line, "branch")].map(({ row }) => [Number(row["id"]), row]));
  const root = [...branches.values()].find((row) => row["root"] === true);
  const stretches = new Map<number, number>();
  let [branch, until] = [Number(root?.["id"] ?? 1), Number.MAX_SAFE_INTEGER];
  while (!stretches.has(branch)) {
    stretches.set(branch, until);
    const row = branches.get(branch);
    if (row?.["parent"] === undefined) break;
    [branch, until] = [Number(row["parent"]), Math.min(until, Number(row["start"] ?? row["base"] ?? 0))];
  }
  return stretches;
}

/** [T11] The newest of what was written on each checkpoint, whichever line says so. */
function writtenOn(known: Known): Map<string, Map<string, string | null>> {
  const newest = new Map<string, { clock: number; device: string }>();
  const written = new Map<string, Map<string, string | null>>();
  for (const { line, checkpoint, field, value, clock, device } of annotationsFor(
    known,
    { line: "" },
    new Map(),
  )) {
    const key = `${line} ${checkpoint} ${field}`;
    const before = newest.get(key);
    if (before !== undefined && (before.clock > clock || (before.clock === clock && before.device >= device)))
      continue;
    newest.set(key, { clock, device });
    const fields = written.get(`${line} ${checkpoint}`) ?? new Map<string, string | null>();
    written.set(`${line} ${checkpoint}`, fields.set(field, value));
  }
  return written;
}

function toCheckpoint(
  { records }: Known,
  { line, record }: FoundCheckpoint,
  written: ReadonlyMap<string, ReadonlyMap<string, string | null>>,
): LineCheckpoint {
  const { id, row } = record;
  const text = (column: string) => (typeof row[column] === "string" ? row[column] : null);
  const number = (column: string) => Number(row[column] ?? 0);
  const fields = written.get(`${line} ${id}`);
  const said = (field: string) => (fields?.has(field) === true ? fields.get(field)! : text(field));
  const tags = new Set(tagsOf(records, line).get(id));
  for (const [field, value] of fields ?? []) {
    if (!field.startsWith("tag/")) continue;
    if (value === null) tags.delete(field.slice(4));
    else tags.add(field.slice(4));
  }
  const { base64 = "" } = (row["snapshot"] ?? {}) as { base64?: string };
  return {
    line,
    id,
    seq: number("seq"),
    kind: text("kind") ?? "manual",
    phase: text("phase"),
    name: said("name"),
    note: said("note"),
    tags: [...tags],
    description: text("description") ?? "",
    createdAt: number("created_at"),
    snapshot: Buffer.from(base64, "base64").toString("hex"),
    parents: parentsOf(row["parents"]),
    files: number("files"),
    bytes: number("bytes"),
    changes: { added: number("added"), modified: number("modified"), deleted: number("deleted") },
    conversation: conversationOf(records, line, text("thread")),
  };
}

function conversationOf(
  records: LineRecords,
  line: string,
  thread: string | null,
): LineCheckpoint["conversation"] {
  const row = thread === null ? undefined : records.record(line, "thread", thread)?.row;
  const [agent, id] = [row?.["agent"], row?.["external_id"]];
  return typeof agent === "string" && typeof id === "string" ? { agent, id } : null;
}

function parentsOf(text: unknown): string[] {
  try {
    const parents: unknown = JSON.parse(String(text ?? "[]"));
    return Array.isArray(parents) ? parents.map(String) : [];
  } catch {
    return [];
  }
}

const TAG = "tag/";

function tagsOf(records: LineRecords, line: string): Map<string, string[]> {
  const tags = new Map<string, string[]>();
  for (const { id, row } of records.ofKind(line, "ref")) {
    const { checkpoint } = row;
    if (!id.startsWith(TAG) || typeof checkpoint !== "string") continue;
    tags.set(checkpoint, [...(tags.get(checkpoint) ?? []), id.slice(TAG.length)]);
  }
  return tags;
}

/** Whether a reference depends on how far its line is: then the line is looked at first. */
export function isRelative(reference: string): boolean {
  return /(?:^|\/)@(?:-\d+)?$/.test(reference);
}

/** The checkpoint of another line that a reference means: `<id>`, `<tag>`, `ana@mac/@`, `ana@mac/@-2`, `ana@mac/<id, tag or number>`. */
export function findOnOtherLine(known: Known, reference: string): FoundCheckpoint {
  const lines = otherLines(known);
  for (const { line, name } of lines.toSorted((a, b) => b.name.length - a.name.length))
    for (const label of [name, line])
      if (reference === label || reference.startsWith(`${label}/`))
        return sole(reference, inLine(known, line, reference.slice(label.length + 1) || "@"));
  if (isRelative(reference)) throw notFound(reference, lines);
  return sole(
    reference,
    lines.flatMap(({ line }) => inLine(known, line, reference)),
    lines,
  );
}

function inLine(known: Known, line: string, inner: string): FoundCheckpoint[] {
  const { records } = known;
  const found = (record: LineRecord | undefined) => (record === undefined ? [] : [{ line, record }]);
  const relative = /^@(?:-(\d{1,9}))?$/.exec(inner);
  if (relative !== null) return found([...listed(records, line)][Number(relative[1] ?? 0)]);
  if (/^\d{1,15}$/.test(inner))
    return [...records.ofKind(line, "checkpoint")]
      .filter(({ row }) => row["seq"] === Number(inner))
      .map((record) => ({ line, record }));
  const exact = found(records.record(line, "checkpoint", inner));
  if (exact.length > 0) return exact;
  const tagged = records.record(line, "ref", TAG + inner)?.row["checkpoint"];
  if (typeof tagged === "string") return found(records.record(line, "checkpoint", tagged));
  const named = checkpointsOf(known, line, Number.MAX_SAFE_INTEGER).filter(
    ({ name, tags }) => name === inner || tags.includes(inner),
  );
  if (named.length > 0) return named.flatMap(({ id }) => found(records.record(line, "checkpoint", id)));
  if (!/^[k-z]{4,16}$/.test(inner)) return [];
  return records
    .holders(inner)
    .filter((holder) => holder.line === line)
    .flatMap(({ id }) => found(records.record(line, "checkpoint", id)));
}

/** A clone has the checkpoints of the line that it began with: the same checkpoint twice is not a question. */
function sole(
  reference: string,
  found: readonly FoundCheckpoint[],
  lines: readonly OtherLine[] = [],
): FoundCheckpoint {
  const [first] = found;
  if (first === undefined) throw notFound(reference, lines);
  if (found.every(({ record }) => record.id === first.record.id)) return first;
  throw new ContractError("CHECKPOINT_AMBIGUOUS", `"${reference}" means ${found.length} checkpoints.`, {
    facts: {
      checkpoint: reference,
      candidates: found.map(({ record }) => ({
        id: record.id,
        seq: Number(record.row["seq"]),
        description: String(record.row["description"] ?? ""),
      })),
    },
  });
}

function notFound(reference: string, lines: readonly OtherLine[]): ContractError {
  return new ContractError(
    "CHECKPOINT_NOT_FOUND",
    `No line of the remote has a checkpoint "${reference}". Nothing was changed.`,
    {
      hint:
        lines.length === 0
          ? "No other machine has pushed there yet."
          : `Its lines are ${lines.map(({ name }) => name).join(", ")}; \`<remote>/<line>/@\` is the newest of one.`,
      facts: { checkpoint: reference },
    },
  );
}
