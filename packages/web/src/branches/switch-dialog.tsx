/** Going to another branch: what it would do to the files, then doing it; an undo goes back, files and branch together. */
import { ClientError } from "@belay/protocol/client";
import {
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
import { addressName } from "./address-name.ts";
import { ChangeDialog } from "./change-dialog.tsx";

/** The dialog before the files change to another branch. */
export function SwitchDialog(props: {
  readonly branch: Branch;
  /** The branch that is left. */
  readonly from: string;
  onClose(): void;
}): ReactNode {
  const { branch, from, onClose } = props;
  const [keepFiles, setKeepFiles] = useState(false);
  const [whileWorking, setWhileWorking] = useState(false);
  const { planned, plan, problem, isApplying, apply } = useSwitch(branch.name, {
    keepFiles,
    whileWorking,
    onClose,
  });
  const files = plan?.files.length ?? 0;
  const isRefused = planned.error instanceof ClientError && planned.error.code === "BRANCH_IN_USE";
  return (
    <ChangeDialog
      title={`Switch to ${visible(branch.name)}`}
      about={`${quantity(files, "file")} ${files === 1 ? "changes" : "change"}. What is here now is captured on ${visible(from)} first.`}
      plan={planned.error === undefined && !planned.isLoading ? plan : undefined}
      notes={planned.value?.plan?.warnings ?? []}
      problem={problem ?? planned.error?.message}
      words={files === 0 ? "Switch" : `Switch, ${quantity(files, "file")}`}
      isApplying={isApplying}
      onClose={onClose}
      onConfirm={apply}
    >
      <div className="b-row b-gap16 b-wraps">
        <label className="b-choice">
          <input
            type="checkbox"
            className="b-box"
            checked={keepFiles}
            onChange={() => setKeepFiles(!keepFiles)}
          />
          Keep the files as they are
        </label>
        {isRefused || whileWorking ? (
          <label className="b-choice">
            <input
              type="checkbox"
              className="b-box"
              checked={whileWorking}
              onChange={() => setWhileWorking(!whileWorking)}
            />
            Although an agent is at work here
          </label>
        ) : null}
      </div>
    </ChangeDialog>
  );
}

function useSwitch(
  name: string,
  how: { readonly keepFiles: boolean; readonly whileWorking: boolean; onClose(): void },
) {
  const { client, workspace } = useBelay();
  const toast = useToast();
  const undo = useGoBack();
  const [tries, setTries] = useState(0);
  const [isApplying, setApplying] = useState(false);
  const [problem, setProblem] = useState<string>();
  const { keepFiles, whileWorking, onClose } = how;
  const params = { name: addressName(name) };
  const planned = useLoaded(`switch ${name} ${keepFiles} ${whileWorking} ${tries} !`, () =>
    client.call("GET /api/branches/:name/switch/preview", {
      params,
      query: { workspace, ...(keepFiles && { keepFiles: "1" }), ...(whileWorking && { whileWorking: "1" }) },
    }),
  );
  const carryOut = async () => {
    const plan = planned.value?.plan;
    if (!plan) return;
    setApplying(true);
    try {
      const outcome = await client.call("POST /api/branches/:name/switch", {
        params,
        query: { workspace },
        body: { planId: plan.id },
      });
      onClose();
      const files = quantity(outcome.created + outcome.modified + outcome.deleted, "file");
      toast({
        text: `Switched to ${visible(name)}: ${files}.`,
        made: outcome.newCheckpoint,
        action: { words: "Undo", run: () => undo({ kind: "undo", name: "" }) },
      });
    } catch (error) {
      setApplying(false);
      setTries(tries + 1);
      setProblem((error as Error).message);
    }
  };
  const plan = planned.value?.plan && shownPlan(planned.value.plan);
  return { planned, plan, problem, isApplying, apply: () => void carryOut() };
}
