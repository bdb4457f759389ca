/**
 * Slash commands for a chat program: one function takes what a person typed and answers with its result. It draws
 * nothing and loads no screen. A chat shows what is written, then the message of the answer.
 */
import type { BelayClient } from "@belay/protocol/client";
import { COMMANDS } from "../words.ts";
import { refusalOf } from "../plans/plan.ts";
import { visibleLine } from "../text/visible.ts";
import { typedCommand } from "./command-words.ts";
import { compareCheckpoints } from "./compare-checkpoints.ts";
import { createCheckpoint } from "./create-checkpoint.ts";
import { redoStep, restoreCheckpoint, undoStep } from "./go-back.ts";
import { listCheckpoints } from "./list-checkpoints.ts";
import { pruneCheckpoints } from "./prune-checkpoints.ts";
import { failed, workspaceOfThread, type CommandResult, type CommandScene } from "./scene.ts";
import { openMenu, openTimeline, type ScreenName } from "./screens.ts";
import { showCheckpoint } from "./show-checkpoint.ts";

/** What a chat program gives to its commands. */
export interface CommandContext {
  readonly client: BelayClient;
  /** The conversation in which the command was typed. */
  readonly thread: string;
  /** Shows text of one or more lines. */
  write(text: string): void;
  /** Asks and resolves with what was typed. Null where there is no terminal to ask on: nothing is assumed. */
  readonly ask: ((question: string) => Promise<string>) | null;
  /** Opens a screen; left out: the menu and the timeline are printed. */
  openScreen?(screen: ScreenName): Promise<void>;
}

type Run = (scene: CommandScene, words: readonly string[]) => Promise<CommandResult>;

const SUBCOMMANDS: Readonly<Record<string, Run>> = {
  create: createCheckpoint,
  list: listCheckpoints,
  show: showCheckpoint,
  restore: (scene, words) => restoreCheckpoint(scene, words, { scope: "both" }),
  diff: compareCheckpoints,
  timeline: openTimeline,
  prune: pruneCheckpoints,
};

const SLASH_COMMANDS: Readonly<Record<string, Run>> = {
  checkpoint: (scene, words) => runSubcommand(scene, words),
  checkpoints: listCheckpoints,
  restore: (scene, words) => restoreCheckpoint(scene, words, { scope: "files" }),
  undo: undoStep,
  redo: redoStep,
  timeline: openTimeline,
  diff: compareCheckpoints,
};

/** The slash commands, without their slash, for a chat that completes them. */
export const SLASH_COMMAND_NAMES: readonly string[] = Object.keys(SLASH_COMMANDS);

/** Runs a line such as `/checkpoint restore 12`, or the words after `/checkpoint`. */
export async function runCheckpointCommand(
  args: string | readonly string[],
  context: CommandContext,
): Promise<CommandResult> {
  const { name, words } = typedCommand(args);
  const run = Object.hasOwn(SLASH_COMMANDS, name) ? SLASH_COMMANDS[name] : undefined;
  if (run === undefined) return failed(COMMANDS.unknownCommand(visibleLine(name)));
  try {
    return await run({ ...context, name, workspace: workspaceOfThread(context) }, words);
  } catch (error) {
    const { code, message, hint } = refusalOf(error);
    if (code === "") throw error;
    return { ...failed(COMMANDS.refused(message, code, hint)), code };
  }
}

function runSubcommand(
  scene: CommandScene,
  [subcommand, ...words]: readonly string[],
): Promise<CommandResult> {
  if (subcommand === undefined) return openMenu(scene);
  const run = Object.hasOwn(SUBCOMMANDS, subcommand) ? SUBCOMMANDS[subcommand] : undefined;
  if (run === undefined) return Promise.resolve(failed(COMMANDS.unknownSubcommand(visibleLine(subcommand))));
  return run({ ...scene, name: `checkpoint ${subcommand}` }, words);
}
