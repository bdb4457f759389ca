/** The one dialog that is open, and what the page says after it. */
import {
  AnnotateDialog,
  CheckpointDialog,
  PlanDialog,
  planResult,
  useBelay,
  useToast,
  type DetailedPlan,
  type HistoryRow,
  type PlanOutcome,
  type PlanRequest,
} from "@belay/react";
import { useCallback, useState, type ReactNode } from "react";
import { comparePath, go } from "../address.ts";
import { KeysDialog } from "./keys-dialog.tsx";

/** A dialog to open. */
export type OpenDialog =
  | { readonly kind: "plan"; readonly request: PlanRequest }
  | { readonly kind: "checkpoint" }
  | { readonly kind: "annotate"; readonly row: HistoryRow; readonly field: "name" | "note" | "tags" }
  | { readonly kind: "keys" };

/** Opens dialogs; `element` is the one that is open. */
export function useDialogs(onChanged: () => void): {
  readonly open: (dialog: OpenDialog) => void;
  readonly plan: (request: PlanRequest) => void;
  readonly isOpen: boolean;
  readonly element: ReactNode;
} {
  const [dialog, setDialog] = useState<OpenDialog>();
  const toast = useToast();
  const { workspace } = useBelay();
  const close = () => setDialog(undefined);
  const plan = useCallback((request: PlanRequest) => setDialog({ kind: "plan", request }), []);
  const done = (request: PlanRequest) => (outcome: PlanOutcome, made: DetailedPlan) => {
    close();
    onChanged();
    const compare = (from: string, to: string) => go(comparePath(workspace, from, to));
    toast(planResult(request, { outcome, made, plan, compare }));
  };
  return {
    open: setDialog,
    plan,
    isOpen: dialog !== undefined,
    element:
      dialog === undefined ? null : dialog.kind === "plan" ? (
        <PlanDialog
          key={JSON.stringify(dialog.request)}
          request={dialog.request}
          onClose={close}
          onDone={done(dialog.request)}
        />
      ) : dialog.kind === "checkpoint" ? (
        <CheckpointDialog onClose={close} />
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
