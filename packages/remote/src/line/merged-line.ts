/**
 * Several segments of a line restated as one: of each row the newest record, of each object the newest place. Records of
 * kinds that this version does not know are carried along unread [T16].
 */
import { SELF, type Place } from "./object-index.ts";
import type { LineRecord, OpenSegment } from "./segment.ts";

/** The kind of records that belong to the checkpoint of the record before; `id` begins with its id. */
const PART_KIND = "parts";
/** A tag names a checkpoint: it comes after all of them. */
const TAG_KIND = "ref";
/** [R1813] A step that lost some of its changes with a checkpoint: no store undoes a part of it. */
const LOST_STEP_KIND = "lost_step";
/** When a checkpoint arrived, by the server's clock: known to folds, left alone by stores. */
const ARRIVAL_KIND = "arrival";

interface Row {
  readonly record: LineRecord;
  readonly parts: LineRecord[];
}

/** What the segments of a line say together, added one after the other. */
export class MergedLine {
  readonly #rows = new Map<string, Row>();
  readonly #index = new Map<string, Place>();
  #uses: readonly string[] = [];

  /** `arrivedAt`: the server's time of the object. */
  add({ records, index, uses }: OpenSegment, arrivedAt: number): void {
    for (const record of records) this.#addRecord(record, arrivedAt);
    for (const [hash, place] of index) this.#index.set(hash, place);
    this.#uses = uses;
  }

  /** Adds what no segment says. */
  change(records: readonly LineRecord[], at: number): void {
    for (const record of records) this.#addRecord(record, at);
  }

  #addRecord(record: LineRecord, arrivedAt: number): void {
    if (record.kind === PART_KIND) {
      const owner = this.#rows.get(`checkpoint ${record.id.slice(0, record.id.indexOf(" "))}`);
      return void owner?.parts.push(record);
    }
    this.#rows.set(`${record.kind} ${record.id}`, { record, parts: [] });
    const arrival = `${ARRIVAL_KIND} ${record.id}`;
    if (record.kind === "checkpoint" && !this.#rows.has(arrival))
      this.#rows.set(arrival, {
        record: { kind: ARRIVAL_KIND, id: record.id, row: { at: arrivedAt } },
        parts: [],
      });
  }

  /** The places of objects that are not inside the segments. */
  get index(): Map<string, Place> {
    return new Map([...this.#index].filter(([, { parcel }]) => parcel !== SELF));
  }

  /** All parcels that the line names. */
  get uses(): readonly string[] {
    return this.#uses;
  }

  /** All objects of the line. */
  get objects(): Set<string> {
    return new Set(this.#index.keys());
  }

  /** Each checkpoint with the server's time at which it arrived. */
  checkpoints(): { readonly record: LineRecord; readonly arrivedAt: number }[] {
    const found: { record: LineRecord; arrivedAt: number }[] = [];
    for (const { record } of this.#rows.values())
      if (record.kind === "checkpoint")
        found.push({
          record,
          arrivedAt: Number(this.#rows.get(`${ARRIVAL_KIND} ${record.id}`)?.record.row["at"]),
        });
    return found;
  }

  /** The ids of the checkpoints that tags name. */
  tagged(): Set<string> {
    const rows = [...this.#rows.values()].filter(({ record }) => record.kind === TAG_KIND);
    return new Set(rows.map(({ record }) => String(record.row["checkpoint"])));
  }

  /** The checkpoints that the store forgot, as its log of operations says. */
  forgotten(): Set<string> {
    const ids = new Set<string>();
    for (const { record } of this.#rows.values()) {
      if (record.kind !== "operation" || record.row["kind"] !== "forget") continue;
      const { target } = JSON.parse(String(record.row["detail"] ?? "{}")) as { target?: unknown };
      if (this.#rows.has(`checkpoint ${String(target)}`)) ids.add(String(target));
    }
    return ids;
  }

  /** Takes checkpoints out, with all that belongs to them. */
  drop(ids: ReadonlySet<string>): void {
    for (const id of ids) {
      for (const step of stepsIn(this.#rows.get(`checkpoint ${id}`)?.parts ?? [])) {
        const record = { kind: LOST_STEP_KIND, id: step, row: {} };
        this.#rows.set(`${LOST_STEP_KIND} ${step}`, { record, parts: [] });
      }
      this.#rows.delete(`checkpoint ${id}`);
      this.#rows.delete(`${ARRIVAL_KIND} ${id}`);
    }
  }

  /** The records in an order in which a store can take them. */
  records(): LineRecord[] {
    const rows = [...this.#rows.values()];
    const isTag = ({ record }: Row) => record.kind === TAG_KIND;
    return [...rows.filter((row) => !isTag(row)), ...rows.filter(isTag)].flatMap(({ record, parts }) => [
      record,
      ...parts,
    ]);
  }
}

/** The steps whose changes a checkpoint holds. */
function stepsIn(parts: readonly LineRecord[]): Set<string> {
  const steps = new Set<string>();
  for (const { row } of parts)
    for (const { step } of (row["rows"] ?? []) as readonly { readonly step?: unknown }[])
      if (typeof step === "string") steps.add(step);
  return steps;
}
