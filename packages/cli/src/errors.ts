/**
 * What each error of the engine means on the command line: its exit code, what to do about it, and which
 * of its facts a person needs to see as a list. A code without a decision does not compile.
 */
import type { ErrorCode, ErrorFacts } from "@belay/engine";
import { CommandError } from "./command-error.ts";
import { EXIT, type ExitCode } from "./exit-code.ts";

interface Decision<Facts> {
  readonly exit: ExitCode;
  readonly hint: string | ((facts: Facts) => string);
  readonly list?: (facts: Facts) => readonly string[];
}

const SEE_DAMAGE = "`belay verify --full` lists what is affected; the other checkpoints still work.";

const DECISIONS: { readonly [Code in ErrorCode]: Decision<ErrorFacts[Code]> } = {
  WORKSPACE_NOT_FOUND: {
    exit: EXIT.notFound,
    hint: ({ candidates, ended, movedTo }) =>
      ended !== undefined
        ? "`belay init` protects it again, with its checkpoints; `belay uninstall --purge` deletes them."
        : movedTo !== undefined
          ? `\`belay init\` protects it anew; \`belay attach ${movedTo.id}\` takes the store back.`
          : candidates.length > 0
            ? "Was it moved? `belay attach <id>` gives it its store back. `belay init` protects it anew."
            : "`belay init` protects this directory.",
    list: ({ candidates }) => candidates.map(({ id, path }) => `${id}  ${path}`),
  },
  WORKSPACE_REFUSED: {
    exit: EXIT.refused,
    hint: ({ reason }) =>
      reason.includes("inside the workspace")
        ? "`belay init --nested` gives it checkpoints of its own."
        : "Choose the directory of one project.",
  },
  WORKSPACE_EMPTIED: {
    exit: EXIT.refused,
    hint: "`belay restore @` brings it back with everything in it.",
  },
  CHECKPOINT_NOT_FOUND: { exit: EXIT.notFound, hint: "`belay list` shows the checkpoints." },
  CHECKPOINT_AMBIGUOUS: {
    exit: EXIT.refused,
    hint: "Give more letters of the id, or the number in front of it.",
    list: ({ candidates }) => candidates.map(({ id, seq, description }) => `${seq}  ${id}  ${description}`),
  },
  THREAD_NOT_FOUND: { exit: EXIT.notFound, hint: "`belay threads` lists them." },
  THREAD_AMBIGUOUS: {
    exit: EXIT.refused,
    hint: "Give more letters of the id.",
    list: ({ candidates }) =>
      candidates.map(({ id, agent, title }) => `${id}  ${agent}  ${title ?? ""}`.trim()),
  },
  MESSAGE_NOT_FOUND: {
    exit: EXIT.notFound,
    hint: "`belay thread <thread> --json` lists messages with their ids.",
  },
  EDIT_NOT_FOUND: { exit: EXIT.notFound, hint: "It was finalized or aborted already." },
  CHECKPOINT_PROTECTED: { exit: EXIT.refused, hint: "`belay forget` purges its content for good." },
  LIMIT_REACHED: {
    exit: EXIT.refused,
    hint: "Delete one of them, or choose another policy with `belay config retention.policy`.",
  },
  NAME_TAKEN: {
    exit: EXIT.refused,
    hint: ({ checkpoint }) => `Choose another name; \`belay show ${checkpoint}\` has this one.`,
  },
  NAME_INVALID: {
    exit: EXIT.usage,
    hint: "A name does not start with @, is not all digits and does not look like an id.",
  },
  PATH_OUTSIDE: { exit: EXIT.usage, hint: "Name a path inside the workspace." },
  PATH_NOT_IN_CHECKPOINT: {
    exit: EXIT.notFound,
    hint: ({ checkpoint }) =>
      `\`belay show ${checkpoint}\` tells what it holds; \`belay search <path>\` finds others.`,
  },
  OBJECT_CORRUPT: { exit: EXIT.damaged, hint: SEE_DAMAGE, list: ({ checkpoints }) => checkpoints },
  OBJECT_MISSING: { exit: EXIT.damaged, hint: SEE_DAMAGE, list: ({ checkpoints }) => checkpoints },
  STORE_CORRUPT: {
    exit: EXIT.damaged,
    hint: "Keep a copy of the store, then `belay doctor` says what can be done.",
  },
  STORE_MISSING: { exit: EXIT.damaged, hint: "`belay doctor` looks for it; `belay init` starts a new one." },
  STORE_REPLACED: { exit: EXIT.damaged, hint: "Run the command again; `belay doctor` says more." },
  STORE_READ_ONLY: {
    exit: EXIT.failed,
    hint: "Make the store writable; `belay doctor` says what is wrong with it.",
  },
  STORE_UNSAFE: { exit: EXIT.failed, hint: "Choose another place for it with --home or $BELAY_HOME." },
  STORE_BUSY: { exit: EXIT.failed, hint: "Another process is writing: run the command again." },
  STORE_FULL: {
    exit: EXIT.failed,
    hint: "`belay prune` and `belay gc` make room; `belay config disk.capBytes 20GiB` raises the cap.",
  },
  DISK_FULL: {
    exit: EXIT.failed,
    hint: "Free some space (`belay prune`, `belay gc`), then run the command again.",
  },
  PURGE_UNFINISHED: {
    exit: EXIT.failed,
    hint: "`belay gc` overwrites them as soon as that is possible.",
  },
  STORE_NEWER: { exit: EXIT.newer, hint: "Update Belay: the store was written by a newer version." },
  SQLITE_TOO_OLD: { exit: EXIT.failed, hint: "Use a newer Node 24: its SQLite can lose data." },
  INTERRUPTED: { exit: EXIT.interrupted, hint: "Run the command again to go on." },
  RESTORE_RUNNING: { exit: EXIT.running, hint: "Wait until it is done, then run the command again." },
  RECOVERY_BLOCKED: {
    exit: EXIT.refused,
    hint: "Look at these files; `belay list` has the state before the interrupted restore.",
    list: ({ paths }) => paths,
  },
  PREFLIGHT_FAILED: {
    exit: EXIT.refused,
    hint: "Put this right, or use --best-effort to leave these paths out.",
    list: ({ problems }) => problems.map(({ path, reason }) => `${path}: ${reason}`),
  },
  PLAN_STALE: { exit: EXIT.refused, hint: "Run the command again to see what it would do now." },
  STEPS_MISSING: {
    exit: EXIT.refused,
    hint: ({ available }) =>
      `There ${available === 1 ? "is 1 step" : `are ${available} steps`}: give a smaller number.`,
  },
  CONTENT_PRUNED: {
    exit: EXIT.refused,
    hint: ({ checkpoint }) =>
      checkpoint === null
        ? "`belay list` shows what can be restored; `belay revert <checkpoint>` takes out another change."
        : `\`belay restore ${checkpoint}\` goes back to before it; \`belay revert <checkpoint>\` takes out another change.`,
  },
  CONFIG_INVALID: { exit: EXIT.usage, hint: "`belay config` lists the settings." },
  FILE_SYSTEM: { exit: EXIT.failed, hint: "Check the path and its permissions, then run the command again." },
};

