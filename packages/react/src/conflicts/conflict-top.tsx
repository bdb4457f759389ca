/** What stands on top of the conflict view: of what, how many, and that nothing has changed yet. */
import type { ReactNode } from "react";
import { Icon } from "../parts/icon.tsx";
import { conflictCount, CONFLICT_WORDS } from "./conflict-words.ts";

/** The line on top of a conflict. */
export function ConflictTop(props: {
  readonly title: string;
  readonly conflicts: number;
  /** Said at the right; by default, that nothing has changed. */
  readonly said?: string;
  onLeave(): void;
}): ReactNode {
  return (
    <>
      <button
        type="button"
        className="b-btn b-quiet b-icon"
        aria-label="Back to the timeline"
        onClick={props.onLeave}
      >
        <span className="b-turned">
          <Icon name="right" />
        </span>
      </button>
      <span className="b-strong b-cut">{props.title}</span>
      {props.conflicts === 0 ? null : (
        <span className="b-chip b-warn">
          <Icon name="warn" small />
          {conflictCount(props.conflicts)}
        </span>
      )}
      <span className="b-grow" />
      <span className="b-small b-muted b-nowrap b-wide">
        <Icon name="shield" small /> {props.said ?? CONFLICT_WORDS.nothingYet}
      </span>
    </>
  );
}

/** The default frame, for hosts without one. */
export function conflictFrame(top: ReactNode, desk: ReactNode): ReactNode {
  return (
    <div className="belay b-conflict-view">
      <header className="b-topbar">{top}</header>
      {desk}
    </div>
  );
}
