/** What the selected row did, and the ways back from it. */
import {
  agentColour,
  AgentBadge,
  agentName,
  clockWithSeconds,
  dayAndClock,
  DiffView,
  filesOf,
  gitWords,
  Icon,
  targetOf,
  titleOf,
  useAct,
  visible,
  WORDS,
  type DiffLook,
  type HistoryRow,
  type Own,
  type Pair,
  type PlanRequest,
  type Target,
} from "@belay/react";
import { useEffect, useState, type ReactNode } from "react";
import { comparePath, go } from "../address.ts";
import { Conversation } from "../threads/conversation.tsx";
import { Details, useDetailsOf, type DetailsProps } from "./details.tsx";
import { diffActions } from "./diff-actions.ts";
import { GapStrip } from "./gap-strip.tsx";
import { RowMenu } from "./row-menu.tsx";
import { countsOf, Steps } from "./steps.tsx";
import type { Tab } from "./use-timeline.ts";

/** What a detail shows and does. */
export interface DetailProps extends DetailsProps {
  readonly workspace: string;
  readonly look: DiffLook;
  readonly threadName: string | undefined;
  /** Grows when something happened: a turn at work is compared with the disk again. */
  readonly version: number;
  readonly tab: Tab;
  /** Another turn was at work at the same time. */
  readonly isMixed: boolean;
  onTab(tab: Tab): void;
  onPlan(request: PlanRequest): void;
  onAnnotate(field: "name" | "note" | "tags"): void;
  onBranch(from: Pick<Target, "checkpoint" | "name">): void;
  /** Back to the list, where both do not fit. */
  onBack(): void;
}

const REST_MS = 80;

/** The detail of one row of the timeline. */
export function Detail(props: DetailProps): ReactNode {
  const { row } = props;
  const tab = tabFor(row, props.tab);
  const rested = useRested(row);
  const pair = pairOf(rested, props.version);
  const target = targetOf(row);
  const own = ownOf(rested, props.isMixed || row.shared > 0);
  return (
    <section className="b-pane" aria-label={`Selected: ${titleOf(row)}`}>
      <div className="b-head">
        <Heading {...props} />
        <Buttons {...props} />
        <div className="b-tabs" role="tablist" aria-label="About this row">
          <TabButton {...props} tab={tab} its="changes" words="Changes" count={filesOf(row)} />
          {row.kind === "turn" ? (
            <TabButton {...props} tab={tab} its="steps" words="Steps" count={row.steps} />
          ) : null}
          {row.kind === "turn" && row.thread !== null ? (
            <TabButton {...props} tab={tab} its="conversation" words="Conversation" count={0} />
          ) : null}
          <TabButton {...props} tab={tab} its="details" words="Details" count={0} />
        </div>
      </div>
      <div className="b-body" role="tabpanel" aria-label={tab} tabIndex={0}>
        {tab === "steps" && row.kind === "turn" ? <Steps {...props} row={rested} /> : null}
        {tab === "conversation" && row.thread !== null ? (
          <Conversation
            thread={row.thread}
            version={props.version}
            rows={[rested]}
            only={rested}
            agent={row.agent}
            onPlan={props.onPlan}
          />
        ) : null}
        {tab === "details" ? <Details row={rested} gitNow={props.gitNow} /> : null}
        {tab === "changes" ? <GapStrip row={rested} /> : null}
        {tab === "changes" ? (
          <DiffView
            from={pair?.from ?? null}
            to={pair?.to ?? "disk"}
            version={props.version}
            look={props.look}
            own={own}
            ownFiles={row.kind === "turn" && row.status !== "working" ? filesOf(row) : undefined}
            nothing={
              row.kind === "checkpoint" || row.kind === "capture"
                ? "Nothing changed since the checkpoint before."
                : WORDS.changedNothing
            }
            actions={
              target === undefined
                ? {}
                : diffActions({
                    target,
                    verb: row.kind === "turn" ? "Undo" : "Restore",
                    hasHunks: own === undefined,
                    onPlan: props.onPlan,
                  })
            }
          />
        ) : null}
      </div>
    </section>
  );
}

/** The wanted tab, where the row has it. */
function tabFor(row: HistoryRow, tab: Tab): Tab {
  const isTurn = row.kind === "turn";
  if (tab === "steps") return isTurn ? tab : "changes";
  if (tab === "conversation") return isTurn && row.thread !== null ? tab : "changes";
  return tab;
}

/** The two states around a row. */
function pairOf(row: HistoryRow, version: number): Pair | null {
  if (row.before === null) return null;
  if (row.after === null) return { from: row.before, to: "disk", version };
  return { from: row.before, to: row.after };
}

/**
 * Where turns overlapped: what this one changed itself. Elsewhere the two states say the same, and their lines are those
 * that a hunk can be restored to.
 */
function ownOf(row: HistoryRow, isMixed: boolean): Own | undefined {
  return isMixed && row.kind === "turn" && row.after !== null
    ? { row: row.ref, counts: countsOf(row) }
    : undefined;
}