/** An error as both people and programs get to see it. */
export interface ErrorReport {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  readonly exit: ExitCode;
  readonly facts: Readonly<Record<string, unknown>>;
  readonly list: readonly string[];
}

export function reportError(error: unknown): ErrorReport {
  if (error instanceof CommandError) {
    const { exit, hint, facts = {} } = error.details;
    return { code: error.code, message: error.message, hint, exit, facts, list: [] };
  }
  if (isEngineError(error)) return reportEngineError(error);
  if (isSystemError(error)) return reportSystemError(error);
  const message = error instanceof Error ? error.message : String(error);
  const hint = "This is a mistake in Belay. Please report it with the lines above.";
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  return { code: "INTERNAL", message, hint, exit: EXIT.failed, facts: {}, list: stack.split("\n").slice(1) };
}

/** The object that `--json` prints instead of a result. */
export function errorJson(report: ErrorReport): object {
  const { code, message, hint, facts } = report;
  return { error: { ...facts, code, message, hint } };
}

interface EngineErrorShape<Code extends ErrorCode = ErrorCode> extends Error {
  readonly code: Code;
  readonly facts: ErrorFacts[Code];
}

/** By its name: importing the class would load the engine for a mistyped option. */
function isEngineError(error: unknown): error is EngineErrorShape {
  return (
    error instanceof Error &&
    error.name === "EngineError" &&
    Object.hasOwn(DECISIONS, (error as EngineErrorShape).code)
  );
}

/** A failed system call that nobody translated: still the file system's answer, not a mistake in Belay. */
function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && typeof (error as NodeJS.ErrnoException).syscall === "string";
}

function reportSystemError(error: NodeJS.ErrnoException): ErrorReport {
  const { exit, hint } = DECISIONS.FILE_SYSTEM;
  const facts = { path: error.path ?? "", operation: error.syscall ?? "" };
  return { code: "FILE_SYSTEM", message: `${error.message}.`, hint: String(hint), exit, facts, list: [] };
}

function reportEngineError<Code extends ErrorCode>(error: EngineErrorShape<Code>): ErrorReport {
  const { exit, hint, list }: Decision<ErrorFacts[Code]> = DECISIONS[error.code];
  return {
    code: error.code,
    message: error.message,
    hint: typeof hint === "string" ? hint : hint(error.facts),
    exit,
    facts: error.facts,
    list: list?.(error.facts) ?? [],
  };
}
