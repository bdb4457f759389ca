/** What a client under test is: a real coding agent from npm, told by the model stub what to do. */
import type { ToolCall } from "./model-stub.ts";
import type { Stage } from "./stage.ts";

/** What the model wants done; each client has its own tools for it. */
export type Step =
  | { readonly does: "read"; readonly path: string }
  | { readonly does: "write"; readonly path: string; readonly content: string }
  | { readonly does: "edit"; readonly path: string; readonly from: string; readonly to: string }
  | { readonly does: "delete"; readonly path: string }
  | { readonly does: "move"; readonly path: string; readonly to: string }
  | { readonly does: "shell"; readonly command: string };

export interface Client {
  /** Belay's name for it. */
  readonly agent: string;
  readonly package: string;
  readonly version: string;
  /** The tools for a step; undefined when it has none and needs none. */
  toolCall(step: Step, project: string): ToolCall | readonly ToolCall[] | undefined;
  /** The settings a user would have, written before `belay init`. */
  prepare?(stage: Stage, modelUrl: string): void;
  /** One turn without a terminal. */
  turn(request: TurnRequest): Command;
  /** Its hooks are not told what the model said last. */
  readonly isMute?: true;
  /** It shows what a hook has to say, also without a terminal. */
  readonly showsTrouble: boolean;
}

export interface TurnRequest {
  /** The directory that npm installed it into. */
  readonly modules: string;
  readonly prompt: string;
  /** It goes on with the last conversation. */
  readonly continues: boolean;
  readonly modelUrl: string;
}

export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  readonly environment?: NodeJS.ProcessEnv;
}

/** For clients whose edit tools cannot do it, or may not. */
export function asShellCommand(step: Exclude<Step, { does: "read" | "write" }>): string {
  switch (step.does) {
    case "edit":
      return `sed -i 's/${step.from}/${step.to}/' ${step.path}`;
    case "delete":
      return `rm ${step.path}`;
    case "move":
      return `mv ${step.path} ${step.to}`;
    default:
      return step.command;
  }
}
