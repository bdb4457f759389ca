/** The one dialog that is open, and what the page says after it. */
import {
  agentName,
  PlanDialog,
  quantity,
  quoted,
  useToast,
  type DetailedPlan,
  type HistoryRow,
  type PlanOutcome,
  type PlanRequest,
  type Toast,
} from "@belay/react";
import { useCallback, useState, type ReactNode } from "react";
import { AnnotateDialog } from "./annotate-dialog.tsx";
import { CheckpointDialog } from "./checkpoint-dialog.tsx";
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
  const close = () => setDialog(undefined);
  const plan = useCallback((request: PlanRequest) => setDialog({ kind: "plan", request }), []);
  const done = (request: PlanRequest) => (outcome: PlanOutcome, made: DetailedPlan) => {
    close();
    onChanged();
    toast(resultOf(request, { outcome, made, plan }));
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

interface Result {
  readonly outcome: PlanOutcome;
  readonly made: DetailedPlan;
  readonly plan: (request: PlanRequest) => void;
}

/** "Restored 12 files to before “Add retry…”. Codex’s 2 files were left alone." with its way back. */
function resultOf({ kind, name }: PlanRequest, { outcome, made, plan }: Result): Toast {
  const files = quantity(outcome.created + outcome.modified + outcome.deleted, "file");
  const step = made.steps[0];
  const what = {
    restore: `Restored ${files} to ${name}.`,
    undo: `Undid ${step === undefined ? "the last step" : quoted(step.prompt ?? step.description, 50)}: ${files}.`,
    redo: `Redid ${step === undefined ? "the step" : quoted(step.prompt ?? step.description, 50)}: ${files}.`,
    revert: `Undid only ${name}: ${files}.`,
    reset: `Reset ${files} of ${name}.`,
  }[kind];
  const alone = made.leftAlone.map(
    (left) =>
      `${agentName(left.agent)}’s ${quantity(left.files.length, "file")} ${left.files.length === 1 ? "was" : "were"} left alone.`,
  );
  const skipped =
    outcome.skipped.length === 0
      ? []
      : [
          `${quantity(outcome.skipped.length, "file")} skipped: ${outcome.skipped[0]!.path}, ${outcome.skipped[0]!.reason}.`,
        ];
  const displaced =
    outcome.displaced.length === 0
      ? []
      : [`Written meanwhile and kept: ${outcome.displaced.map(({ path }) => path).join(", ")}.`];
  const back = kind === "undo" ? ("redo" as const) : ("undo" as const);
  return {
    text: [what, ...alone, ...skipped, ...displaced].join(" "),
    isFailure: outcome.outcome === "partial",
    action: { words: back === "redo" ? "Redo" : "Undo", run: () => plan({ kind: back, name: "" }) },
  };
}
