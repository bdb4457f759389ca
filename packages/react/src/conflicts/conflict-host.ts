/** What the conflict view has in common with its host. */
import type { ReactNode } from "react";
import type { DecidablePlan } from "./plan-question.ts";

/** What a host gives and gets. */
export interface ConflictViewProps {
  /** The plan that was refused, or the merge that waits. */
  readonly of: { readonly plan: DecidablePlan } | { readonly merge: string };
  /** Digits and letters act unless this is false. */
  readonly hasKeys?: boolean;
  /** Puts what stands on top, and the rest, into the host's own frame. */
  frame?(top: ReactNode, desk: ReactNode): ReactNode;
  /** Left, or carried out. */
  onLeave(): void;
  /** Shows two states; without it there is no such button. */
  compare?(from: string, to: string): void;
}
