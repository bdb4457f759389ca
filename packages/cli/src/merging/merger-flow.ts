/** Asks a merger about conflicts, says what became of each, and brings in what is decided by that. */
import { readAgentBook, type AgentBook } from "@belay/agents/orchestration";
import { readProgramSettings, type MergeConflict, type MergeOutcome, type Workspace } from "@belay/engine";
import { ContractError, EXIT } from "@belay/protocol/errors";
import { mergeOutcomeJson } from "@belay/server/json";
import { agreeToCommands } from "../agents/known-commands.ts";
import { declined } from "../call/confirmation.ts";
import { untilInterrupted } from "../call/until-interrupted.ts";
import { visible, visiblePath } from "../output/visible.ts";
import { openSyntax } from "../wiring/open-syntax.ts";
import { askMerger, canBeMerged, type MergerReport } from "./ask-merger.ts";
import { applyRest, bringIn, isDone, openHere, type BringInCall } from "./bring-in.ts";
import { report } from "./merge-flow.ts";
import { mergePrograms } from "./merge-programs.ts";
import { mergerOf, mergerWords, type Merger } from "./merger.ts";

/** Who is asked, about what. */
export interface MergerFlow {
  /** A command that the user typed; without one the merger of the settings. */
  readonly command?: readonly string[];
  readonly conflicts: readonly MergeConflict[];
}

/** Asks whether to take what a merger agent made, and brings it in; returns the exit code. */
export async function askAndBringIn(
  call: BringInCall,
  workspace: Workspace,
  flow: MergerFlow,
): Promise<number> {
  const conflicts = flow.conflicts.filter(canBeMerged);
  const agents = readAgentBook(readProgramSettings(call.home, workspace.id).agents);
  const merger = chosen(flow, agents);
  if (conflicts.length === 0) throw nothingToAsk();
  const agreement = {
    workspace: workspace.id,
    commands: [mergerWords(merger)],
    notices: [`It gets a copy of the project for ${conflicts.length} of its conflicts.`],
    yes: call.options.yes === true,
  };
  if (!(await agreeToCommands(call, agreement))) return declined(call);
  const syntax = await openSyntax();
  const asked = await untilInterrupted(async (signal) => {
    const request = { workspace: workspace.id, yes: call.options.yes === true, signal };
    const programs = await mergePrograms(call, request);
    if (programs === undefined) return undefined;
    const { check } = programs;
    return askMerger(call, workspace, { merger, agents, conflicts, syntax, check, signal });
  });
  if (asked === undefined) return declined(call);
  tell(call, asked);
  return bringInAnswered(call, workspace, asked);
}

function chosen({ command }: MergerFlow, agents: AgentBook): Merger {
  return command === undefined ? mergerOf(agents) : { kind: "agent", agent: agents.command(command) };
}

function nothingToAsk(): ContractError {
  const message = "No conflict of text is left for a program. Nothing was changed.";
  return new ContractError("ANSWER_REFUSED", message, { facts: { conflict: "", options: [] } });
}

function tell({ json, output }: BringInCall, { results }: MergerReport): void {
  if (json || output.quiet) return;
  for (const { conflict, outcome, problems } of results)
    output.print(
      [`${visiblePath(conflict.path)}: ${outcome}`, ...problems.map((each) => `  ${visible(each)}`)].join(
        "\n",
      ),
    );
}

/** Brings in each merge of which a program decided the last conflict. */
async function bringInAnswered(
  call: BringInCall,
  workspace: Workspace,
  { results, cost, tokens }: MergerReport,
): Promise<number> {
  const open = (await openHere(workspace)).length;
  const last = new Map(
    results.flatMap(({ conflict, outcome }) =>
      outcome === "resolved" ? [[conflict.merge, conflict.id]] : [],
    ),
  );
  const decided: MergeConflict[] = [];
  for (const [merge, id] of last) {
    const conflicts = await workspace.conflicts(merge);
    if (conflicts.every(({ state }) => state === "resolved"))
      decided.push(await workspace.merges.conflict(id));
  }
  const [only] = decided;
  if (only !== undefined && decided.length === 1 && open === 0)
    return bringIn(call, workspace, { conflict: only, warnings: [], open });
  const outcomes: MergeOutcome[] = [];
  for (const { merge } of decided) {
    const outcome = await applyRest(call, workspace, merge);
    if (outcome !== undefined) outcomes.push(outcome);
  }
  if (call.json)
    call.output.json({
      answers: results.map(({ conflict, outcome, problems }) => ({
        conflict: conflict.id,
        outcome,
        problems,
      })),
      open,
      cost,
      tokens,
      ...(outcomes.length > 0 && { merges: outcomes.map(mergeOutcomeJson) }),
    });
  else for (const outcome of outcomes) report(call, outcome);
  return open === 0 && outcomes.length === decided.length && outcomes.every(isDone)
    ? EXIT.done
    : EXIT.refused;
}
