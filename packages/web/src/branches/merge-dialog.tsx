/** Bringing a branch in: what it would do to the files and what conflicts, then doing it as one step. */
import {
  mergeResult,
  quantity,
  shownPlan,
  useBelay,
  useGoBack,
  useLoaded,
  useToast,
  visible,
  type Branch,
} from "@belay/react";
import { useState, type ReactNode } from "react";
import { comparePath, conflictsPath, go } from "../address.ts";
import { addressName } from "./address-name.ts";
import { ChangeDialog } from "./change-dialog.tsx";

/** The dialog that merges branches into the one here. */
export function MergeDialog(props: {
  readonly branch: Branch;
  readonly into: string;
  onClose(): void;
}): ReactNode {
  const { branch, into, onClose } = props;
  const { planned, problem, isApplying, apply } = useMerge(branch.name, onClose);
  const merge = planned.value?.merge;
  const plan = planned.value && shownPlan(planned.value.plan);
  const files = plan?.files.length ?? 0;
  const conflicts = merge?.conflictsTotal ?? 0;
  const held =
    conflicts === 0
      ? []
      : [
          `${quantity(conflicts, "file")} ${conflicts === 1 ? "was" : "were"} changed on both sides. ${visible(branch.name)} is held back whole until you decide; no file changes before.`,
        ];
  const left = (merge?.notMerged ?? []).map(({ path, reason }) => `Not merged: ${path}, ${reason}.`);
  return (
    <ChangeDialog
      title={`Merge ${visible(branch.name)} into ${visible(into)}`}
      about={
        merge === undefined
          ? ""
          : `${quantity(files, "file")} ${files === 1 ? "changes" : "change"}, ${quantity(merge.mergedTotal, "file")} merged by lines, ${quantity(conflicts, "conflict")}.`
      }
      plan={plan}
      notes={[...held, ...left]}
      problem={problem ?? planned.error?.message}
      words={conflicts > 0 ? `Decide ${quantity(conflicts, "conflict")}` : `Merge ${quantity(files, "file")}`}
      isApplying={isApplying}
      onClose={onClose}
      onConfirm={apply}
    />
  );
}

function useMerge(name: string, onClose: () => void) {
  const { client, workspace } = useBelay();
  const toast = useToast();
  const undo = useGoBack();
  const [tries, setTries] = useState(0);
  const [isApplying, setApplying] = useState(false);
  const [problem, setProblem] = useState<string>();
  const planned = useLoaded(`merging ${name} ${tries} !`, () =>
    client.call("POST /api/branches/:name/merge", {
      params: { name: addressName(name) },
      query: { workspace },
      body: {},
    }),
  );
  const carryOut = async () => {
    const { merge, plan } = planned.value!;
    setApplying(true);
    try {
      const outcome = await client.call("POST /api/merges/:id/apply", {
        params: { id: merge.id },
        query: { workspace },
        body: { planId: plan.id },
      });
      onClose();
      if (outcome.state === "open") go(conflictsPath(workspace, outcome.id));
      else toast(mergeResult(outcome, { undo, compare: (from, to) => go(comparePath(workspace, from, to)) }));
    } catch (error) {
      setApplying(false);
      setTries(tries + 1);
      setProblem((error as Error).message);
    }
  };
  return { planned, problem, isApplying, apply: () => void carryOut() };
}
