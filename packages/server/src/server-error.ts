/** What the server itself has to say no to; the engine's errors keep their own codes. */
import type { ErrorCode } from "@belay/engine";

export class ServerError extends Error {
  readonly code: string;
  readonly status: number;
  readonly facts: Readonly<Record<string, unknown>>;

  constructor(code: string, status: number, message: string, facts: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.name = "ServerError";
    this.code = code;
    this.status = status;
    this.facts = facts;
  }
}

/** The engine's errors as HTTP sees them; what is not listed is the server's fault: 500. */
export const STATUS_OF: { readonly [Code in ErrorCode]?: number } = {
  WORKSPACE_NOT_FOUND: 404,
  CHECKPOINT_NOT_FOUND: 404,
  CHECKPOINT_AMBIGUOUS: 409,
  THREAD_AMBIGUOUS: 409,
  THREAD_NOT_FOUND: 404,
  PATH_NOT_IN_CHECKPOINT: 404,
  CONTENT_PRUNED: 409,
  WORKSPACE_REFUSED: 409,
  WORKSPACE_EMPTIED: 409,
  NAME_TAKEN: 409,
  PLAN_STALE: 409,
  STEPS_MISSING: 409,
  RECOVERY_BLOCKED: 409,
  PREFLIGHT_FAILED: 409,
  NAME_INVALID: 400,
  PATH_OUTSIDE: 400,
  CONFIG_INVALID: 400,
  EDIT_NOT_FOUND: 404,
  MESSAGE_NOT_FOUND: 404,
  CHECKPOINT_PROTECTED: 409,
  LIMIT_REACHED: 409,
  STORE_NEWER: 409,
  INTERRUPTED: 409,
  RESTORE_RUNNING: 423,
};
