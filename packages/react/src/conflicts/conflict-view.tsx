/** The view in which conflicts are decided: those of going back, or those of a merge. */
import type { ReactNode } from "react";
import type { ConflictViewProps } from "./conflict-host.ts";
import { MergeConflicts } from "./merge-view.tsx";
import { PlanConflicts } from "./plan-view.tsx";

/** Decides conflicts. Nothing is written before the last button. */
export function ConflictView(props: ConflictViewProps): ReactNode {
  const { of } = props;
  return "merge" in of ? (
    <MergeConflicts {...props} merge={of.merge} />
  ) : (
    <PlanConflicts {...props} plan={of.plan} />
  );
}
