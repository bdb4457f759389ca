/** The tool calls of a turn, each with its own changes and its own way back. */
import {
  clockWithSeconds,
  DiffView,
  Icon,
  Lines,
  offset,
  quoted,
  useAct,
  useSteps,
  visible,
  type DiffLook,
  type HistoryRow,
  type PlanRequest,
  type Step,
} from "@belay/react";
import { useState, type ReactNode } from "react";

/** The turn, how lines are drawn, and what opens a preview. */
export interface StepsProps {
  readonly row: HistoryRow;
  readonly look: DiffLook;
  /** Another turn was at work at the same time. */
  readonly isMixed: boolean;
  onPlan(request: PlanRequest): void;
}

/** Another text when more of it has come in. */
export function countsOf({ added, modified, deleted, plus, minus }: HistoryRow | Step): string {
  return [added, modified, deleted, plus, minus].join();
}

/** The steps of a row, one open at a time. */
export function Steps({ row, look, isMixed, onPlan }: StepsProps): ReactNode {
  const { value: steps, error } = useSteps(row);
  const [open, setOpen] = useState<number>();
  const act = useAct();
  if (error !== undefined) return <p className="b-empty">{error.message}</p>;
  if (steps === undefined) return <div className="b-skeleton b-card b-later" />;
  if (steps.length === 0) return <p className="b-empty">No tool call of this turn changed a file.</p>;
  const words = (step: Step) => `${step.tool ?? "edit"} ${step.summary ?? ""}`.trim();
  return (
    <ol className="b-step-cards">
      {steps.map((step) => (
        <li key={step.seq} className="b-card">
          <div className="b-row b-step-head">
            <button
              type="button"
              className="b-plain b-row b-grow"
              aria-expanded={open === step.seq}
              onClick={() => setOpen(open === step.seq ? undefined : step.seq)}
            >
              <Icon name={open === step.seq ? "down" : "right"} small />
              <time className="b-num b-faint" dateTime={step.at} title={clockWithSeconds(step.at)}>
                {offset(row.at, step.at)}
              </time>
              <span className="b-strong">{visible(step.tool ?? "edit")}</span>
              <span className="b-mono b-cut">{visible(step.summary ?? "")}</span>
              <span className="b-grow" />
              <Lines plus={step.plus} minus={step.minus} />
            </button>
            {step.before === null ? null : (
              <button
                type="button"
                className="b-btn b-s b-quiet"
                aria-label={`Restore to before ${words(step)}`}
                {...act(() =>
                  onPlan({
                    kind: "restore",
                    target: step.before!,
                    name: `before ${quoted(visible(words(step)))}`,
                    at: step.at,
                    ...(row.thread && { thread: row.thread }),
                  }),
                )}
              >
                <Icon name="back" small />
                Restore…
              </button>
            )}
          </div>
          {open === step.seq && step.before !== null ? (
            <div className="b-step-body">
              <DiffView
                from={step.before}
                to={step.after}
                own={isMixed ? { row: row.ref, step: step.seq, counts: countsOf(step) } : undefined}
                look={look}
              />
            </div>
          ) : null}
        </li>
      ))}
    </ol>
  );
}
