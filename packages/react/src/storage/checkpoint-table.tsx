/** Every checkpoint as a row of a table: found by words, kind and thread, deleted with a day to bring them back. */
import { useVirtualizer } from "@tanstack/react-virtual";
import type { CallOutput } from "@belay/protocol";
import { useMemo, useRef, useState, type ReactNode } from "react";
import { useBelay } from "../data/belay.tsx";
import { useThreads, useVersion, type Thread } from "../data/facts.ts";
import { useLoaded } from "../data/loaded.ts";
import { Icon } from "../parts/icon.tsx";
import { isDoubled } from "../parts/double-press.ts";
import { useToast } from "../parts/toasts.tsx";
import { dayAndClock, quantity, size, visible, WORDS } from "../words.ts";
import { KINDS } from "./kinds.ts";
import { useOwnSizes, type OwnSize } from "./own-sizes.ts";

type Checkpoint = CallOutput<"GET /api/checkpoints">["checkpoints"][number];

/** So many are asked for at first; further ones when wanted, up to what the server gives at once. */
const FIRST = 2000;
const MOST = 10_000;
const ROW = 36;

/** The table with its filters; deleting asks for a second press. */
export function CheckpointTable({ onChanged }: { onChanged(): void }): ReactNode {
  const { client, workspace } = useBelay();
  const version = useVersion();
  const threads = useThreads(version);
  const [changes, setChanges] = useState(0);
  const [search, setSearch] = useState("");
  const [kind, setKind] = useState("");
  const [thread, setThread] = useState("");
  const [age, setAge] = useState("");
  const [least, setLeast] = useState("");
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [limit, setLimit] = useState(FIRST);
  const query = { limit, ...(kind && { kind }), ...(search.trim() && { search: search.trim() }) };
  const { value, error } = useLoaded(
    `checkpoints ${workspace} ${thread} ${JSON.stringify(query)} ${version} ${changes} !`,
    () =>
      thread === ""
        ? client.call("GET /api/checkpoints", { query: { workspace, ...query } })
        : client.call("GET /api/threads/:id/checkpoints", { params: { id: thread }, query }),
  );
  const ownSize = useOwnSizes(value?.checkpoints[0]?.seq ?? 0, changes);
  const rows = useMemo(
    () =>
      (value?.checkpoints ?? []).filter(
        (each) => isOlder(each, Number(age)) && (least === "" || (ownSize(each) ?? 0) > Number(least)),
      ),
    [value, age, least, ownSize],
  );
  const drop = useDrop(() => {
    setChosen(new Set());
    setChanges(changes + 1);
    onChanged();
  });
  return (
    <section className="b-card b-checkpoints" aria-label="All checkpoints">
      <div className="b-row b-wraps b-in-head">
        <h2>All checkpoints</h2>
        <span className="b-chip">{rows.length.toLocaleString("en")}</span>
        <span className="b-grow" />
        <input
          type="search"
          className="b-field"
          aria-label="Search checkpoints"
          placeholder="Search"
          value={search}
          onChange={(event) => setSearch(event.target.value)}
        />
        <Pick words="Kind" value={kind} choices={Object.entries(KINDS)} onChange={setKind} />
        <Pick words="Age" value={age} choices={AGES} onChange={setAge} />
        <Pick words="Thread" value={thread} choices={threads.map(threadChoice)} onChange={setThread} />
        <Pick words="Own size" value={least} choices={SIZES} onChange={setLeast} />
        <DeleteButton count={chosen.size} onDelete={() => drop([...chosen])} />
      </div>
      {error === undefined ? null : <p className="b-empty">{visible(error.message)}</p>}
      <Rows
        {...{ rows, threads, chosen, ownSize }}
        onToggle={(ids, isIn) => setChosen(withIds(chosen, ids, isIn))}
      />
      {(value?.checkpoints.length ?? 0) < limit ? null : (
        <OlderOnes limit={limit} onMore={() => setLimit(MOST)} />
      )}
    </section>
  );
}

