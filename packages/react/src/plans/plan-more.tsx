/** What is exact about a plan: its line for the terminal, and the way back of it as a patch. */
import type { ReactNode } from "react";
import { useBelay } from "../data/belay.tsx";
import { inverseOf, patchText } from "../diff/patch.ts";
import { CommandLine } from "../parts/command-line.tsx";
import { copyText } from "../parts/copy.ts";
import { Icon } from "../parts/icon.tsx";
import { useToast } from "../parts/toasts.tsx";
import type { DetailedPlan, PlanRequest } from "./request.ts";
import type { Choices } from "./use-plan.ts";
import { shellWord } from "../words.ts";

/** Paths of a plan that its line names; of more only the number matters. */
const NAMED = 20;

/** The details of a plan, folded until they are wanted. */
export function PlanMore({
  plan,
  ...asked
}: Asked & { readonly plan: DetailedPlan | null | undefined }): ReactNode {
  return plan ? <More {...asked} plan={plan} /> : null;
}

interface Asked {
  readonly request: PlanRequest;
  readonly choices: Choices;
}

interface Planned extends Asked {
  readonly plan: DetailedPlan;
}

function More(props: Planned): ReactNode {
  const { client, workspace } = useBelay();
  const toast = useToast();
  const { plan } = props;
  const copy = async () => {
    const patches: string[] = [];
    for (const { path, pathBase64 } of plan.files) {
      const query = {
        workspace,
        ...(pathBase64 === undefined ? { path } : { pathBase64 }),
        large: "1" as const,
      };
      const diff = await client.call("GET /api/plans/:id/diff", { params: { id: plan.id }, query });
      patches.push(patchText(inverseOf(diff)));
    }
    await copyText(patches.join(""));
    toast({ text: "The patch that takes this back was copied." });
  };
  const line = lineOf(props);
  return (
    <details className="b-plan-more">
      <summary className="b-small b-muted">Details</summary>
      {line === undefined ? null : <CommandLine words="In a terminal" line={line} />}
      <button
        type="button"
        className="b-btn b-s"
        onClick={() =>
          void copy().catch((error: unknown) => toast({ text: (error as Error).message, isFailure: true }))
        }
      >
        <Icon name="copy" small />
        Copy the way back as a patch
      </button>
    </details>
  );
}

/** The same for the terminal; undefined where a line would be too long, or hunks were chosen. */
function lineOf({ request, choices, plan }: Planned): string | undefined {
  const { kind, target = "", thread } = request;
  const isPart = plan.hunks !== null || request.lines !== undefined || choices.except !== undefined;
  const paths = plan.paths ?? [];
  if (isPart || paths.length > NAMED) return undefined;
  const scopes = { files: [], conversation: ["--conversation-only"], both: ["--with-conversation"] };
  const words = {
    restore: [
      target,
      ...paths.map(shellWord),
      "--leave-others",
      ...(choices.keepNew ? ["--keep-new"] : []),
      ...scopes[choices.scope],
    ],
    undo: choices.count > 1 ? [String(choices.count)] : [],
    redo: choices.count > 1 ? [String(choices.count)] : [],
    revert: [target, ...paths.map(shellWord)],
    reset: thread === undefined ? [] : ["--thread", thread],
  }[kind];
  return ["belay", kind, ...words].join(" ");
}
