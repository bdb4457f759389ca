/** Conflicts of an undo, redo, "only this" or reset, on the desk; the summary shows the plan with every decision. */
import { ClientError } from "@belay/protocol/client";
import { useState, type ReactNode } from "react";
import { useBelay } from "../data/belay.tsx";
import { useToast } from "../parts/toasts.tsx";
import { useGoBack } from "../plans/going-back.tsx";
import { planResult } from "../plans/plan-result.ts";
import { PlannedChanges } from "../plans/planned-changes.tsx";
import { confirmWords, stepWords, type DetailedPlan } from "../plans/request.ts";
import { quantity, visible } from "../words.ts";
import { ConflictDesk, countYours } from "./conflict-desk.tsx";
import { conflictFrame, ConflictTop } from "./conflict-top.tsx";
import type { ConflictViewProps } from "./conflict-host.ts";
import { usePlanConflicts } from "./plan-conflicts.ts";
import type { DecidablePlan } from "./plan-question.ts";

type PlanViewProps = Omit<ConflictViewProps, "of"> & { readonly plan: DecidablePlan };

/** The view of the conflicts of one plan. */
export function PlanConflicts(props: PlanViewProps): ReactNode {
  const { plan: body, frame = conflictFrame, onLeave, hasKeys = true } = props;
  const [isApplying, setApplying] = useState(false);
  const work = usePlanConflicts(body, isApplying);
  const { source, whole, error, ready } = work;
  const { apply, problem } = useApply(props, work, setApplying);
  const title = titleOf(body, whole);
  const files = ready?.files.length ?? 0;
  const said = problem ?? error?.message;
  return frame(
    <ConflictTop title={title} conflicts={countYours(source)} onLeave={onLeave} />,
    whole === null || (whole !== undefined && countYours(source) === 0) ? (
      <p className="b-empty">Nothing is in conflict any more. Go back and try again.</p>
    ) : (
      <ConflictDesk
        source={source}
        hasKeys={hasKeys}
        onLeave={onLeave}
        apply={{
          words: ready === undefined || files === 0 ? "Apply" : confirmWords(body.kind, files),
          why: whyNot({ ready, isApplying }),
          run: () => void apply(),
        }}
        summary={<Summary said={said} ready={ready} />}
      />
    ),
  );
}

/** "Undo “Add retry with exponential backoff…”". */
function titleOf({ kind }: DecidablePlan, plan: DetailedPlan | null | undefined): string {
  if (!plan) return "Conflicts";
  const verbs = { undo: "Undo", redo: "Redo", revert: "Undo only", reset: "Reset" };
  const step = stepWords(plan);
  return visible(step === undefined || kind === "reset" ? plan.description : `${verbs[kind]} ${step}`);
}

function whyNot(state: {
  readonly ready: DetailedPlan | null | undefined;
  readonly isApplying: boolean;
}): string | undefined {
  if (state.isApplying) return "It is being carried out.";
  if (state.ready === undefined) return "The plan is being made.";
  if (state.ready === null || state.ready.files.length === 0)
    return "With these decisions everything stays as it is.";
  return state.ready.conflicts.length > 0 ? "There is another conflict now." : undefined;
}

function Summary(props: {
  readonly said: string | undefined;
  readonly ready: DetailedPlan | null | undefined;
}): ReactNode {
  const { said, ready } = props;
  return (
    <>
      {said === undefined ? null : (
        <p className="b-bad" role="alert">
          {visible(said)}
        </p>
      )}
      <h2 className="b-desk-head">
        {ready === undefined
          ? "Everything is decided."
          : `Everything is decided. ${quantity(ready?.files.length ?? 0, "file")} would change.`}
      </h2>
      {ready ? (
        <div className="b-card b-whole-plan">
          <PlannedChanges plan={ready} />
        </div>
      ) : null}
    </>
  );
}

function useApply(
  { onLeave, compare, plan: body }: PlanViewProps,
  work: ReturnType<typeof usePlanConflicts>,
  setApplying: (isApplying: boolean) => void,
) {
  const { client, workspace } = useBelay();
  const toast = useToast();
  const plan = useGoBack();
  const [problem, setProblem] = useState<string>();
  const apply = async () => {
    const { ready } = work;
    if (!ready) return;
    setApplying(true);
    try {
      const input = { params: { id: ready.id }, query: { workspace }, body: {} };
      const outcome = await client.call("POST /api/plans/:id/apply", input);
      work.forget();
      const asked = { kind: body.kind, name: stepWords(ready) ?? "" };
      toast(planResult(asked, { outcome, made: ready, plan, compare, isOwnStep: true }));
      onLeave();
    } catch (error) {
      setApplying(false);
      const isStale = error instanceof ClientError && error.code === "PLAN_STALE";
      setProblem(
        isStale
          ? "The files changed since. Nothing was changed. This is the new plan; look again."
          : (error as Error).message,
      );
      work.again();
    }
  };
  return { apply, problem };
}
