import { useEffect, useState, type ReactNode } from "react";
import { quantity } from "../words.ts";
import type { PlanState } from "./use-plan.ts";

const SHOWN_AFTER_MS = 400;

/** How far it is; short work shows nothing. */
export function Applying(props: {
  readonly files: number;
  readonly progress: PlanState["progress"];
}): ReactNode {
  const { files, progress } = props;
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), SHOWN_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  const total = progress?.total ?? files;
  return (
    <div className="b-applying" role="status">
      {isShown ? (
        <>
          <span className="b-strong">Restoring {quantity(total, "file")}</span>
          <progress className="b-bar" aria-label="Files in place" value={progress?.done} max={total} />
          <span className="b-muted">
            {progress === undefined ? "" : `${progress.done.toLocaleString("en")} in place`}
          </span>
          <span className="b-small b-muted">
            If the power fails now, the next command finishes this or takes it back.
          </span>
        </>
      ) : null}
    </div>
  );
}
