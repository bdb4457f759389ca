import {
  displayPath,
  type Checkpoint,
  type Message,
  type ThreadSummary,
  type Workspace,
} from "@belay/engine";
import { ContractError, EXIT, usageError } from "@belay/protocol/errors";
import { branchJson } from "@belay/server/json";
import { dayAndTime } from "@belay/tui/text";
import { ASKING_EXITS, BEST_EFFORT, defineCommand, DRY_RUN, YES, type Call } from "../call/command.ts";
import { positiveNumber } from "../call/number-option.ts";
import { threadLabel } from "../output/thread-table.ts";
import { visible } from "../output/visible.ts";
import { withWorkspace } from "../wiring/open-workspace.ts";

const OPTIONS = {
  at: { type: "string", value: "n", about: "go back to the files as they were when turn n began" },
  fork: {
    type: "string",
    value: "name",
    about: "with --at: begin a branch of this name there instead; no file is touched",
  },
  "best-effort": BEST_EFFORT,
  "dry-run": DRY_RUN,
  yes: YES,
} as const;

type ReplayCall = Call<typeof OPTIONS>;

/** More than any thread has. */
const EVERYTHING = 1_000_000_000;
const PREVIEW_CHARACTERS = 400;

export default defineCommand({
  usage: "replay <thread> [--at n [--fork name]] [--dry-run] [--yes]",
  about: [
    "The turns of a thread in their order: what was asked, which tools ran, which files they changed, and the",
    "checkpoint before each. With --at the files go back to where turn n began, or a branch begins there.",
  ].join("\n"),
  options: OPTIONS,
  operands: { min: 1, max: 1 },
  exits: ASKING_EXITS,
  examples: ["belay replay kqzv", "belay replay kqzv --at 1 --dry-run"],
  run: (call) => {
    const at = positiveNumber("--at", call.options.at);
    if (at === undefined && call.options.fork !== undefined)
      throw usageError("--fork goes with --at.", "Name the turn that the branch begins with.");
    return withWorkspace(call, async (workspace) => {
      const thread = await workspace.threads.get(call.operands[0] ?? "");
      const turns = await turnsOf(workspace, thread);
      if (at === undefined) return show(call, thread, turns);
      const checkpoint = checkpointOf(turns, at);
      return call.options.fork === undefined
        ? goThere(call, workspace, { at, checkpoint, thread })
        : beginThere(call, workspace, { name: call.options.fork, checkpoint });
    });
  },
});

/** One turn of a thread. */
interface ReplayedTurn {
  readonly turn: number;
  readonly at: string;
  readonly textPreview: string;
  readonly tools: readonly string[];
  readonly filesTouched: readonly string[];
  readonly checkpoint: string | null;
  readonly rolledBack: boolean;
}

async function turnsOf(workspace: Workspace, { id }: ThreadSummary): Promise<ReplayedTurn[]> {
  const { messages } = await workspace.threads.history(id, { limit: EVERYTHING });
  const prompts = messages.filter(({ role }) => role === "user");
  const edits = await workspace.threads.fileEdits(id, { limit: EVERYTHING });
  const taken = (await workspace.list({ thread: id })).toReversed();
  return prompts.map((prompt, at) => ({
    turn: at + 1,
    at: new Date(prompt.createdAt).toISOString(),
    textPreview: Array.from(prompt.content).slice(0, PREVIEW_CHARACTERS).join(""),
    tools: toolsBetween(taken, prompt, prompts[at + 1]),
    filesTouched: [
      ...new Set(
        edits
          .filter(({ messageIndex }) => messageIndex === prompt.index)
          .map(({ path }) => displayPath(path)),
      ),
    ].toSorted(),
    checkpoint: prompt.checkpoint,
    rolledBack: prompt.rolledBack,
  }));
}

function toolsBetween(taken: readonly Checkpoint[], from: Message, to: Message | undefined): string[] {
  const seqOf = (message: Message | undefined) =>
    taken.find(({ id }) => id === message?.checkpoint)?.seq ?? Infinity;
  const [first, last] = [seqOf(from), seqOf(to)];
  return taken
    .filter(({ kind, phase, seq }) => kind === "tool" && phase === "before" && seq >= first && seq < last)
    .flatMap(({ tool }) => tool ?? []);
}

function checkpointOf(turns: readonly ReplayedTurn[], at: number): string {
  const turn = turns[at - 1];
  if (turn === undefined)
    throw usageError(
      `The thread has ${turns.length} turns, and no turn ${at}.`,
      "Without --at its turns are listed.",
    );
  if (turn.checkpoint !== null) return turn.checkpoint;
  throw new ContractError("CHECKPOINT_NOT_FOUND", `Turn ${at} has no checkpoint. Nothing was changed.`, {
    facts: { checkpoint: `turn ${at}` },
  });
}

function show({ json, output }: ReplayCall, thread: ThreadSummary, turns: readonly ReplayedTurn[]): number {
  if (json) {
    output.json({ thread: thread.id, turns });
    return EXIT.done;
  }
  const { style } = output;
  output.print(style.bold(threadLabel(thread)));
  if (turns.length === 0) output.print("It has no turns yet.");
  for (const { turn, at, textPreview, tools, filesTouched, checkpoint, rolledBack } of turns) {
    const facts = [dayAndTime(Date.parse(at)), checkpoint?.slice(0, 8) ?? "no checkpoint"];
    const mark = rolledBack ? style.dim(" (rolled back)") : "";
    output.print(`${style.bold(String(turn))}  ${style.dim(facts.join("  "))}${mark}`);
    output.print(`   ${visible(textPreview.replaceAll(/\s+/g, " "))}`);
    if (tools.length > 0) output.print(style.dim(`   tools: ${tools.map(visible).join(", ")}`));
    if (filesTouched.length > 0) output.print(style.dim(`   files: ${filesTouched.map(visible).join(", ")}`));
  }
  return EXIT.done;
}

async function goThere(
  call: ReplayCall,
  workspace: Workspace,
  { at, checkpoint, thread }: { at: number; checkpoint: string; thread: ThreadSummary },
): Promise<number> {
  const { goBack } = await import("../going-back/go-back.ts");
  const options = { thread: thread.id };
  return goBack(call, workspace, {
    verb: "restore",
    target: `to the beginning of turn ${at}`,
    plan: () => workspace.planRestore(checkpoint, options),
    act: () =>
      workspace.restoreTo(checkpoint, { ...options, bestEffort: call.options["best-effort"] === true }),
  });
}

async function beginThere(
  { json, output }: ReplayCall,
  workspace: Workspace,
  { name, checkpoint }: { name: string; checkpoint: string },
): Promise<number> {
  const branch = await workspace.createBranch(name, { from: checkpoint });
  if (json) output.json({ branch: branchJson(branch) });
  else
    output.print(
      `Branch ${visible(name)} begins there; no file was touched. \`belay switch ${visible(name)}\` goes there.`,
    );
  return EXIT.done;
}
