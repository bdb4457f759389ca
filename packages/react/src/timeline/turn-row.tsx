/** One row of the list: time, rail, title over one line of facts, one button. */
import type { ReactNode } from "react";
import type { HistoryRow } from "../data/history.ts";
import { agentColour, AgentBadge, Icon, Lines, PathName } from "../parts/icon.tsx";
import { useAct } from "../parts/use-act.ts";
import { agentName, clock, duration, quantity, visible, WORDS } from "../words.ts";
import type { Lane } from "./lanes.ts";
import { filesOf, lengthOf, sentenceOf, targetOf, titleOf } from "./row-text.ts";

/** What a row's buttons do. */
export type RowAction = "restore" | "redo" | "steps" | "details";

/** What one row shows and does. */
export interface TurnRowProps {
  readonly row: HistoryRow;
  readonly lane: Lane | undefined;
  readonly isSelected: boolean;
  readonly isOpen: boolean;
  /** "A" or "B" where the row is marked for comparison. */
  readonly mark: "A" | "B" | undefined;
  readonly index: number;
  readonly isCompact: boolean;
  /** The thread in words, where it is known. */
  readonly threadName?: string | undefined;
  /** Every checkpoint has its row: its files are told apart. */
  readonly isFlat?: boolean | undefined;
  /** Nothing happened since: that its state is on disk goes without saying. */
  readonly isNewest?: boolean | undefined;
  /** The restore that is pointed at or selected led here. */
  readonly isGoal?: boolean | undefined;
  onSelect(): void;
  onAction(action: RowAction): void;
  onPoint?: ((isAt: boolean) => void) | undefined;
}

/** The element id of a row, for the list's active descendant. */
export function rowId(ref: string): string {
  return `row-${ref}`;
}

/** What was done to the files as a whole, and what was changed outside of agents. */
const QUIET: ReadonlySet<HistoryRow["kind"]> = new Set([
  "hand",
  "restore",
  "revert",
  "reset",
  "switch",
  "merge",
]);

/** One row of the timeline: a turn, with its prompt and what it changed. */
export function TurnRow(props: TurnRowProps): ReactNode {
  const { row, lane, isSelected, isOpen, mark, index } = props;
  if (row.kind === "approved") return <ApprovedMark {...props} />;
  const isQuiet = QUIET.has(row.kind);
  const look = [
    "b-turn",
    agentColour(row.kind === "turn" || row.kind === "capture" ? row.agent : null),
    row.state === "undone" && "b-undone",
    isQuiet && "b-quiet",
    props.isCompact && "b-compact",
    props.isGoal && "b-goal",
  ];
  return (
    <div
      role="row"
      id={rowId(row.ref)}
      className={look.filter(Boolean).join(" ")}
      aria-rowindex={index + 1}
      aria-level={1}
      aria-selected={isSelected}
      aria-expanded={row.steps > 0 ? isOpen : undefined}
      aria-label={sentenceOf(row)}
      onClick={props.onSelect}
      onPointerEnter={() => props.onPoint?.(true)}
      onPointerLeave={() => props.onPoint?.(false)}
    >
      <Rail lane={lane} row={row} />
      <time dateTime={row.at} role="gridcell">
        {clock(row.at)}
      </time>
      <div className="b-what" role="gridcell">
        <div className="b-title">
          {mark === undefined ? null : <span className={mark === "A" ? "b-ab" : "b-ab b-b"}>{mark}</span>}
          {titleOf(row)}
        </div>
        <Facts {...props} />
        {row.note ? <div className="b-say b-cut">{visible(row.note)}</div> : null}
      </div>
      <RowButton {...props} />
    </div>
  );
}

function ApprovedMark({ row, isSelected, index, threadName, onSelect }: TurnRowProps): ReactNode {
  const thread = threadName === undefined ? agentName(row.agent) : visible(threadName);
  return (
    <div
      role="row"
      id={rowId(row.ref)}
      className={`b-mark ${agentColour(row.agent)}`}
      aria-rowindex={index + 1}
      aria-level={1}
      aria-selected={isSelected}
      aria-label={sentenceOf(row)}
      onClick={onSelect}
    >
      <span className="b-rail">
        <span className="b-knot b-yes">
          <Icon name="check" />
        </span>
      </span>
      <span role="gridcell">Approved</span>
      <span className="b-muted b-cut" role="gridcell">
        {[thread, row.session, clock(row.at)].filter(Boolean).join(" · ")}
      </span>
    </div>
  );
}

