/** Errors as the contract reports them: for people, for `--json`, for HTTP and for MCP. Nothing here loads the engine. */
import { belayCommand } from "./command-text.ts";
import type { ErrorRow } from "./error-row.ts";
import { ERRORS, type ErrorName } from "./error-table.ts";
import type { ExitCode } from "./exit-code.ts";

export type { ErrorRow } from "./error-row.ts";
export { ERRORS, type ApiErrorName, type CommandErrorName, type ErrorName } from "./error-table.ts";
export { EXIT, type ExitCode } from "./exit-code.ts";

type Facts = Readonly<Record<string, unknown>>;

/** What an error carries besides its code and message. */
export interface ErrorDetails {
  readonly facts?: Facts;
  /** Replaces the table's hint where the situation allows a better one. */
  readonly hint?: string;
  /** Replaces the table's list. */
  readonly list?: readonly string[];
}

/** A refusal of the command line or of the HTTP API; the engine throws its own errors with codes of the same table. */
export class ContractError extends Error {
  readonly code: ErrorName;
  readonly details: ErrorDetails;

  constructor(code: ErrorName, message: string, details: ErrorDetails = {}) {
    super(message);
    this.name = "ContractError";
    this.code = code;
    this.details = details;
  }
}

/** A mistake on the command line. */
export function usageError(message: string, hint: string): ContractError {
  return new ContractError("USAGE", message, { hint });
}

/** An error with everything that the contract decides about it. */
export interface ErrorReport {
  readonly code: ErrorName;
  readonly message: string;
  readonly hint: string;
  readonly exit: ExitCode;
  readonly status: number;
  readonly facts: Facts;
  readonly list: readonly string[];
}

/** Where a report is read. */
export interface ReportReader {
  /** A person at a terminal has commands, a program over HTTP has routes, a model has tools. */
  readonly kind: "terminal" | "api" | "model";
  /** The directory of the person's shell; left out when unknown. */
  readonly shellDirectory?: () => string;
}

/** Turns any thrown value into a report. */
export function reportError(error: unknown, reader: ReportReader): ErrorReport {
  if (error instanceof ContractError) return describe(error, error.details, reader);
  if (isEngineError(error)) return describe(error, error, reader);
  if (isSystemError(error)) {
    const facts = { path: error.path ?? "", operation: error.syscall ?? "" };
    return describe({ code: "FILE_SYSTEM", message: `${error.message}.` }, { facts }, reader);
  }
  const message = error instanceof Error ? error.message : String(error);
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  return describe({ code: "INTERNAL", message }, { list: stack.split("\n").slice(1) }, reader);
}

/** The object that `--json` prints and HTTP answers instead of a result. */
export function errorJson(report: Pick<ErrorReport, "code" | "message" | "hint" | "facts">): {
  readonly error: { readonly code: string; readonly message: string; readonly hint: string };
} {
  const { code, message, hint, facts } = report;
  return { error: { ...facts, code, message, hint } };
}

function describe(
  { code, message }: Pick<ErrorReport, "code" | "message">,
  { facts = {}, hint, list }: ErrorDetails,
  reader: ReportReader,
): ErrorReport {
  const row: ErrorRow<Facts> = ERRORS[code] as ErrorRow<never> as ErrorRow<Facts>;
  return {
    code,
    message,
    hint: hint ?? hintOf(row, facts, reader),
    exit: row.exit,
    status: row.status,
    facts,
    list: list ?? row.list?.(facts) ?? [],
  };
}

function hintOf(row: ErrorRow<Facts>, facts: Facts, { kind, shellDirectory }: ReportReader): string {
  const own = kind === "api" ? row.apiHint : kind === "model" ? row.modelHint : undefined;
  if (own !== undefined) return own;
  if (typeof row.hint === "string") return row.hint;
  return row.hint(facts, (path, ...words) => belayCommand(path, words, shellDirectory?.()));
}

/** Whether a text is the name of an error. */
export function isErrorName(text: string): text is ErrorName {
  return Object.hasOwn(ERRORS, text);
}

interface EngineErrorShape extends Error {
  readonly code: ErrorName;
  readonly facts: Facts;
}

/** Recognised by name: importing the class would load the engine for a mistyped option. */
function isEngineError(error: unknown): error is EngineErrorShape {
  return (
    error instanceof Error &&
    error.name === "EngineError" &&
    Object.hasOwn(ERRORS, (error as EngineErrorShape).code)
  );
}

/** A failed system call that Belay did not translate: the file system's answer, not a bug in Belay. */
function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && typeof (error as NodeJS.ErrnoException).syscall === "string";
}
