/**
 * The user's programs that look at a merge, in a scratch copy, before it changes a file: the check, package managers for
 * lock files, and generators of the settings. [R100] Each is shown and asked about before its first use in a workspace.
 */
import { lstatSync, readFileSync } from "node:fs";
import { dirname, join, matchesGlob } from "node:path";
import { checkWith, exitOf, interrupted, runCommand, type CommandEnd } from "@belay/agents/orchestration";
import { readProgramSettings, type MergePrograms, type MergeSettings } from "@belay/engine";
import { usageError } from "@belay/protocol/errors";
import { shellWords } from "@belay/protocol/command-text";
import { agreeIfAsked, agreeToCommands } from "../agents/known-commands.ts";
import type { Call } from "../call/command.ts";
import { splitWords } from "../call/split-words.ts";
import { visible } from "../output/visible.ts";
import { lockCommand } from "./lock-commands.ts";

/** What a command that merges says about programs. */
export interface ProgramRequest {
  readonly workspace: string;
  /** The option `--check`; without it the settings decide. */
  readonly check?: string | undefined;
  /** `--yes`: the user agrees to programs that the command line or the settings name. */
  readonly yes: boolean;
  readonly signal?: AbortSignal;
}

type ProgramCall = Pick<Call, "home" | "output" | "environment">;

/** The programs of a merge; undefined when the user does not agree to the check. */
export async function mergePrograms(
  call: ProgramCall,
  request: ProgramRequest,
): Promise<MergePrograms | undefined> {
  const check = checkWords(call, request);
  const use = { workspace: request.workspace, commands: [check], yes: request.yes };
  return (await agreeToCommands(call, use)) ? programsWith(call, request, check) : undefined;
}

/** For a merge at the end of hours of work: also undefined where the user cannot be asked about another check. */
export async function laterMergePrograms(
  call: ProgramCall,
  request: ProgramRequest,
): Promise<MergePrograms | undefined> {
  const check = checkWords(call, request);
  const use = { workspace: request.workspace, commands: [check], yes: request.yes };
  return (await agreeIfAsked(call, use)) ? programsWith(call, request, check) : undefined;
}

/** What generates files again, and no check: for `resolve --regenerate`, whose `--yes` means package managers too. */
export function regenerators(
  call: ProgramCall,
  request: ProgramRequest,
): NonNullable<MergePrograms["regenerate"]> {
  const { merge } = readProgramSettings(call.home, request.workspace);
  return regenerating(call, request, { ...merge, agree: agreeToCommands, isYesMeant: () => request.yes });
}

function checkWords({ home }: ProgramCall, { workspace, check }: ProgramRequest): readonly string[] {
  if (check === undefined) return readProgramSettings(home, workspace).merge.check;
  const words = splitWords(check);
  if (words.length === 0) throw usageError("--check needs a command.", "For example: --check 'npm test'");
  return words;
}

function programsWith(call: ProgramCall, request: ProgramRequest, check: readonly string[]): MergePrograms {
  const { merge } = readProgramSettings(call.home, request.workspace);
  // [R1450] no word of the user names a package manager: `--yes` to a merge does not confirm it
  const isYesMeant = (kind: "lock" | "generated") =>
    kind === "lock" ? merge.regenerate === "always" : request.yes;
  return {
    ...(check.length > 0 && { check: checkWith(check, { ...call, signal: request.signal }) }),
    ...(merge.regenerate !== "never" && {
      regenerate: regenerating(call, request, { ...merge, agree: agreeIfAsked, isYesMeant }),
    }),
  };
}

/** How the user agrees to what generates a file. */
interface Regeneration extends Pick<MergeSettings, "generators"> {
  readonly agree: typeof agreeToCommands;
  isYesMeant(kind: "lock" | "generated"): boolean;
}

/** Generates a file again; where the user did not agree to its command, it is left to be decided. */
function regenerating(
  call: ProgramCall,
  { workspace, signal }: ProgramRequest,
  { generators, agree, isYesMeant }: Regeneration,
): NonNullable<MergePrograms["regenerate"]> {
  const { output, environment } = call;
  return async (directory, path, kind) => {
    const file = join(directory, path);
    const words = kind === "lock" ? lockCommand(path, textOf(file)) : generatorOf(path, generators);
    if (words === undefined) return undefined;
    if (!(await agree(call, { workspace, commands: [words], yes: isYesMeant(kind) }))) {
      output.note(`belay: ${visible(path)} is left to be decided. ${waitingText(words)}`);
      return undefined;
    }
    output.note(`belay: generating ${visible(path)} again: ${visible(shellWords(words))}`);
    const cwd = kind === "lock" ? dirname(file) : directory;
    const ended = await runCommand({ command: words, directory: cwd, environment, signal });
    if (ended.how === "stopped") throw interrupted();
    const content = exitOf(ended) === 0 ? contentOf(file) : undefined;
    if (content === undefined) output.warn(failedText(path, ended));
    return content;
  };
}

function waitingText(words: readonly string[]): string {
  return `\`belay resolve --regenerate\` has it written again with: ${visible(shellWords(words))}`;
}

function failedText(path: string, ended: CommandEnd): string {
  const said = `${ended.stdout}${ended.stderr}`.trim().split("\n").at(-1) ?? "";
  return `warning: ${visible(path)} could not be generated again (exit ${exitOf(ended)}): ${visible(said.slice(0, 300))}`;
}

function generatorOf(path: string, generators: MergeSettings["generators"]): readonly string[] | undefined {
  return generators.find(({ paths }) => paths.some((pattern) => matchesGlob(path, pattern)))?.command;
}

/** A link could lead out of the copy. */
function contentOf(file: string): Buffer | undefined {
  try {
    return lstatSync(file).isFile() ? readFileSync(file) : undefined;
  } catch {
    return undefined;
  }
}

function textOf(file: string): string {
  return contentOf(file)?.toString("utf8") ?? "";
}
