/**
 * What each error of the engine means on the command line: its exit code, what to do about it, and which
 * of its facts a person needs to see as a list. A code without a decision does not compile.
 */
import type { ErrorCode, ErrorFacts } from "@belay/engine";
import { CommandError } from "./command-error.ts";
import { EXIT, type ExitCode } from "./exit-code.ts";
import { belayAt } from "./output/belay-at.ts";
import { shellWords } from "./output/shell-words.ts";

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
            ? `\`${belayAt(candidates[0]!.path, "restore", "@")}\` brings back what is gone. Was it moved here? \`belay attach ${candidates[0]!.id}\` gives it that store. \`belay init\` protects this directory anew.`
            : "`belay init` protects this directory.",
    list: ({ candidates }) => candidates.map(({ id, path }) => `${id}  ${path}`),
  },
  WORKSPACE_REFUSED: {
    exit: EXIT.refused,
    hint: ({ reason }) =>
      reason.includes("inside the workspace")
        ? "`belay init --nested` gives it checkpoints of its own."
        : "`belay -C <project> init` protects the directory of one project.",
  },
  WORKSPACE_EMPTIED: {
    exit: EXIT.refused,
    hint: ({ path }) =>
      `\`${belayAt(path, "restore", "@")}\` brings it back with all files of the newest checkpoint.`,
  },
  CHECKPOINT_NOT_FOUND: { exit: EXIT.notFound, hint: "`belay list` shows the checkpoints." },
  CHECKPOINT_AMBIGUOUS: {
    exit: EXIT.refused,
    hint: ({ candidates }) =>
      `\`belay show ${candidates[0]!.seq}\` shows the first: its number, or more letters of its id, mean it alone.`,
    list: ({ candidates }) => candidates.map(({ id, seq, description }) => `${seq}  ${id}  ${description}`),
  },
  THREAD_NOT_FOUND: { exit: EXIT.notFound, hint: "`belay threads` lists them." },
  THREAD_AMBIGUOUS: {
    exit: EXIT.refused,
    hint: ({ candidates }) =>
      `\`belay thread ${candidates[0]!.id}\` shows the first: more letters of its id mean it alone.`,
    list: ({ candidates }) =>
      candidates.map(({ id, agent, title }) => `${id}  ${agent}  ${title ?? ""}`.trim()),
  },
  MESSAGE_NOT_FOUND: {
    exit: EXIT.notFound,
    hint: "`belay thread <thread> --json` lists messages with their ids.",
  },
  EDIT_NOT_FOUND: {
    exit: EXIT.notFound,
    hint: "It was finalized or aborted already; `belay list` shows what came of it.",
  },
  CHECKPOINT_PROTECTED: {
    exit: EXIT.refused,
    hint: ({ checkpoint }) => `\`belay forget ${checkpoint}\` purges it for good, approved or not.`,
  },
  LIMIT_REACHED: {
    exit: EXIT.refused,
    hint: "`belay config retention.policy default` has no such limit; `belay forget <checkpoint>` makes room for one.",
  },
  NAME_TAKEN: {
    exit: EXIT.refused,
    hint: ({ name, checkpoint }) =>
      `\`${shellWords(["belay", "untag", name])}\` frees it; \`belay show ${checkpoint}\` shows what has it now.`,
  },
  NAME_INVALID: {
    exit: EXIT.usage,
    hint: ({ name }) =>
      `Try "${validName(name)}": a name does not start with @, is not a number and does not look like an id.`,
  },
  PATH_OUTSIDE: {
    exit: EXIT.usage,
    hint: "Name a path inside the workspace; `belay workspaces` lists what is protected.",
  },
  PATH_NOT_IN_CHECKPOINT: {
    exit: EXIT.notFound,
    hint: ({ path }) => `\`${shellWords(["belay", "search", path])}\` finds the checkpoints that changed it.`,
  },
  OBJECT_CORRUPT: { exit: EXIT.damaged, hint: SEE_DAMAGE, list: ({ checkpoints }) => checkpoints },
  OBJECT_MISSING: { exit: EXIT.damaged, hint: SEE_DAMAGE, list: ({ checkpoints }) => checkpoints },
  STORE_CORRUPT: {
    exit: EXIT.damaged,
    hint: ({ store }) =>
      `Keep a copy of ${store}. \`belay doctor\` says how bad it is; \`belay uninstall --purge\` and \`belay init\` start anew.`,
  },
  STORE_MISSING: {
    exit: EXIT.damaged,
    hint: "If it was moved away, put it back. Else `belay uninstall --purge` and `belay init` start a new one.",
  },
  STORE_REPLACED: { exit: EXIT.damaged, hint: "Run the command again; `belay doctor` says more." },
  STORE_READ_ONLY: {
    exit: EXIT.failed,
    hint: ({ store }) =>
      `\`${shellWords(["chmod", "-R", "u+w", store])}\` makes it writable, if its medium is; \`belay doctor\` says more.`,
  },
  STORE_UNSAFE: {
    exit: EXIT.failed,
    hint: ({ store, reason }) =>
      reason.includes("can write")
        ? `\`${shellWords(["chmod", "go-w", store])}\` makes it yours alone; --home or $BELAY_HOME names another place.`
        : "Name another place with --home or $BELAY_HOME.",
  },
  STORE_BUSY: {
    exit: EXIT.failed,
    hint: "Another process is writing: run the command again; `belay doctor` says more if it stays so.",
  },
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
  STORE_NEWER: {
    exit: EXIT.newer,
    hint: "Update Belay: a newer version wrote the store. `belay --version` says which one this is.",
  },
  SQLITE_TOO_OLD: { exit: EXIT.failed, hint: "Use a newer Node 24: its SQLite can lose data." },
  INTERRUPTED: { exit: EXIT.interrupted, hint: "Run the command again to go on." },
  RESTORE_RUNNING: {
    exit: EXIT.running,
    hint: "Run the command again when it is done; `belay list` works meanwhile.",
  },
  RECOVERY_BLOCKED: {
    exit: EXIT.refused,
    hint: ({ before }) =>
      `Look at these files. \`belay restore ${before}\` goes back to the state before what was interrupted.`,
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
      available === 0 ? "`belay list` shows what can be restored." : `Give ${available} at most.`,
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

/** A name like the given one that is allowed. */
function validName(name: string): string {
  const plain = name
    .replace(/^[@\s]+/, "")
    .slice(0, 50)
    .trim();
  return plain === "" || /^\d+$/.test(plain) || /^[k-z]{16}$/.test(plain) ? `v-${plain || "1"}` : plain;
}

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
    const { exit, hint, facts = {}, list = [] } = error.details;
    return {
      code: error.code,
      message: error.message,
      hint: hint ?? hintFor(error.code, facts),
      exit,
      facts,
      list,
    };
  }
  if (isEngineError(error)) return reportEngineError(error);
  if (isSystemError(error)) return reportSystemError(error);
  const message = error instanceof Error ? error.message : String(error);
  const hint = "This is a mistake in Belay. Please report it with the lines above.";
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  return { code: "INTERNAL", message, hint, exit: EXIT.failed, facts: {}, list: stack.split("\n").slice(1) };
}

/** What the table says about a code; nothing for one that is not in it. */
function hintFor(code: string, facts: Readonly<Record<string, unknown>>): string {
  if (!Object.hasOwn(DECISIONS, code)) return "";
  const { hint } = DECISIONS[code as ErrorCode] as Decision<Readonly<Record<string, unknown>>>;
  return typeof hint === "string" ? hint : hint(facts);
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
  const { exit, list }: Decision<ErrorFacts[Code]> = DECISIONS[error.code];
  return {
    code: error.code,
    message: error.message,
    hint: hintFor(error.code, error.facts),
    exit,
    facts: error.facts,
    list: list?.(error.facts) ?? [],
  };
}
