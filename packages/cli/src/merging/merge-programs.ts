/**
 * The user's programs that look at a merge, in a scratch copy, before it changes a file: the check, package managers for
 * lock files, and generators of the settings. [R100] Each is shown and asked about before its first use in a workspace.
 */
import { lstatSync, readFileSync } from "node:fs";
import { dirname, join, matchesGlob } from "node:path";
import { runCommand, type CommandEnd } from "@belay/agents/orchestration";
import { readProgramSettings, type MergePrograms, type MergeSettings } from "@belay/engine";
import { usageError } from "@belay/protocol/errors";
import { shellWords } from "@belay/protocol/command-text";
import { agreeToCommands } from "../agents/known-commands.ts";
import { checkWith, exitOf, interrupted } from "../agents/merge-check.ts";
import type { Call } from "../call/command.ts";
import { splitWords } from "../call/split-words.ts";
import { visible } from "../output/visible.ts";
import { lockCommand } from "./lock-commands.ts";

/** What a command that merges says about programs. */
export interface ProgramRequest {
  readonly workspace: string;
  /** The option `--check`; without it the settings decide. */
  readonly check?: string | undefined;
  readonly yes: boolean;
  readonly signal?: AbortSignal;
}

type ProgramCall = Pick<Call, "home" | "output" | "environment">;

/** The programs of a merge; undefined when the user does not agree to the check. */
export async function mergePrograms(
  call: ProgramCall,
  request: ProgramRequest,
): Promise<MergePrograms | undefined> {
  const { merge } = readProgramSettings(call.home, request.workspace);
  const words = request.check === undefined ? merge.check : splitWords(request.check);
  if (request.check !== undefined && words.length === 0)
    throw usageError("--check needs a command.", "For example: --check 'npm test'");
  const { workspace, yes, signal } = request;
  if (words.length > 0 && !(await agreeToCommands(call, { workspace, commands: [words], yes })))
    return undefined;
  return {
    ...(words.length > 0 && { check: checkWith(words, { ...call, signal }) }),
    ...(merge.regenerate !== "never" && { regenerate: regenerating(call, request, merge) }),
  };
}

/** Generates a file again; where the user cannot be asked and did not agree before, it is left to be decided. */
function regenerating(
  call: ProgramCall,
  { workspace, yes, signal }: ProgramRequest,
  settings: MergeSettings,
): NonNullable<MergePrograms["regenerate"]> {
  const { output, environment } = call;
  return async (directory, path, kind) => {
    const file = join(directory, path);
    const words = kind === "lock" ? lockCommand(path, textOf(file)) : generatorOf(path, settings.generators);
    if (words === undefined) return undefined;
    const isAgreed = yes || kind === "generated" || settings.regenerate === "always";
    if (!isAgreed && !output.canAsk) return undefined;
    const isMeant = await agreeToCommands(call, { workspace, commands: [words], yes: isAgreed });
    if (!isMeant) return undefined;
    output.note(`belay: generating ${visible(path)} again: ${visible(shellWords(words))}`);
    const cwd = kind === "lock" ? dirname(file) : directory;
    const ended = await runCommand({ command: words, directory: cwd, environment, signal });
    if (ended.how === "stopped") throw interrupted();
    const content = exitOf(ended) === 0 ? contentOf(file) : undefined;
    if (content === undefined) output.warn(failedText(path, ended));
    return content;
  };
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
