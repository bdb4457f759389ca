/** The way back at the bottom right of a message. */
import type { ReactNode } from "react";
import { Icon } from "../parts/icon.tsx";
import { useAct } from "../parts/use-act.ts";
import { WORDS } from "../words.ts";

/** What the badge belongs to and does. */
export interface CheckpointBadgeProps {
  readonly messageId: string;
  /** Whether the answer changed anything: without changes there is no badge. */
  readonly hasChanges?: boolean;
  readonly isRestoring?: boolean;
  /** "quiet": always there, in the background; "hover": only under the pointer or the focus. */
  readonly reveal?: "quiet" | "hover";
  /** The words of the message, for readers: "Restore… to before Add a button". */
  readonly name?: string;
  readonly className?: string;
  onRestore(messageId: string): void;
}

/** Opens the way back to before a message; it acts on nothing by itself. */
export function CheckpointBadge(props: CheckpointBadgeProps): ReactNode {
  const { messageId, hasChanges = true, isRestoring = false, reveal = "quiet", name, className = "" } = props;
  const act = useAct();
  if (!hasChanges) return null;
  return (
    <button
      type="button"
      className={`belay b-btn b-s b-quiet b-badge b-reveal-${reveal} ${className}`}
      aria-label={name === undefined ? "Restore…" : `Restore… to before ${name}`}
      aria-busy={isRestoring}
      aria-disabled={isRestoring}
      data-message={messageId}
      {...act(() => isRestoring || props.onRestore(messageId), WORDS.undoTitle)}
    >
      {isRestoring ? <span className="b-spinner" aria-hidden="true" /> : <Icon name="back" small />}
      {isRestoring ? "Restoring…" : "Restore…"}
    </button>
  );
}