/** The value once it has rested: moving through rows fetches nothing. */
function useRested<Value>(value: Value): Value {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), REST_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return rested;
}

function TabButton(
  props: DetailProps & { readonly its: Tab; readonly words: string; readonly count: number },
): ReactNode {
  const { its, words, count, tab, onTab } = props;
  return (
    <button type="button" role="tab" aria-selected={tab === its} onClick={() => onTab(its)}>
      {words} {count > 0 ? <span className="b-n">{count.toLocaleString("en")}</span> : null}
    </button>
  );
}

const FIRST_WORDS = 220;

function Heading({ row, threadName, onAnnotate, onBranch, onPlan, onBack }: DetailProps): ReactNode {
  const [isWhole, setWhole] = useState(false);
  const act = useAct();
  const title = titleOf(row);
  const isLong = title.length > FIRST_WORDS;
  return (
    <>
      <div className="b-row b-between b-top">
        <button
          type="button"
          className="b-btn b-quiet b-icon b-back"
          aria-label="Back to the list"
          onClick={onBack}
        >
          <Icon name="right" />
        </button>
        <h2 className={isWhole ? "" : "b-clamp"}>
          {title}
          {isLong && !isWhole ? (
            <button type="button" className="b-plain b-more-words" onClick={() => setWhole(true)}>
              more
            </button>
          ) : null}
        </h2>
        <span className="b-row b-gap4">
          {(
            [
              ["note", "edit", "Write a note"],
              ["tags", "tag", "Tags"],
              ["name", "flag", "Name"],
            ] as const
          ).map(([field, icon, words]) => (
            <button
              key={field}
              type="button"
              className="b-btn b-icon b-quiet b-s"
              aria-label={words}
              {...act(() => onAnnotate(field), words)}
            >
              <Icon name={icon} />
            </button>
          ))}
          <RowMenu row={row} onPlan={onPlan} onBranch={onBranch} />
        </span>
      </div>
      <div className={`b-row b-small b-muted b-facts ${agentColour(row.agent)}`}>
        {row.agent === null || row.kind !== "turn" ? null : (
          <>
            <AgentBadge agent={row.agent} />
            <span className="b-who">{agentName(row.agent)}</span>
            <span className="b-sep">·</span>
          </>
        )}
        {threadName === undefined ? null : (
          <>
            <span className="b-cut">{visible(threadName)}</span>
            <span className="b-sep">·</span>
          </>
        )}
        <span>
          {dayAndClock(row.at)}
          {row.endedAt !== null && row.kind === "turn" ? ` to ${clockWithSeconds(row.endedAt)}` : ""}
        </span>
        <GitThen row={row} />
        {row.approved ? <span className="b-chip b-ok">approved</span> : null}
        {row.note ? <span className="b-note-line">{visible(row.note)}</span> : null}
      </div>
    </>
  );
}

/** The branch, the commit and what was staged then; nothing outside of git. */
function GitThen({ row }: { readonly row: HistoryRow }): ReactNode {
  const git = useDetailsOf(useRested(row))?.checkpoint.git;
  if (!git) return null;
  return (
    <>
      <span className="b-sep">·</span>
      <Icon name="branch" small />
      <span className="b-mono">{gitWords({ ...git, stagedTotal: 0 })}</span>
      {git.stagedTotal > 0 ? <span className="b-chip b-edge">{git.stagedTotal} staged</span> : null}
    </>
  );
}

function Buttons({ row, workspace, onPlan }: DetailProps): ReactNode {
  const target = targetOf(row);
  const act = useAct();
  const isTurn = row.kind === "turn";
  const restore = (to: NonNullable<typeof target>) =>
    onPlan({
      kind: "restore",
      target: to.checkpoint,
      name: to.name,
      at: to.at,
      note: row.note,
      ...(isTurn && row.thread && { thread: row.thread }),
    });
  return (
    <div className="b-row b-buttons">
      {row.state === "undone" ? (
        <button
          type="button"
          className="b-btn b-main"
          {...act(() =>
            onPlan({ kind: "redo", name: titleOf(row), ...(row.thread && { thread: row.thread }) }),
          )}
        >
          <Icon name="redo" />
          Redo…
        </button>
      ) : target === undefined ? null : (
        <button type="button" className="b-btn b-main" {...act(() => restore(target))}>
          <Icon name="back" />
          {isTurn
            ? "Restore to before this…"
            : row.kind === "checkpoint" || row.kind === "capture"
              ? "Restore to this checkpoint…"
              : "Restore to before this…"}
        </button>
      )}
      {isTurn && row.state === "applied" ? (
        <button
          type="button"
          className="b-btn"
          {...act(() => onPlan({ kind: "revert", target: row.id, name: `“${titleOf(row)}”` }))}
        >
          <Icon name="undo" />
          Undo only this…
        </button>
      ) : null}
      {row.before === null ? null : (
        <button
          type="button"
          className="b-btn b-quiet"
          onClick={() => go(comparePath(workspace, row.before!, row.after ?? "disk"))}
        >
          <Icon name="compare" />
          Compare…
        </button>
      )}
    </div>
  );
}
