import { useEffect, useState, type ReactNode } from "react";
import { quantity } from "../words.ts";
import type { PlanState, RestoreProgress } from "./use-plan.ts";

const SHOWN_AFTER_MS = 400;

/** What the bar counts in each phase, and how the number beside it is said. Nothing is in place before `changing`. */
const PHASES: Readonly<
  Record<RestoreProgress["phase"], { readonly bar: string; said(done: string): string }>
> = {
  saving: { bar: "Files saved", said: (done) => `Saving what is there: ${done}` },
  staging: { bar: "Files prepared", said: (done) => `Preparing: ${done}` },
  changing: { bar: "Files in place", said: (done) => `${done} in place` },
  clearing: { bar: "Replaced files cleared away", said: (done) => `In place. Clearing up: ${done}` },
};

/** How far it is; short work shows nothing. */
export function Applying(props: {
  readonly files: number;
  readonly progress: PlanState["progress"];
}): ReactNode {
  const { files, progress } = props;
  const words = PHASES[progress?.phase ?? "saving"];
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), SHOWN_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div className="b-applying" role="status">
      {isShown ? (
        <>
          <span className="b-strong">Restoring {quantity(files, "file")}</span>
          <progress
            className="b-bar"
            aria-label={words.bar}
            value={progress?.done}
            max={progress?.total || undefined}
          />
          <span className="b-muted">
            {progress === undefined ? "" : words.said(progress.done.toLocaleString("en"))}
          </span>
          <span className="b-small b-muted">
            If the power fails now, the next command finishes this or takes it back.
          </span>
        </>
      ) : null}
    </div>
  );
}
