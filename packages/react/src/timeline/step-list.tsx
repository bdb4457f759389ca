/** The tool calls of a turn, one line each; calls that changed nothing are not listed. */
import type { ReactNode } from "react";
import { useBelay } from "../data/belay.tsx";
import type { HistoryRow } from "../data/history.ts";
import { useLoaded, type Loaded } from "../data/loaded.ts";
import { agentColour, Lines } from "../parts/icon.tsx";
import { offset, visible } from "../words.ts";
import type { CallOutput } from "@belay/protocol";

/** One tool call. */
export type Step = CallOutput<"GET /api/history/:seq/steps">["steps"][number];

/** The steps of a row. While it grows they are asked for again. */
export function useSteps(row: HistoryRow | undefined): Loaded<readonly Step[]> {
  const { client, workspace } = useBelay();
  const version = row === undefined ? "" : `${row.ref} ${row.steps} ${row.endedAt} ${row.plus} ${row.minus}`;
  return useLoaded(row === undefined ? null : `steps ${workspace} ${version}`, async () => {
    const answer = await client.call("GET /api/history/:seq/steps", {
      params: { seq: row!.ref },
      query: { workspace },
    });
    return answer.steps;
  });
}

/** The steps below an open row of the timeline. */
export function StepList(props: {
  readonly row: HistoryRow;
  readonly lane: number;
  readonly onSelect: (step: Step) => void;
}): ReactNode {
  const { row, lane } = props;
  const { value: steps = [], isLoading } = useSteps(row);
  return (
    <div className={`b-steps b-lane${lane} ${agentColour(row.agent)}`} role="presentation">
      {isLoading && steps.length === 0 ? <div className="b-step">…</div> : null}
      {steps.map((step) => (
        <div key={step.seq} className="b-step" role="row" aria-level={2} onClick={() => props.onSelect(step)}>
          <time dateTime={step.at} role="gridcell">
            {offset(row.at, step.at)}
          </time>
          <div className="b-what" role="gridcell">
            <span className="b-tool">{visible(step.tool ?? "edit")}</span>
            <span className="b-mono b-cut">{visible(step.summary ?? "")}</span>
            {step.nature === "command" ? <span className="b-chip b-edge">shell</span> : null}
          </div>
          <span role="gridcell">
            <Lines plus={step.plus} minus={step.minus} />
          </span>
        </div>
      ))}
    </div>
  );
}