/** Says that there are older ones, and shows them as far as the server gives them at once. */
function OlderOnes({ limit, onMore }: { readonly limit: number; onMore(): void }): ReactNode {
  return (
    <p className="b-row b-small b-muted b-in-head">
      These are the newest {limit.toLocaleString("en")}
      {limit < MOST ? "." : "; a search finds older ones."}
      {limit < MOST ? (
        <button type="button" className="b-btn b-s" onClick={onMore}>
          Show older ones too
        </button>
      ) : null}
    </p>
  );
}

function withIds(chosen: ReadonlySet<string>, ids: readonly string[], isIn: boolean): ReadonlySet<string> {
  return isIn ? chosen.union(new Set(ids)) : chosen.difference(new Set(ids));
}

/** In days. */
const AGES = [
  ["1", "Older than a day"],
  ["7", "Older than a week"],
  ["30", "Older than 30 days"],
] as const;
/** In bytes. */
const SIZES = [100 * 1024, 1024 ** 2, 10 * 1024 ** 2].map(
  (bytes) => [String(bytes), `Over ${size(bytes)}`] as const,
);
const DAY_MS = 24 * 60 * 60 * 1000;

function isOlder({ createdAt }: Checkpoint, days: number): boolean {
  return days === 0 || Date.parse(createdAt) <= Date.now() - days * DAY_MS;
}

function threadChoice({ id, title, externalId }: Thread): [string, string] {
  return [id, visible(title ?? externalId)];
}

/** Deletes checkpoints one by one; says what could not be deleted. */
function useDrop(onDone: () => void): (ids: readonly string[]) => void {
  const { client, workspace } = useBelay();
  const toast = useToast();
  const bringBack = () =>
    void client.call("POST /api/prune/undo", { query: { workspace }, body: {} }).then(
      ({ restoredTotal }) => {
        toast({ text: `Brought back ${quantity(restoredTotal, "checkpoint")}.` });
        onDone();
      },
      (error: unknown) => toast({ text: (error as Error).message, isFailure: true }),
    );
  const drop = async (ids: readonly string[]) => {
    const refused: string[] = [];
    for (const cid of ids)
      await client
        .call("DELETE /api/checkpoints/:cid", { params: { cid }, query: { workspace } })
        .catch((error: unknown) => refused.push((error as Error).message));
    const gone = ids.length - refused.length;
    toast({
      text: [
        `Deleted ${quantity(gone, "checkpoint")}. For 24 hours you can bring them back.`,
        ...(refused.length === 0 ? [] : [`${quantity(refused.length, "checkpoint")} stayed: ${refused[0]}`]),
      ].join(" "),
      isFailure: refused.length > 0,
      ...(gone > 0 && { action: { words: "Bring back", run: bringBack } }),
    });
    onDone();
  };
  return (ids) => void drop(ids);
}

function Pick(props: {
  readonly words: string;
  readonly value: string;
  readonly choices: readonly (readonly [string, string])[];
  onChange(value: string): void;
}): ReactNode {
  return (
    <select
      className="b-field"
      aria-label={props.words}
      value={props.value}
      onChange={(event) => props.onChange(event.target.value)}
    >
      <option value="">{props.words}: any</option>
      {props.choices.map(([value, words]) => (
        <option key={value} value={value}>
          {words}
        </option>
      ))}
    </select>
  );
}

function DeleteButton({ count, onDelete }: { readonly count: number; onDelete(): void }): ReactNode {
  const [isAsked, setAsked] = useState(false);
  const isOff = count === 0;
  return (
    <button
      type="button"
      className={isAsked && !isOff ? "b-btn b-danger" : "b-btn"}
      aria-disabled={isOff}
      title={isOff ? "Nothing is selected" : "They can be brought back for 24 hours"}
      onBlur={() => setAsked(false)}
      onClick={(event) => {
        if (isOff || isDoubled(event)) return;
        if (isAsked) onDelete();
        setAsked(!isAsked);
      }}
    >
      <Icon name="trash" small />
      {isAsked && !isOff
        ? `Yes, delete ${count.toLocaleString("en")}`
        : `Delete ${count.toLocaleString("en")}`}
    </button>
  );
}

