/** Ids, command lines, gaps: everything exact about a row, to copy. */
import {
  CommandLine,
  gapReason,
  quantity,
  size,
  useBelay,
  useLoaded,
  visible,
  type HistoryRow,
  type Status,
} from "@belay/react";
import { useState, type ReactNode } from "react";
import { isUnwanted, unwant } from "../unwanted-gaps.ts";
import { doubtReason } from "./doubt-reason.ts";

/** The row, and what git says now; undefined while that is not known. */
export interface DetailsProps {
  readonly row: HistoryRow;
  readonly gitNow: Status["git"] | undefined;
}

/** The exact facts of a row of the timeline. */
export function Details({ row, gitNow }: DetailsProps): ReactNode {
  const details = useDetailsOf(row);
  const checkpoint = details?.checkpoint;
  const lines: (readonly [string, string])[] = [
    ["Show it", `belay show ${row.ref}`],
    ...(row.before === null ? [] : [["Go back to before it", `belay restore ${row.before}`] as const]),
    ...(row.kind === "turn" ? [["Undo only this", `belay revert ${row.ref}`] as const] : []),
    ...(row.before !== null && row.after !== null
      ? [["See its changes", `belay diff ${row.before} ${row.after}`] as const]
      : []),
  ];
  return (
    <div className="b-card b-in">
      <dl className="b-facts-list">
        <Fact name="Number" value={`${row.ref} · ${row.seq}`} />
        <Fact name="Checkpoint" value={row.id} isCode />
        {row.before === null ? null : <Fact name="State before" value={row.before} isCode />}
        {row.after === null ? null : <Fact name="State after" value={row.after} isCode />}
        {row.thread === null ? null : <Fact name="Thread" value={row.thread} isCode />}
        {row.session === null ? null : <Fact name="Session" value={row.session} />}
        {row.damaged ? (
          <Fact
            name="Damaged"
            value="Content of a state on one side of this is missing or changed in the store. It cannot be restored in full; `belay verify` says what is affected."
          />
        ) : null}
        {checkpoint?.git ? <Fact name="Git then" value={gitFact(checkpoint.git)} /> : null}
        {gitNow ? <Fact name="Git now" value={gitFact(gitNow)} /> : null}
        {(checkpoint?.doubts ?? []).map((doubt) => (
          <Fact
            key={doubt.path}
            name="Doubtful"
            value={`${visible(doubt.path)}: ${doubtReason(doubt.reason)}`}
          />
        ))}
        {(checkpoint?.gaps ?? []).map((gap) => (
          <GapFact key={gap.path} gap={gap} />
        ))}
        {details === undefined ? null : (
          <Fact
            name="Size"
            value={`${quantity(details.checkpoint.files, "file")}, ${size(details.checkpoint.bytes)}; ${size(details.newBytes)} of that is new since the state before`}
          />
        )}
        {checkpoint?.agent && (checkpoint.agent.cost !== null || checkpoint.agent.tokens !== null) ? (
          <Fact
            name="Cost"
            value={[
              checkpoint.agent.cost === null ? "" : `$${checkpoint.agent.cost.toFixed(2)}`,
              checkpoint.agent.tokens === null ? "" : quantity(checkpoint.agent.tokens, "token"),
            ]
              .filter(Boolean)
              .join(", ")}
          />
        ) : null}
        {row.late > 0 ? <Fact name="Captured late" value={`${row.late} after the agent went on`} /> : null}
      </dl>
      <h2>In a terminal</h2>
      {lines.map(([words, line]) => (
        <CommandLine key={line} words={words} line={line} />
      ))}
    </div>
  );
}

/** A file that was not captured; one that the reader did not want to hear of can be heard of again. */
function GapFact(props: {
  readonly gap: { readonly path: string; readonly size: number; readonly reason: string };
}): ReactNode {
  const { path, size: bytes, reason } = props.gap;
  const { workspace } = useBelay();
  const [isSilent, setSilent] = useState(() => isUnwanted(workspace, path));
  return (
    <>
      <dt>Not captured</dt>
      <dd>
        {visible(path)}, {size(bytes)}: {gapReason(reason)}. A restore leaves it exactly as it is.{" "}
        {isSilent ? (
          <button
            type="button"
            className="b-btn b-s"
            aria-label={`Tell me again about ${visible(path)}`}
            onClick={() => {
              unwant(workspace, path, false);
              setSilent(false);
            }}
          >
            Tell me again
          </button>
        ) : null}
      </dd>
    </>
  );
}

/** "main · 4f2c1a9e0b12 · uncommitted changes · 3 staged". */
function gitFact({ branch, commit, dirty, stagedTotal }: NonNullable<Status["git"]>): string {
  return [
    branch === null ? "" : visible(branch),
    commit?.slice(0, 12),
    dirty ? "uncommitted changes" : "",
    stagedTotal > 0 ? `${stagedTotal.toLocaleString("en")} staged` : "",
  ]
    .filter(Boolean)
    .join(" · ");
}

/** The checkpoint after a row, with what git said then and what it added. */
export function useDetailsOf(row: HistoryRow) {
  const { client, workspace } = useBelay();
  const id = row.after ?? row.id;
  const { value } = useLoaded(
    `checkpoint ${workspace} ${row.before} ${id} ${row.name} ${row.note} ${row.tags.join()}`,
    () =>
      client.call("GET /api/checkpoints/:id", {
        params: { id },
        query: { workspace, ...(row.before !== null && { since: row.before }) },
      }),
  );
  return value?.checkpoint.id === id ? value : undefined;
}

function Fact({
  name,
  value,
  isCode,
}: {
  readonly name: string;
  readonly value: string;
  readonly isCode?: boolean;
}): ReactNode {
  return (
    <>
      <dt>{name}</dt>
      <dd className={isCode ? "b-mono" : ""}>{value}</dd>
    </>
  );
}