/** A turn that did not come to its end; one that was undone is shown as that. */
function hasFailed({ state, status }: HistoryRow): boolean {
  return state !== "undone" && (status === "interrupted" || status === "failed");
}

/** The rope, the lanes beside it, and the knot of this row. */
function Rail({ lane, row }: Pick<TurnRowProps, "lane" | "row">): ReactNode {
  const knots: Partial<Record<HistoryRow["kind"], ReactNode>> = {
    checkpoint: <Icon name="flag" />,
    restore: <Icon name="back" />,
    reset: <Icon name="back" />,
    revert: <Icon name="undo" />,
    switch: <Icon name="branch" />,
    merge: <Icon name="branch" />,
  };
  const knot = knots[row.kind];
  const shape =
    row.kind === "hand" || row.kind === "safety" || row.kind === "capture"
      ? "b-hand"
      : row.kind === "checkpoint"
        ? "b-flag"
        : knot !== undefined
          ? "b-loop"
          : hasFailed(row)
            ? "b-open b-crossed"
            : row.state === "undone" || row.status === "working"
              ? "b-open"
              : "";
  const place = lane !== undefined && lane.lane > 1 ? ` b-lane${lane.lane}` : "";
  return (
    <span className="b-rail" aria-hidden="true">
      {lane?.passing.map((line) => (
        <span
          key={line.lane}
          className={`b-beside b-lane${line.lane} b-${line.part} ${agentColour(line.agent)}`}
        />
      ))}
      <span className={`b-knot ${shape}${place}`}>
        {knot ?? (hasFailed(row) ? <Icon name="x" small /> : null)}
      </span>
    </span>
  );
}

function Facts({ row, isFlat, isNewest = false, onAction }: TurnRowProps): ReactNode {
  const files = filesOf(row);
  const length = lengthOf(row);
  return (
    <div className="b-meta">
      <Who row={row} />
      {row.status === "working" ? (
        <span className="b-chip b-ok">
          <span className="b-live b-dot" />
          working, {duration(Date.now() - Date.parse(row.at))}
        </span>
      ) : null}
      {row.status === "interrupted" || row.status === "failed" ? (
        <span className="b-chip">{row.status}</span>
      ) : null}
      {row.state === "undone" ? (
        <span className="b-chip b-edge">
          <Icon name="undo" small />
          {row.undoneAt === null ? "undone" : `undone ${clock(row.undoneAt)}`}
        </span>
      ) : null}
      <Doubts row={row} onAction={onAction} />
      {row.sameAsNow === true && !isNewest && row.state !== "undone" ? (
        <span className="b-chip b-edge">= now</span>
      ) : null}
      <Branches row={row} />
      {row.name && row.kind !== "checkpoint" ? (
        <span className="b-chip b-acc">
          <Icon name="flag" small />
          <span className="b-cut">{visible(row.name)}</span>
        </span>
      ) : null}
      {row.tags.map((tag) => (
        <span key={tag} className="b-chip b-acc">
          <Icon name="tag" small />
          <span className="b-cut">{visible(tag)}</span>
        </span>
      ))}
      <Lines plus={row.plus} minus={row.minus} />
      {isFlat ? (
        <span className="b-num" title={`${row.added} added, ${row.modified} changed, ${row.deleted} deleted`}>
          +{row.added} ~{row.modified} −{row.deleted}
        </span>
      ) : row.path !== undefined ? (
        <PathName path={row.path} />
      ) : files > 0 ? (
        <span>
          {row.status === "working" ? `${quantity(files, "file")} so far` : quantity(files, "file")}
        </span>
      ) : null}
      {row.kind === "turn" && files === 0 && row.status !== "working" ? <span>changed nothing</span> : null}
      {row.steps > 1 ? <span className="b-extra">{quantity(row.steps, "step")}</span> : null}
      {length === "" ? null : <span className="b-extra">{length}</span>}
    </div>
  );
}