interface RowsProps {
  readonly rows: readonly Checkpoint[];
  readonly threads: readonly Thread[];
  readonly chosen: ReadonlySet<string>;
  readonly ownSize: OwnSize;
  onToggle(ids: readonly string[], isIn: boolean): void;
}

/** Only the rows in view are in the document. */
function Rows({ rows, threads, chosen, ownSize, onToggle }: RowsProps): ReactNode {
  const scroller = useRef<HTMLDivElement>(null);
  const names = new Map(threads.map(threadChoice));
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 8,
  });
  const isAll = rows.length > 0 && rows.every(({ id }) => chosen.has(id));
  return (
    <div
      ref={scroller}
      className="b-scroll-table"
      role="table"
      aria-label="Checkpoints"
      aria-rowcount={rows.length + 1}
      tabIndex={0}
    >
      <div role="row" className="b-tr b-th">
        <span role="columnheader">
          <input
            type="checkbox"
            className="b-box"
            aria-label="All of these"
            checked={isAll}
            onChange={() =>
              onToggle(
                rows.map(({ id }) => id),
                !isAll,
              )
            }
          />
        </span>
        {["#", "What", "Kind", "Thread", "Changes", "Own size", "Taken"].map((words) => (
          <span key={words} role="columnheader">
            {words}
          </span>
        ))}
      </div>
      <div role="rowgroup" className="b-placing" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, start }) => {
          const row = rows[index]!;
          return (
            <Row
              key={row.id}
              {...{ row, index, start }}
              thread={row.thread === null ? "–" : (names.get(row.thread) ?? "")}
              own={ownSize(row)}
              isChosen={chosen.has(row.id)}
              onToggle={() => onToggle([row.id], !chosen.has(row.id))}
            />
          );
        })}
      </div>
      {rows.length === 0 ? <p className="b-empty">{WORDS.noCheckpoint}</p> : null}
    </div>
  );
}

function Row(props: {
  readonly row: Checkpoint;
  readonly index: number;
  readonly start: number;
  readonly thread: string;
  readonly own: number | undefined;
  readonly isChosen: boolean;
  onToggle(): void;
}): ReactNode {
  const { row, index, start, thread, own, isChosen } = props;
  const { added, modified, deleted } = row.changes;
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      className="b-tr b-placed"
      style={{ transform: `translateY(${start}px)` }}
    >
      <span role="cell">
        <input
          type="checkbox"
          className="b-box"
          aria-label={`Checkpoint ${row.seq}`}
          checked={isChosen}
          onChange={props.onToggle}
        />
      </span>
      <span role="cell" className="b-num">
        {row.seq}
      </span>
      <span role="cell" className="b-cut">
        {visible(row.name ?? row.description)}{" "}
        {row.tags.map((tag) => (
          <span key={tag} className="b-chip b-acc">
            {visible(tag)}
          </span>
        ))}
      </span>
      <span role="cell">
        <span className={row.kind === "manual" ? "b-chip b-acc" : "b-chip b-edge"}>
          {KINDS[row.kind] ?? row.kind}
        </span>
      </span>
      <span role="cell" className="b-cut b-muted">
        {thread}
      </span>
      <span role="cell" className="b-num">
        +{added} ~{modified} −{deleted}
      </span>
      <span
        role="cell"
        className="b-num"
        title={`What it was the first to hold; the whole state has ${quantity(row.files, "file")}, ${size(row.bytes)}`}
      >
        {own === undefined ? "" : size(own)}
      </span>
      <span role="cell" className="b-muted b-nowrap">
        {dayAndClock(row.createdAt)}
      </span>
    </div>
  );
}
