/**
 * Every operating failure and the facts that come with it. Expected outcomes (conflicts, nothing to do) are
 * values, not errors.
 */
export interface ErrorFacts {
  WORKSPACE_NOT_FOUND: {
    path: string;
    candidates: { id: string; path: string }[];
    /** Set when the directory was protected until Belay was uninstalled there. */
    ended?: { id: string; path: string; store: string };
    /** Set when the store was attached to another directory. */
    movedTo?: { id: string; path: string };
    /** Set when a workspace was asked for by its id: the candidates are those there are. */
    byId?: true;
  };
  WORKSPACE_REFUSED: { path: string; reason: string };
  WORKSPACE_EMPTIED: { path: string };
  CHECKPOINT_NOT_FOUND: { checkpoint: string };
  CHECKPOINT_AMBIGUOUS: {
    checkpoint: string;
    candidates: { id: string; seq: number; description: string }[];
  };
  THREAD_AMBIGUOUS: { thread: string; candidates: { id: string; agent: string; title: string | null }[] };
  THREAD_NOT_FOUND: { thread: string };
  MESSAGE_NOT_FOUND: { message: string };
  EDIT_NOT_FOUND: { edit: string };
  CHECKPOINT_PROTECTED: { checkpoint: string; reason: string };
  /** `origin`: the program it was imported from. */
  CHECKPOINT_IMPORTED: { checkpoint: string; origin: string };
  LIMIT_REACHED: { limit: number; thread: string };
  BRANCH_NOT_FOUND: { branch: string };
  /** `path`: the working copy that is on the branch; null where the branch itself is what must stay. */
  BRANCH_IN_USE: { branch: string; path: string | null };
  /** `deleted`: a deleted branch has the name, and can be brought back. */
  BRANCH_TAKEN: { branch: string; deleted: boolean };
  FORK_NOT_FOUND: { fork: string };
  /** `limit`: the setting that says how many or how much, or `disk`. */
  FORK_LIMIT: { limit: "forks.limit" | "forks.bytes" | "disk"; needed: number; available: number };
  /** The tools and processes that are at work in a fork; processes of other users may be missing. */
  FORK_BUSY: { fork: string; path: string; tools: string[]; pids: number[] };
  /** What only the fork has and no checkpoint can hold. */
  FORK_UNCAPTURED: { fork: string; path: string; paths: { path: string; reason: string }[] };
  BRANCH_NAME_INVALID: { branch: string; reason: string };
  MERGE_NOT_FOUND: { merge: string };
  CONFLICT_NOT_FOUND: { conflict: string };
  CONFLICT_AMBIGUOUS: { conflict: string; candidates: { id: string; source: string; path: string }[] };
  /** A merge waits for decisions; `open` conflicts are left. */
  MERGE_OPEN: { merge: string; open: number };
  /** What was chosen is not an answer to this conflict. */
  CHECK_FAILED: { command: string[]; exitCode: number; output: string };
  ANSWER_REFUSED: { conflict: string; options: string[] };
  /** Agents are at work in this working copy: the tools that run. */
  RUN_ALIVE: { tools: string[] };
  RUN_NOT_FOUND: { run: string };
  FIX_NOT_FOUND: { fix: string };
  NAME_TAKEN: { name: string; checkpoint: string };
  NAME_INVALID: { name: string };
  PATH_OUTSIDE: { path: string };
  /** `isNeverIn`: no checkpoint has it, whatever the rules say. */
  PATH_NOT_IN_CHECKPOINT: { path: string; checkpoint: string; isNeverIn?: true };
  OBJECT_CORRUPT: { object: string; checkpoints: string[] };
  OBJECT_MISSING: { object: string; checkpoints: string[] };
  STORE_CORRUPT: { store: string };
  STORE_MISSING: { store: string };
  STORE_REPLACED: { store: string };
  STORE_READ_ONLY: { store: string };
  STORE_UNSAFE: { store: string; reason: string };
  STORE_BUSY: { store: string };
  STORE_FULL: { missingBytes: number };
  DISK_FULL: { path: string };
  PURGE_UNFINISHED: { store: string; reason: string };
  STORE_NEWER: { store: string; version: number; supported: number };
  SQLITE_TOO_OLD: { version: string; needed: string };
  INTERRUPTED: { done: number; total: number };
  RESTORE_RUNNING: { pid: number; since: string };
  /** `before`: the seq of the checkpoint that holds the state before the interrupted operation. */
  RECOVERY_BLOCKED: { operation: string; paths: string[]; before: number };
  PREFLIGHT_FAILED: { problems: { path: string; reason: string }[] };
  PLAN_STALE: { plan: string };
  PATTERN_TOO_SLOW: { limitMs: number };
  STEPS_MISSING: { wanted: number; available: number };
  CONTENT_PRUNED: { step: string; description: string; checkpoint: string | null };
  /** `file`: the settings file, where it is what stands there. */
  CONFIG_INVALID: { key: string; reason: string; file?: string };
  FILE_SYSTEM: { path: string; operation: string };
}

/** The codes of all operating failures. */
export type ErrorCode = keyof ErrorFacts;

/** An operating failure. Its message says what happened and what is untouched. */
export class EngineError<Code extends ErrorCode = ErrorCode> extends Error {
  readonly code: Code;
  readonly facts: ErrorFacts[Code];

  constructor(code: Code, message: string, facts: ErrorFacts[Code], cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "EngineError";
    this.code = code;
    this.facts = facts;
  }
}

/** Narrows a caught value to one code. */
export function isEngineError<Code extends ErrorCode>(
  error: unknown,
  code: Code,
): error is EngineError<Code> {
  return error instanceof EngineError && error.code === code;
}

/** True where the store lacks an object, or has another content under its name. */
export function isDamage(error: unknown): error is EngineError<"OBJECT_CORRUPT" | "OBJECT_MISSING"> {
  return isEngineError(error, "OBJECT_CORRUPT") || isEngineError(error, "OBJECT_MISSING");
}
