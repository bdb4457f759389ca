/** How much of the cap is used, and by which kinds of checkpoints. */
import type { CallOutput } from "@belay/protocol";
import type { ReactNode } from "react";
import { useBelay } from "../data/belay.tsx";
import { useLoaded } from "../data/loaded.ts";
import { dayAndClock, quantity, size } from "../words.ts";
import { KIND_GROUPS, KINDS } from "./kinds.ts";

type Storage = CallOutput<"GET /api/storage">;
type Usage = CallOutput<"GET /api/storage/usage">;

/** One stretch of the bar. */
interface Part {
  readonly name: string;
  readonly words: string;
  readonly bytes: number;
  readonly count: number | null;
}

/** The card; where `version` grows, it is counted again. */
export function Space(props: {
  readonly storage: Storage;
  readonly version: string;
  onSettings?(): void;
}): ReactNode {
  const { storage, version, onSettings } = props;
  const { client, workspace } = useBelay();
  const { value } = useLoaded(`usage ${workspace} ${version} !`, () =>
    client.call("GET /api/storage/usage", { query: { workspace, by: "kind" } }),
  );
  const parts = partsOf(storage, value);
  return (
    <section className="b-card b-in" aria-label="Space used">
      <div className="b-row b-between b-top">
        <h2 className="b-large">
          {size(storage.bytes)} of at most {size(storage.capBytes)}
        </h2>
        {onSettings === undefined ? null : (
          <button type="button" className="b-btn" onClick={onSettings}>
            Change the cap
          </button>
        )}
      </div>
      <p className="b-muted">
        {quantity(storage.checkpoints, "checkpoint")}
        {storage.oldest === null ? "" : ` since ${dayAndClock(storage.oldest)}`}. Equal content is stored once
        {storage.copiesBytes > storage.bytes ? `; without that it would be ${size(storage.copiesBytes)}` : ""}
        .
      </p>
      <div
        className="b-parts"
        role="img"
        aria-label={`${size(storage.bytes)} of ${size(storage.capBytes)} used`}
      >
        {parts.map((part, index) => (
          <span
            key={part.name}
            className={lookOf(part, index)}
            style={{ width: `${Math.max(0.2, (100 * part.bytes) / storage.capBytes)}%` }}
          />
        ))}
      </div>
      <dl className="b-kinds">
        {parts.map((part, index) => (
          <div key={part.name}>
            <dt>
              <span className={`b-swatch ${lookOf(part, index)}`} aria-hidden="true" />
              {part.words}
              {part.count === null ? "" : ` ${part.count.toLocaleString("en")}`}
            </dt>
            <dd className="b-num">{value === undefined ? "" : size(part.bytes)}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** What only checkpoints of a kind need, kinds that belong together in one, what several kinds share, and the rest of the store. */
function partsOf(storage: Storage, usage: Usage | undefined): Part[] {
  const own = new Map((usage?.groups ?? []).map(({ key, storedBytes }) => [key ?? "", storedBytes]));
  const grouped = new Set(KIND_GROUPS.flatMap(({ kinds }) => kinds));
  const others = Object.keys(storage.byKind).filter((kind) => !grouped.has(kind));
  const groups = [
    ...KIND_GROUPS,
    ...others.map((kind) => ({ words: KINDS[kind] ?? kind, kinds: [kind] })),
  ].map(({ words, kinds }) => ({
    name: words,
    words,
    bytes: kinds.reduce((sum, kind) => sum + (own.get(kind) ?? 0), 0),
    count: kinds.reduce((sum, kind) => sum + (storage.byKind[kind] ?? 0), 0),
  }));
  const used = groups.filter(({ count }) => count > 0);
  if (usage === undefined) return used;
  return [
    ...used,
    { name: "shared", words: "Needed by several kinds", bytes: usage.shared.storedBytes, count: null },
    { name: "rest", words: "No longer needed, or Belay’s own", bytes: usage.rest.storedBytes, count: null },
  ].filter(({ bytes, count }) => bytes > 0 || count !== null);
}

/** The look of a stretch: shades for what is needed by kinds, grey for what they share, hatched for the rest. */
function lookOf({ name }: Part, index: number): string {
  if (name === "rest") return "b-part-rest";
  return name === "shared" ? "b-part-shared" : `b-part${(index % 4) + 1}`;
}
