import { redactJson } from "@belay/protocol/redact";
import type { TurnResult, Workspace } from "@belay/engine";
import { ANY_NUMBER, defineCommand, type Call } from "../call/command.ts";
import { usageError } from "@belay/protocol/errors";
import { reportError } from "../call/error-report.ts";
import { checkpointJson } from "@belay/server/json";
import { warnAll, withWorkspace } from "../wiring/open-workspace.ts";
import { changedFilesText, changesText } from "../output/checkpoint-table.ts";
import { errorText } from "../output/error-text.ts";
import { shellWords } from "@belay/protocol/command-text";
import { visible } from "../output/visible.ts";
import { runProgram, type Ended } from "../command-parts/run-program.ts";

const OPTIONS = {
  agent: { type: "string", value: "name", about: "the agent's name (default: the command's name)" },
} as const;

type RunCall = Call<typeof OPTIONS>;

export default defineCommand({
  usage: "run [--agent name] [--] <command…>",
  about: [
    "Runs a command (an agent, a script, a build) as one step: a checkpoint before and after, and `belay undo`",
    "takes back everything it changed. The exit code is the command's own; 127 if it cannot be started.",
    "",
    "If Belay itself fails, the command runs all the same and a warning says that it is not protected.",
    "stdin, stdout and stderr belong to the command: with --json the result is the last line of stderr.",
  ].join("\n"),
  options: OPTIONS,
  operands: { min: 1, max: ANY_NUMBER },
  stopsAtOperand: true,
  exits: { 0: "the command's own exit code, whatever it is", 127: "the command cannot be started" },
  examples: [
    "belay run -- claude",
    "belay run npm run format",
    "belay run --agent codex -- codex exec 'add tests'",
  ],
  run: async (call) => {
    if (call.operands[0] === "")
      throw usageError("The command is empty.", "Usage: belay run [--agent name] [--] <command…>");
    const state: State = { ended: undefined };
    try {
      return await withWorkspace(call, (workspace) => runAsStep(call, workspace, state));
    } catch (error) {
      return await afterFailure(call, state, error);
    }
  },
});

interface State {
  /** Set once the command has run: a later failure must not run it again. */
  ended: Ended | undefined;
}

async function runAsStep(call: RunCall, workspace: Workspace, state: State): Promise<number> {
  const agent = call.options.agent ?? call.operands[0]?.split("/").at(-1) ?? "command";
  const turn = await workspace.turns.run({ agent, description: shellWords(call.operands) }, async () => {
    state.ended = await runProgram(call.operands, call.directory);
    return state.ended;
  });
  await tellStep(call, workspace, turn);
  const { syncAfterTurn } = await import("../resident/sync-after-turn.ts");
  syncAfterTurn(call.home, workspace);
  return turn.result.exit;
}

async function tellStep(call: RunCall, workspace: Workspace, turn: TurnResult<Ended>): Promise<void> {
  const { before, after, changed, result } = turn;
  warnAll(call, turn.warnings);
  const { summary } = await workspace.diff({
    from: before.id,
    to: after.id,
    detail: call.json ? "counts" : "names",
  });
  if (call.json) {
    const inWorkspace = { workspace: workspace.id };
    const checkpoints = {
      before: checkpointJson(before, inWorkspace),
      after: checkpointJson(after, inWorkspace),
    };
    tellJson(call, { exitCode: result.exit, protected: true, changed, changes: summary, ...checkpoints });
    return;
  }
  if (result.failure !== undefined) call.output.warn(`belay: ${visible(result.failure)}.`);
  else if (!changed) call.output.note("belay: no files changed");
  else
    call.output.note(
      `belay: ${changedFilesText(summary)} changed (${changesText(summary)}), undo with: belay undo`,
    );
}

/**
 * A broken Belay never prevents the command from running [N2]. An unprotected directory is an ordinary error.
 */
async function afterFailure(call: RunCall, state: State, error: unknown): Promise<number> {
  const failure = reportError(error);
  if (failure.code === "WORKSPACE_NOT_FOUND" && state.ended === undefined) throw error;
  const { output } = call;
  const loudly = (text: string) => output.warn(output.noteStyle.bold(output.noteStyle.red(`belay: ${text}`)));
  if (state.ended === undefined)
    loudly("THIS COMMAND RUNS WITHOUT PROTECTION: no checkpoint could be taken.");
  else loudly("WHAT THIS COMMAND CHANGED WAS NOT RECORDED: no checkpoint could be taken.");
  output.warn(errorText(failure, output.noteStyle));
  const ended = state.ended ?? (await runProgram(call.operands, call.directory));
  if (ended.failure !== undefined) output.warn(`belay: ${visible(ended.failure)}.`);
  const { code, message, hint } = failure;
  if (call.json) tellJson(call, { exitCode: ended.exit, protected: false, error: { code, message, hint } });
  return ended.exit;
}

/** One line on stderr: stdout belongs to the command. */
function tellJson(call: RunCall, value: object): void {
  call.output.warn(JSON.stringify(redactJson(value)));
}
