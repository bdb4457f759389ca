/**
 * What a command is: its help, its options and what it does. A command file imports the engine's types
 * only and loads its code when it runs, so that help and mistakes on the command line cost nothing.
 */
import type { Output } from "../output/output.ts";
import type { HostedWorkspace, Surroundings } from "./surroundings.ts";

export interface OptionSpec {
  readonly type: "boolean" | "string";
  readonly short?: string;
  readonly multiple?: boolean;
  /** What the value is called in the help. */
  readonly value?: string;
  readonly about: string;
}

export type OptionSpecs = Readonly<Record<string, OptionSpec>>;

export type OptionValues<Specs extends OptionSpecs> = {
  readonly [Name in keyof Specs]?: Specs[Name] extends { type: "boolean" }
    ? boolean
    : Specs[Name] extends { multiple: true }
      ? readonly string[]
      : string;
};

/** One call of a command. */
export interface Call<Specs extends OptionSpecs = OptionSpecs> {
  readonly options: OptionValues<Specs>;
  readonly operands: readonly string[];
  /** How many operands came before "--"; all of them without one. */
  readonly dashesAt: number;
  /** Where the command works: `-C`, else the current directory. */
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

export interface Command<Specs extends OptionSpecs = OptionSpecs> {
  /** Without "belay": "restore <checkpoint> [paths…]". */
  readonly usage: string;
  readonly about: string;
  readonly options: Specs;
  readonly operands: { readonly min: number; readonly max: number };
  /** The first operand ends the options: what follows belongs to somebody else. */
  readonly stopsAtOperand?: boolean;
  readonly examples?: readonly string[];
  run(call: Call<Specs>): Promise<number>;
}

/** Keeps the types of the options for `run`, and forgets them for the table of commands. */
export function defineCommand<const Specs extends OptionSpecs>(command: Command<Specs>): Command {
  return command;
}

export const ANY_NUMBER = Number.POSITIVE_INFINITY;

/** Options that mean the same wherever they appear. */
export const YES = { type: "boolean", short: "y", about: "do not ask" } as const;
export const DRY_RUN = { type: "boolean", about: "only show what would be done" } as const;
export const ALL_ENTRIES = {
  type: "boolean",
  about: "show long lists completely on a terminal, too",
} as const;
export const THREAD = {
  type: "string",
  value: "thread",
  about: "only this thread (its id, or the beginning of it)",
} as const;
