/**
 * What a command is: its help, its options and its code. A command file imports the engine's types only and
 * loads its code when it runs, so that help and usage errors cost nothing.
 */
import type { Output } from "../output/output.ts";
import type { HostedWorkspace, Surroundings } from "./surroundings.ts";

/** One option of a command. */
export interface OptionSpec {
  readonly type: "boolean" | "string";
  readonly short?: string;
  readonly multiple?: boolean;
  /** The name of the value in the help. */
  readonly value?: string;
  /** What it is without a value, which then begins with a digit; without this a value is needed. */
  readonly otherwise?: string;
  readonly about: string;
}

/** The options of a command by name. */
export type OptionSpecs = Readonly<Record<string, OptionSpec>>;

/** The parsed values of these options. */
export type OptionValues<Specs extends OptionSpecs> = {
  readonly [Name in keyof Specs]?: Specs[Name] extends { type: "boolean" }
    ? boolean
    : Specs[Name] extends { multiple: true }
      ? readonly string[]
      : string;
};

/** One invocation of a command. */
export interface Call<Specs extends OptionSpecs = OptionSpecs> {
  readonly options: OptionValues<Specs>;
  readonly operands: readonly string[];
  /** How many operands came before "--"; all without one. */
  readonly dashesAt: number;
  /** The directory the command works in: `-C`, otherwise the current directory. */
  readonly directory: string;
  readonly home: string;
  readonly json: boolean;
  /** The caller's variables: in the resident process they are not this process's own. */
  readonly environment: NodeJS.ProcessEnv;
  /** In the resident process: the workspace to work on, which is open and watched. */
  readonly hosted?: HostedWorkspace;
  /** Runs another command line, as the resident process does for commands that were handed over to it. */
  dispatch(argv: readonly string[], around: Surroundings): Promise<number>;
  readonly output: Output;
}

/** The definition of a command. */
export interface Command<Specs extends OptionSpecs = OptionSpecs> {
  /** Without "belay", for example "restore <checkpoint> [paths…]". */
  readonly usage: string;
  readonly about: string;
  readonly options: Specs;
  readonly operands: { readonly min: number; readonly max: number };
  /** The first operand ends the options: the words after it belong to another program. */
  readonly stopsAtOperand?: boolean;
  /** What its exit codes mean where that is more than `EXIT_CODES` says; null: it never ends with this one. */
  readonly exits?: Readonly<Record<number, string | null>>;
  /** Each of them runs as it is written; a test does it. */
  readonly examples?: readonly string[];
  run(call: Call<Specs>): Promise<number>;
}

/** Checks a command's option types against `run`, then erases them for the table of commands. */
export function defineCommand<const Specs extends OptionSpecs>(command: Command<Specs>): Command {
  return command;
}

/** What every command may end with. */
export const EXIT_CODES = {
  0: "done",
  1: "failed",
  2: "wrong usage",
  4: "not found: no protected directory, checkpoint or thread of that name",
  5: "the store is damaged",
  7: "the store is of a newer Belay",
} as const;

/** The exit codes of commands that take files back. */
export const GOING_BACK_EXITS = {
  0: "done, or there was nothing to do",
  3: "refused, declined, in conflict, or not everything could be done",
  6: "another restore is running",
  130: "interrupted with Ctrl-C; what was changed is put back",
} as const;

/** The exit codes of commands that ask first. */
export const ASKING_EXITS = { 3: "refused or declined; nothing was changed" } as const;

/** No upper limit of operands. */
export const ANY_NUMBER = Number.POSITIVE_INFINITY;

/** The option `--yes`: skips the confirmation. */
export const YES = { type: "boolean", short: "y", about: "do not ask for confirmation" } as const;
/** The option `--dry-run`: changes nothing. */
export const DRY_RUN = { type: "boolean", about: "only show what would be done" } as const;
/** The option `--patch`: shows diffs. */
export const PATCH = { type: "boolean", short: "p", about: "with --dry-run: show the diff" } as const;
/** Lets the user choose. */
export const INTERACTIVE = {
  type: "boolean",
  short: "i",
  about: "choose files and single changes in them",
} as const;
/** Leaves conflicts out. */
export const BEST_EFFORT = {
  type: "boolean",
  about: "skip paths with conflicts instead of changing nothing",
} as const;
/** Takes what is not one step's alone. */
export const INCLUDE_SHARED = {
  type: "boolean",
  about: "also take changes that several tools made at the same time",
} as const;
/** Takes merges that are broken. */
export const MERGE_ANYWAY = {
  type: "boolean",
  about: "also take merged files that no longer parse, though both sides do",
} as const;
/** Prints lists completely. */
export const ALL_ENTRIES = {
  type: "boolean",
  about: "show long lists in full",
} as const;
/** The option `--thread`: selects a thread. */
export const THREAD = {
  type: "string",
  value: "thread",
  about: "only this thread (id or id prefix)",
} as const;