/** The branch that it happened on, where that is another one than here, and those that began with it. */
function Branches({ row }: Pick<TurnRowProps, "row">): ReactNode {
  const begun = (row.begun ?? []).map((name) => [name, `The branch ${visible(name)} began here`] as const);
  const on = row.branch === undefined ? [] : [[row.branch, `On ${visible(row.branch)}`] as const];
  return [...on, ...begun].map(([name, words]) => (
    <span key={words} className="b-chip b-edge" title={words}>
      <Icon name="branch" small />
      <span className="b-cut">{visible(name)}</span>
    </span>
  ));
}

/** Who did it: the agent's badge and name, or you. */
function Who({ row }: Pick<TurnRowProps, "row">): ReactNode {
  if ((row.kind === "turn" || row.kind === "capture") && row.agent !== null)
    return (
      <>
        <AgentBadge agent={row.agent} />
        <span className="b-who">{agentName(row.agent)}</span>
      </>
    );
  if (row.kind === "checkpoint") return <span>Your checkpoint</span>;
  if (row.kind === "initial") return <span>The beginning</span>;
  if (row.kind === "capture") return <span>Automatic checkpoint</span>;
  if (row.kind === "safety") return <span>Safety checkpoint</span>;
  // its author is not known: the title says so
  if (row.kind === "hand" && row.title !== WORDS.byHand) return null;
  return (
    <>
      <Icon name="user" small />
      <span>You</span>
    </>
  );
}

/** What was not captured, or late: on the row, before anything that may be cut. */
function Doubts({ row, onAction }: Pick<TurnRowProps, "row" | "onAction">): ReactNode {
  const open = pressing("details", onAction);
  return (
    <>
      {row.damaged ? (
        <button type="button" tabIndex={-1} className="b-chip b-bad" onClick={open}>
          <Icon name="warn" small />
          damaged
        </button>
      ) : null}
      {row.gaps > 0 ? (
        <button type="button" tabIndex={-1} className="b-chip b-warn" onClick={open}>
          <Icon name="warn" small />
          {row.gaps} not captured
        </button>
      ) : null}
      {row.late > 0 ? (
        <button type="button" tabIndex={-1} className="b-chip b-warn" onClick={open}>
          <Icon name="clock" small />
          {row.late} late
        </button>
      ) : null}
    </>
  );
}

/** [R1931] A press of a button in the row is not one of the row. */
function pressing(action: RowAction, onAction: (action: RowAction) => void) {
  return (event: { stopPropagation(): void }) => {
    event.stopPropagation();
    onAction(action);
  };
}

function RowButton({ row, isSelected, isOpen, onAction }: TurnRowProps): ReactNode {
  const target = targetOf(row);
  const press = (action: RowAction) => pressing(action, onAction);
  const act = useAct();
  const tabIndex = isSelected ? 0 : -1;
  return (
    <div className="b-act" role="gridcell">
      {row.steps > 0 ? (
        <button
          type="button"
          tabIndex={-1}
          className="b-btn b-s b-quiet b-icon b-caret"
          aria-label={isOpen ? `Hide the steps of ${titleOf(row)}` : `Show the steps of ${titleOf(row)}`}
          onClick={press("steps")}
        >
          <Icon name={isOpen ? "down" : "right"} small />
        </button>
      ) : null}
      {row.state === "undone" ? (
        <button
          type="button"
          tabIndex={tabIndex}
          className="b-btn b-s b-quiet"
          {...act(press("redo"))}
          aria-label={`Redo ${titleOf(row)}`}
        >
          <Icon name="redo" small />
          Redo
        </button>
      ) : target === undefined ? null : (
        <button
          type="button"
          tabIndex={tabIndex}
          className={isSelected ? "b-btn b-s" : "b-btn b-s b-quiet b-icon"}
          aria-label={`Restore to ${target.name}`}
          {...act(press("restore"), `Restore to ${target.name}`)}
        >
          <Icon name="back" small={isSelected} />
          {isSelected ? "Restore…" : null}
        </button>
      )}
    </div>
  );
}
