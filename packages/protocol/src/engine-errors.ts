/** The rows of the engine's errors: what went wrong while the caller did nothing wrong. */
import { shellWords } from "./command-text.ts";
import type { BelayAt, ErrorRow } from "./error-row.ts";
import { EXIT } from "./exit-code.ts";
import { hintForName, validName } from "./name-hints.ts";

const SEE_DAMAGE = "`belay verify --full` lists what is affected; the other checkpoints still work.";

/** Settings that are only in the file: `belay config` does not write them. */
const PROGRAM_SETTING = /^(?:workspaces\.[^.]+\.)?(?:agents|reviews|agentOrchestration|runs|merge)(?:\.|$)/;

/** A workspace that a hint names. */
export interface NamedWorkspace {
  readonly id: string;
  readonly path: string;
}

/** Errors of the engine. */
export const ENGINE_ROWS = {
  WORKSPACE_NOT_FOUND: {
    exit: EXIT.notFound,
    status: 404,
    hint: (
      {
        candidates = [],
        ended,
        movedTo,
        byId,
      }: {
        readonly candidates?: readonly NamedWorkspace[];
        readonly ended?: NamedWorkspace;
        readonly movedTo?: NamedWorkspace;
        readonly byId?: true;
      },
      belayAt,
    ) =>
      ended !== undefined
        ? "`belay init` protects it again, with its checkpoints; `belay uninstall --purge` deletes them."
        : movedTo !== undefined
          ? `\`belay init\` starts with a new store; \`belay attach ${movedTo.id}\` takes the store back.`
          : candidates.length > 0 && byId === true
            ? `\`belay attach ${candidates[0]!.id}\` takes the store of ${candidates[0]!.path}.`
            : candidates.length > 0
              ? `\`${belayAt(candidates[0]!.path, "restore", "@")}\` brings back what is gone. Was it moved here? \`belay attach ${candidates[0]!.id}\` gives it that store. \`belay init\` protects this directory with a new store.`
              : "`belay init` protects this directory.",
    apiHint: "GET /api/workspaces lists them; `belay init` protects a directory.",
    list: ({ candidates = [] }: { readonly candidates?: readonly NamedWorkspace[] }) =>
      candidates.map(({ id, path }) => `${id}  ${path}`),
  },
  WORKSPACE_REFUSED: {
    exit: EXIT.refused,
    status: 409,
    hint: ({ reason }: { readonly reason: string }) =>
      reason.includes("inside the workspace")
        ? "`belay init --nested` gives it checkpoints of its own."
        : reason.startsWith("a fork of")
          ? "`belay fork list` shows the forks, `belay fork remove <name>` removes one; `belay -C <project> uninstall` ends the protection of all."
          : "`belay -C <project> init` protects the directory of one project.",
  },
  WORKSPACE_EMPTIED: {
    exit: EXIT.refused,
    status: 409,
    hint: ({ path }: { readonly path: string }, belayAt) =>
      `\`${belayAt(path, "restore", "@")}\` brings it back with all files of the newest checkpoint.`,
  },
  CHECKPOINT_NOT_FOUND: {
    exit: EXIT.notFound,
    status: 404,
    hint: ({ checkpoint }: { readonly checkpoint: string }) => hintForName(checkpoint),
    apiHint: "GET …/checkpoints lists the checkpoints of a thread.",
    modelHint: "checkpoint_list lists the checkpoints, checkpoint_search finds one.",
  },
  CHECKPOINT_AMBIGUOUS: {
    exit: EXIT.refused,
    status: 409,
    hint: ({ candidates }: { readonly candidates: readonly { readonly seq: number }[] }) =>
      `\`belay show ${candidates[0]!.seq}\` shows the first: its number, or more letters of its id, identify it.`,
    list: ({
      candidates,
    }: {
      readonly candidates: readonly {
        readonly id: string;
        readonly seq: number;
        readonly description: string;
      }[];
    }) => candidates.map(({ id, seq, description }) => `${seq}  ${id}  ${description}`),
  },
  THREAD_NOT_FOUND: {
    exit: EXIT.notFound,
    status: 404,
    hint: "`belay threads` lists them.",
    apiHint: "GET /api/threads lists the threads of a workspace.",
  },
  THREAD_AMBIGUOUS: {
    exit: EXIT.refused,
    status: 409,
    hint: ({ candidates }: { readonly candidates: readonly { readonly id: string }[] }) =>
      `\`belay thread ${candidates[0]!.id}\` shows the first: more letters of its id identify it.`,
    list: ({
      candidates,
    }: {
      readonly candidates: readonly {
        readonly id: string;
        readonly agent: string;
        readonly title: string | null;
      }[];
    }) => candidates.map(({ id, agent, title }) => `${id}  ${agent}  ${title ?? ""}`.trim()),
  },
  MESSAGE_NOT_FOUND: {
    exit: EXIT.notFound,
    status: 404,
    hint: "`belay thread <thread> --json` lists messages with their ids.",
    apiHint: "GET …/messages lists the messages of a thread.",
  },
  EDIT_NOT_FOUND: {
    exit: EXIT.notFound,
    status: 404,
    hint: "It has already been finalized or aborted; `belay list` shows what came of it.",
  },
  CHECKPOINT_PROTECTED: {
    exit: EXIT.refused,
    status: 409,
    hint: ({ checkpoint }: { readonly checkpoint: string }) =>
      `\`belay forget ${checkpoint}\` purges it permanently, approved or not.`,
  },
  CHECKPOINT_IMPORTED: {
    exit: EXIT.refused,
    status: 409,
    hint: ({ checkpoint }: { readonly checkpoint: string }) =>
      `\`belay restore ${checkpoint}\` brings its files back; then make the branch.`,
  },
  LIMIT_REACHED: {
    exit: EXIT.refused,
    status: 409,
    hint: "`belay config retention.policy default` has no such limit; `belay forget <checkpoint>` makes room for one.",
  },
  BRANCH_NOT_FOUND: {
    exit: EXIT.notFound,
    status: 404,
    hint: "`belay branch` lists them; `belay branch --restore <name>` brings a deleted one back.",
    apiHint: "GET /api/branches lists them.",
  },
  BRANCH_IN_USE: {
    exit: EXIT.refused,
    status: 409,
    hint: ({ path }: { readonly path: string | null }, belayAt: BelayAt) =>
      path === null
        ? "`belay branch` lists the others."
        : `\`${belayAt(path, "switch", "<another>")}\` takes those files to another branch.`,
  },
  RUN_ALIVE: {
    exit: EXIT.refused,
    status: 409,
    hint: "Wait until it has ended, or go with --yes: what it writes from then on is on the other branch.",
    apiHint: "Wait until it has ended, or ask with `whileWorking`.",
  },
  FORK_NOT_FOUND: {
    exit: EXIT.notFound,
    status: 404,
    hint: "`belay fork list --removed` lists them, with those in the trash.",
    apiHint: "GET /api/forks lists them.",
  },
  FORK_LIMIT: {
    exit: EXIT.refused,
    status: 409,
    hint: ({ limit }: { readonly limit: string }) =>
      limit === "disk"
        ? "`belay fork remove <name> --now` frees what a fork takes; forks.directory can name a larger disk."
        : `\`belay fork remove <name>\` makes room; \`belay config ${limit}\` shows the limit.`,
  },
  FORK_BUSY: {
    exit: EXIT.refused,
    status: 409,
    hint: "Wait until they have ended, or end them.",
  },
  FORK_UNCAPTURED: {
    exit: EXIT.refused,
    status: 409,
    hint: "Copy it out of the fork, or remove it with --yes: after the grace time it is gone.",
    apiHint: "Copy it out of the fork, or remove it with `despiteGaps`: after the grace time it is gone.",
  },
  RUN_NOT_FOUND: {
    exit: EXIT.notFound,
    status: 404,
    hint: "`belay agents list` lists them.",
    apiHint: "GET /api/runs lists them.",
  },
  FIX_NOT_FOUND: {
    exit: EXIT.notFound,
    status: 404,
    hint: "`belay fix show` lists them.",
    apiHint: "GET /api/fixes lists them.",
  },
  BRANCH_TAKEN: {
    exit: EXIT.refused,
    status: 409,
    hint: ({ branch, deleted }: { readonly branch: string; readonly deleted: boolean }) =>
      deleted
        ? `\`${shellWords(["belay", "branch", "--restore", branch])}\` brings it back.`
        : `\`${shellWords(["belay", "switch", branch])}\` goes there; take another name for a new one.`,
  },
  BRANCH_NAME_INVALID: {
    exit: EXIT.usage,
    status: 400,
    hint: "Branches are named like those of git: letters, digits and hyphens are always right.",
  },
  MERGE_NOT_FOUND: {
    exit: EXIT.notFound,
    status: 404,
    hint: "`belay conflicts` shows what waits for a decision.",
    apiHint: "GET /api/merges lists them.",
  },
  CONFLICT_NOT_FOUND: {
    exit: EXIT.notFound,
    status: 404,
    hint: "`belay conflicts` lists those that are open.",
    apiHint: "GET /api/merges/:id/conflicts lists them.",
  },
  CONFLICT_AMBIGUOUS: {
    exit: EXIT.refused,
    status: 409,
    hint: ({ candidates }: { readonly candidates: readonly { readonly id: string }[] }) =>
      `\`belay conflicts ${candidates[0]!.id}\` shows the first: its id identifies it.`,
    list: ({
      candidates,
    }: {
      readonly candidates: readonly {
        readonly id: string;
        readonly source: string;
        readonly path: string;
      }[];
    }) => candidates.map(({ id, source, path }) => `${id}  ${source}  ${path}`),
  },
  MERGE_OPEN: {
    exit: EXIT.refused,
    status: 409,
    hint: "`belay conflicts` lists what to decide; `belay merge --abandon` gives the merge up.",
    apiHint: "GET /api/merges/:id/conflicts lists what to decide; POST /api/merges/:id/abandon gives it up.",
  },
  CHECK_FAILED: {
    exit: EXIT.refused,
    status: 409,
    hint: "Make the check pass here first, or merge without it.",
  },
  ANSWER_REFUSED: {
    exit: EXIT.refused,
    status: 409,
    hint: "`belay conflicts <conflict>` shows it and its options.",
    apiHint: "GET /api/conflicts/:id shows it and its options.",
  },
  NAME_TAKEN: {
    exit: EXIT.refused,
    status: 409,
    hint: ({ name, checkpoint }: { readonly name: string; readonly checkpoint: string }) =>
      `\`${shellWords(["belay", "untag", name])}\` frees it; \`belay show ${checkpoint}\` shows what has it now.`,
  },
  NAME_INVALID: {
    exit: EXIT.usage,
    status: 400,
    hint: ({ name }: { readonly name: string }) =>
      `Try "${validName(name)}": a name does not start with @, is not a number and does not look like an id.`,
  },
  PATH_OUTSIDE: {
    exit: EXIT.usage,
    status: 400,
    hint: "Name a path inside the workspace; `belay workspaces` lists what is protected.",
  },
  PATH_NOT_IN_CHECKPOINT: {
    exit: EXIT.notFound,
    status: 404,
    hint: ({ path, isNeverIn }: { readonly path: string; readonly isNeverIn?: true }) =>
      isNeverIn === true
        ? "`belay status` lists what else is not protected."
        : `\`${shellWords(["belay", "search", path])}\` finds the checkpoints that changed it.`,
  },
  OBJECT_CORRUPT: {
    exit: EXIT.damaged,
    status: 500,
    hint: SEE_DAMAGE,
    list: ({ checkpoints }: { readonly checkpoints: readonly string[] }) => checkpoints,
  },
  OBJECT_MISSING: {
    exit: EXIT.damaged,
    status: 500,
    hint: SEE_DAMAGE,
    list: ({ checkpoints }: { readonly checkpoints: readonly string[] }) => checkpoints,
  },
  STORE_CORRUPT: {
    exit: EXIT.damaged,
    status: 500,
    hint: ({ store }: { readonly store: string }) =>
      `Keep a copy of ${store}. \`belay doctor\` says how bad it is; \`belay uninstall --purge\` and \`belay init\` start with a new store.`,
  },
  STORE_MISSING: {
    exit: EXIT.damaged,
    status: 500,
    hint: "If it was moved away, move it back. Otherwise `belay uninstall --purge` and `belay init` create a new one.",
  },
  STORE_REPLACED: {
    exit: EXIT.damaged,
    status: 500,
    hint: "Run the command again; `belay doctor` says more.",
  },
  STORE_READ_ONLY: {
    exit: EXIT.failed,
    status: 500,
    hint: ({ store }: { readonly store: string }) =>
      `\`${shellWords(["chmod", "-R", "u+w", store])}\` makes it writable, if its medium is; \`belay doctor\` says more.`,
  },
  STORE_UNSAFE: {
    exit: EXIT.failed,
    status: 500,
    hint: ({ store, reason }: { readonly store: string; readonly reason: string }) =>
      reason.includes("can write")
        ? `\`${shellWords(["chmod", "go-w", store])}\` makes it private; --home or $BELAY_HOME chooses another place.`
        : "Choose another place with --home or $BELAY_HOME.",
  },
  STORE_BUSY: {
    exit: EXIT.failed,
    status: 500,
    hint: "Another process is writing. Run the command again; if that does not help, `belay doctor` says more.",
  },
  STORE_FULL: {
    exit: EXIT.failed,
    status: 500,
    hint: "`belay prune` and `belay gc` make room; `belay config disk.capBytes 20GiB` raises the cap.",
  },
  DISK_FULL: {
    exit: EXIT.failed,
    status: 500,
    hint: "Free some space (`belay prune`, `belay gc`), then run the command again.",
  },
  PURGE_UNFINISHED: {
    exit: EXIT.failed,
    status: 500,
    hint: "`belay gc` overwrites them as soon as that is possible.",
  },
  STORE_NEWER: {
    exit: EXIT.newer,
    status: 409,
    hint: "Update Belay: a newer version wrote the store. `belay --version` says which one this is.",
  },
  SQLITE_TOO_OLD: {
    exit: EXIT.failed,
    status: 500,
    hint: "Use a newer Node 24: its SQLite can lose data.",
  },
  INTERRUPTED: { exit: EXIT.interrupted, status: 409, hint: "Run the command again to continue." },
  RESTORE_RUNNING: {
    exit: EXIT.running,
    status: 423,
    hint: "Run the command again when it is done; `belay list` works meanwhile.",
  },
  RECOVERY_BLOCKED: {
    exit: EXIT.refused,
    status: 409,
    hint: ({ before }: { readonly before: number }) =>
      `Look at these files. \`belay restore ${before}\` goes back to the state before the interrupted operation.`,
    list: ({ paths }: { readonly paths: readonly string[] }) => paths,
  },
  PREFLIGHT_FAILED: {
    exit: EXIT.refused,
    status: 409,
    hint: "Fix this, or use --best-effort to skip these paths.",
    apiHint: "Fix this, or set bestEffort to skip these paths.",
    list: ({
      problems,
    }: {
      readonly problems: readonly { readonly path: string; readonly reason: string }[];
    }) => problems.map(({ path, reason }) => `${path}: ${reason}`),
  },
  PLAN_STALE: {
    exit: EXIT.refused,
    status: 409,
    hint: "Run the command again to see what it would do now.",
    apiHint: "Request the preview again and use its plan.",
    modelHint: "Preview again, and show the user what it would do now.",
  },
  PATTERN_TOO_SLOW: {
    exit: EXIT.usage,
    status: 400,
    hint: "Repetitions inside repetitions, such as (a+)+, are the usual reason. `-S` looks for plain text.",
  },
  STEPS_MISSING: {
    exit: EXIT.refused,
    status: 409,
    hint: ({ available }: { readonly available: number }) =>
      available === 0 ? "`belay list` shows what can be restored." : `Use at most ${available}.`,
  },
  CONTENT_PRUNED: {
    exit: EXIT.refused,
    status: 409,
    hint: ({ checkpoint }: { readonly checkpoint: string | null }) =>
      checkpoint === null
        ? "`belay list` shows what can be restored; `belay revert <checkpoint>` reverts another change."
        : `\`belay restore ${checkpoint}\` goes back to before it; \`belay revert <checkpoint>\` reverts another change.`,
  },
  CONFIG_INVALID: {
    exit: EXIT.usage,
    status: 400,
    hint: ({ key, file }: { readonly key: string; readonly file?: string }) => {
      if (file === undefined) return "`belay config` lists the settings.";
      if (key === "config.json") return `Correct ${file}, or delete it: every setting then has its default.`;
      if (PROGRAM_SETTING.test(key)) return `Correct it in ${file}.`;
      const [, own] = /^workspaces\.[^.]+\.(.+)$/.exec(key) ?? [];
      return `\`belay config ${own === undefined ? key : `${own} --here`} --unset\` takes it out of ${file}.`;
    },
  },
  FILE_SYSTEM: {
    exit: EXIT.failed,
    status: 500,
    hint: "Check the path and its permissions, then run the command again.",
  },
} as const satisfies Readonly<Record<string, ErrorRow<never>>>;
