/** Refusals of the operating system as engine errors. */
import { EngineError } from "../model/errors.ts";
import { isDiskFull } from "./file-stat.ts";

/** True for an error that a system call returned. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && typeof (error as NodeJS.ErrnoException).errno === "number";
}

/**
 * Turns the error of a system call into an `EngineError` that begins with `what`; passes anything else
 * through.
 */
export function explainSystemError(
  error: unknown,
  { what, path, operation }: { what: string; path: string; operation: string },
): unknown {
  if (!isSystemError(error)) return error;
  const message = `${what} (${error.message}). Nothing was changed.`;
  return isDiskFull(error)
    ? new EngineError("DISK_FULL", message, { path }, error)
    : new EngineError("FILE_SYSTEM", message, { path, operation }, error);
}
