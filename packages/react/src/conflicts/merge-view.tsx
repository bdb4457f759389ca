/** Conflicts of a merge on the desk; when they are decided, what comes in; when it is in, what it did and the way back. */
import { ClientError } from "@belay/protocol/client";
import { useState, type ReactNode } from "react";
import { useBelay } from "../data/belay.tsx";
import type { Merge } from "../data/facts.ts";
import { Dialog } from "../parts/dialog.tsx";
import { useToast } from "../parts/toasts.tsx";
import { useGoBack } from "../plans/going-back.tsx";
import { PlannedChanges, shownPlan } from "../plans/planned-changes.tsx";
import { quantity, visible } from "../words.ts";
import { ConflictDesk, countYours } from "./conflict-desk.tsx";
import { conflictFrame, ConflictTop } from "./conflict-top.tsx";
import type { ConflictViewProps } from "./conflict-host.ts";
import { useMergeConflicts } from "./merge-conflicts.ts";
import { mergeResult, resolutionWords, sourceNames } from "./merge-result.ts";

/** The view of the conflicts of one merge. */
export function MergeConflicts(props: Omit<ConflictViewProps, "of"> & { readonly merge: string }): ReactNode {
  const { frame = conflictFrame, onLeave, hasKeys = true } = props;
  const [isApplying, setApplying] = useState(false);
  const work = useMergeConflicts(props.merge, isApplying);
  const { source, merge, error, ready } = work;
  const { apply, problem } = useApply(props, work, setApplying);
  const [isGivingUp, setGivingUp] = useState(false);
  const plan = ready && shownPlan(ready.plan);
  const files = plan?.files.length ?? 0;
  const open = merge?.state === "open";
  const title = merge === undefined ? "Merge" : `Merge ${sourceNames(merge)} into ${visible(merge.into)}`;
  const top = (
    <ConflictTop
      title={title}
      conflicts={open ? countYours(source) : 0}
      {...(merge !== undefined && !open && { said: STATES[merge.state] })}
      onLeave={onLeave}
    />
  );
  if (merge === undefined || !open)
    return frame(top, <Over merge={merge} problem={error?.message} onLeave={onLeave} />);
  return frame(
    top,
    <>
      <ConflictDesk
        source={source}
        hasKeys={hasKeys}
        onLeave={onLeave}
        apply={{
          words: plan === undefined ? "Merge" : `Merge ${quantity(files, "file")}`,
          why: isApplying
            ? "It is being carried out."
            : plan === undefined
              ? "The plan is being made."
              : undefined,
          run: () => void apply(),
        }}
        more={
          <button type="button" className="b-btn b-quiet" onClick={() => setGivingUp(true)}>
            Give this merge up…
          </button>
        }
        summary={
          <>
            {(problem ?? error?.message) === undefined ? null : (
              <p className="b-bad" role="alert">
                {visible(problem ?? error!.message)}
              </p>
            )}
            <h2 className="b-desk-head">Everything is decided. {resolutionWords(merge)}</h2>
            {plan === undefined ? null : (
              <div className="b-card b-whole-plan">
                <PlannedChanges plan={plan} createdWords="Will be added" />
              </div>
            )}
          </>
        }
      />
      {isGivingUp ? <GiveUp merge={merge} onClose={() => setGivingUp(false)} onDone={onLeave} /> : null}
    </>,
  );
}

const STATES = { open: "", applied: "Merged", abandoned: "Given up" } as const;

/** A merge that waits for nothing any more. */
function Over(props: {
  readonly merge: Merge | undefined;
  readonly problem: string | undefined;
  onLeave(): void;
}): ReactNode {
  const { merge, problem } = props;
  const undo = useGoBack();
  if (merge === undefined) return <p className="b-empty">{visible(problem ?? "")}</p>;
  return (
    <main className="b-scroll">
      <div className="b-page">
        <h2>
          {merge.state === "applied"
            ? `${sourceNames(merge)} is in ${visible(merge.into)}.`
            : `The merge of ${sourceNames(merge)} was given up.`}
        </h2>
        <p className="b-muted">{resolutionWords(merge)}</p>
        <ul className="b-plain-list">
          {merge.sources.map(({ branch, outcome }) => (
            <li key={branch}>
              <span className="b-mono">{visible(branch)}</span>{" "}
              <span className="b-muted">
                {outcome === "merged" ? "came in" : outcome === "held" ? "was held back" : "had nothing new"}
              </span>
            </li>
          ))}
        </ul>
        <p className="b-row b-buttons">
          {merge.state === "applied" ? (
            <button type="button" className="b-btn" onClick={() => undo({ kind: "undo", name: "" })}>
              Undo…
            </button>
          ) : null}
          <button type="button" className="b-btn" data-first onClick={props.onLeave}>
            Back to the timeline
          </button>
        </p>
      </div>
    </main>
  );
}

/** Asks before decisions are lost. */
function GiveUp(props: { readonly merge: Merge; onClose(): void; onDone(): void }): ReactNode {
  const { merge, onClose } = props;
  const { client, workspace } = useBelay();
  const toast = useToast();
  const abandon = async () => {
    try {
      await client.call("POST /api/merges/:id/abandon", {
        params: { id: merge.id },
        query: { workspace },
        body: {},
      });
      toast({ text: `The merge of ${sourceNames(merge)} was given up. No file was changed.` });
      props.onDone();
    } catch (error) {
      toast({ text: (error as Error).message, isFailure: true });
    }
    onClose();
  };
  return (
    <Dialog
      title={`Give up the merge of ${sourceNames(merge)}`}
      about="What came in already stays. What was held back stays on its branch, as if it had not been tried. The decisions made here are gone; no file changes."
      isSmall
      onClose={onClose}
      onConfirm={() => void abandon()}
    >
      <footer className="b-dialog-foot">
        <span className="b-grow" />
        <button type="button" className="b-btn" data-first onClick={onClose}>
          Cancel <kbd>Esc</kbd>
        </button>
        <button type="button" className="b-btn b-danger" onClick={() => void abandon()}>
          Give it up <kbd>Ctrl ⏎</kbd>
        </button>
      </footer>
    </Dialog>
  );
}

function useApply(
  { compare }: Pick<ConflictViewProps, "compare">,
  work: ReturnType<typeof useMergeConflicts>,
  setApplying: (isApplying: boolean) => void,
) {
  const { client, workspace } = useBelay();
  const toast = useToast();
  const undo = useGoBack();
  const [problem, setProblem] = useState<string>();
  const apply = async () => {
    const { ready } = work;
    if (ready === undefined) return;
    setApplying(true);
    try {
      const outcome = await client.call("POST /api/merges/:id/apply", {
        params: { id: ready.merge.id },
        query: { workspace },
        body: { planId: ready.plan.id },
      });
      toast(mergeResult(outcome, { undo, compare }));
      setProblem(undefined);
    } catch (error) {
      const isStale = error instanceof ClientError && error.code === "PLAN_STALE";
      setProblem(
        isStale
          ? "The files changed since. Nothing was changed. This is the new plan; look again."
          : (error as Error).message,
      );
    }
    setApplying(false);
    work.again();
  };
  return { apply, problem };
}
