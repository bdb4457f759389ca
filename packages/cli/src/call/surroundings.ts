/**
 * What a command finds around it: its caller's directory, variables and terminal. They are this process's own, or those
 * of a command that was handed over to the resident process.
 */
import type { Workspace } from "@belay/engine";
import { currentDirectory } from "../output/belay-at.ts";
import { createOutput, type Output, type OutputOptions } from "../output/output.ts";

/** An open workspace of the resident process: work on it waits until earlier work is done. */
export interface HostedWorkspace {
  readonly workspace: Workspace;
  inTurn<Result>(work: () => Promise<Result>): Promise<Result>;
}

/** Where a command runs: its directory, environment and terminal. */
export interface Surroundings {
  /** The directory the caller stands in. */
  readonly directory: string;
  readonly environment: NodeJS.ProcessEnv;
  createOutput(options: OutputOptions): Output;
  /**
   * In the resident process: the workspace of a directory. Throws when the command has to run in its own process.
   * `looks`: the command looks at the files, so it is worth waiting for a process that is looking at them already.
   */
  host?(
    directory: string,
    command: { readonly home: string; readonly looks: boolean },
  ): Promise<HostedWorkspace>;
}

/** Those of this process. */
export const OWN_SURROUNDINGS: Surroundings = {
  get directory() {
    return currentDirectory();
  },
  environment: process.env,
  createOutput,
};
