/** What goes wrong in the command itself, before or beside the engine. */
import { EXIT, type ExitCode } from "./exit-code.ts";

export type CommandErrorCode =
  | "USAGE"
  | "CONFIRMATION_REQUIRED"
  | "THREAD_NOT_FOUND"
  | "PATH_OUTSIDE"
  | "PATH_NOT_IN_CHECKPOINT"
  | "PATH_NOT_KEPT_OUT"
  | "CONVERSATION_NOT_FORKED"
  | "NO_PARENT"
  | "OUTPUT_FAILED"
  | "RESIDENT_FAILED"
  | "RESIDENT_RUNNING"
  | "PAUSED_EVERYWHERE";

interface CommandErrorDetails {
  readonly exit: ExitCode;
  /** Left out where the engine has an error of the same code: then the hint is the same, too. */
  readonly hint?: string;
  /** More about it, a line each. */
  readonly list?: readonly string[];
  readonly facts?: Readonly<Record<string, unknown>>;
}

export class CommandError extends Error {
  readonly code: CommandErrorCode;
  readonly details: CommandErrorDetails;

  constructor(code: CommandErrorCode, message: string, details: CommandErrorDetails) {
    super(message);
    this.name = "CommandError";
    this.code = code;
    this.details = details;
  }
}

/** The command line makes no sense. */
export function usageError(message: string, hint: string): CommandError {
  return new CommandError("USAGE", message, { exit: EXIT.usage, hint });
}
