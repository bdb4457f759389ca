/** The one dialog that is open. */
import {
  AnnotateDialog,
  CheckpointDialog,
  useBelay,
  usePlans,
  type DecidablePlan,
  type HistoryRow,
  type PlanBody,
  type PlanRequest,
  type Target,
} from "@belay/react";
import { useState, type ReactNode } from "react";
import { comparePath, conflictsPath, go } from "../address.ts";
import { BranchDialog } from "../branches/branch-dialog.tsx";
import { KeysDialog } from "./keys-dialog.tsx";

/** A dialog to open. */
export type OpenDialog =
  | { readonly kind: "checkpoint" }
  | { readonly kind: "annotate"; readonly row: HistoryRow; readonly field: "name" | "note" | "tags" }
  | { readonly kind: "branch"; readonly from: Pick<Target, "checkpoint" | "name"> }
  | { readonly kind: "keys" };

/** Opens dialogs; `element` is the one that is open. */
export function useDialogs(onChanged: () => void): {
  readonly open: (dialog: OpenDialog) => void;
  readonly plan: (request: PlanRequest) => void;
  readonly isOpen: boolean;
  readonly element: ReactNode;
} {
  const [dialog, setDialog] = useState<OpenDialog>();
  const { workspace } = useBelay();
  const compare = (from: string, to: string) => go(comparePath(workspace, from, to));
  const decide = (body: PlanBody) => go(conflictsPath(workspace, body as DecidablePlan));
  const { plan, ...plans } = usePlans({ onChanged, compare, decide });
  const close = () => setDialog(undefined);
  return {
    open: setDialog,
    plan,
    isOpen: dialog !== undefined || plans.isOpen,
    element:
      dialog === undefined ? (
        plans.element
      ) : dialog.kind === "checkpoint" ? (
        <CheckpointDialog onClose={close} />
      ) : dialog.kind === "branch" ? (
        <BranchDialog from={dialog.from} onClose={close} />
      ) : dialog.kind === "annotate" ? (
        <AnnotateDialog
          row={dialog.row}
          field={dialog.field}
          onClose={close}
          onSaved={() => {
            close();
            onChanged();
          }}
        />
      ) : (
        <KeysDialog onClose={close} />
      ),
  };
}
