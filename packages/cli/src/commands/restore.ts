import type { RestoreScope } from "@belay/engine";
import { EXIT, usageError } from "@belay/protocol/errors";
import {
  ALL_ENTRIES,
  ANY_NUMBER,
  BEST_EFFORT,
  defineCommand,
  DRY_RUN,
  GOING_BACK_EXITS,
  INTERACTIVE,
  PATCH,
  THREAD,
  YES,
} from "../call/command.ts";
import { warnAll, withWorkspace } from "../wiring/open-workspace.ts";
import { threadId } from "../call/thread-option.ts";
import { workspacePaths } from "../call/workspace-path.ts";
import { isCurrentDirectoryGone } from "../output/belay-at.ts";

export default defineCommand({
  usage:
    "restore <checkpoint> [paths…] [-i] [--leave-others] [--with-conversation | --conversation-only] [--outside] [--keep-new] [--best-effort] [--dry-run [-p]] [--yes]",
  about: [
    "Brings the files back to a checkpoint: all of them, only the given files, directories and patterns",
    "(such as '*.ts'), or what -i lets you choose.",
    "The present state is kept in a safety checkpoint first, so this can be undone too. Files that no",
    "checkpoint captured are never touched. Asks when several files are affected. A directory that was",
    "deleted as a whole comes back as well: `belay -C <directory> restore @`.",
  ].join("\n"),
  options: {
    "keep-new": { type: "boolean", about: "delete nothing: keep files that were created later" },
    "best-effort": BEST_EFFORT,
    "with-conversation": { type: "boolean", about: "also mark the messages since then as rolled back" },
    "conversation-only": { type: "boolean", about: "only mark the messages; leave the files alone" },
    thread: { ...THREAD, about: "the thread to take back; asks before taking back other threads' work" },
    outside: {
      type: "boolean",
      about: "also write back files outside the directory that the checkpoint holds; asks for that apart",
    },
    "leave-others": { type: "boolean", about: "leave alone what only other threads changed" },
    interactive: INTERACTIVE,
    "dry-run": DRY_RUN,
    patch: PATCH,
    yes: YES,
    all: ALL_ENTRIES,
  },
  operands: { min: 1, max: ANY_NUMBER },
  exits: GOING_BACK_EXITS,
  examples: [
    "belay restore 12",
    "belay restore @-2 src/ README.md",
    "belay restore before-refactoring --dry-run",
  ],
  run: (call) => {
    const scope = scopeOf(call.options, call.operands.length > 1);
    refusePartOutside(call.options, call.operands.length > 1);
    return withWorkspace(call, async (workspace) => {
      const [named = "", ...given] = call.operands;
      const { localReference } = await import("../command-parts/remote-reference.ts");
      const ref = await localReference(call, workspace, named);
      const { goBack } = await import("../going-back/go-back.ts");
      const { checkpointLabel } = await import("../output/checkpoint-table.ts");
      const { beforeTurnLabel } = await import("../output/turn-text.ts");
      const { pathNames } = await import("../output/visible.ts");
      const { isTurnName } = await import("@belay/engine");
      const { resolveNamingPaths } = await import("../going-back/turn-of-path.ts");
      const target = await resolveNamingPaths(call, workspace, ref);
      const label = isTurnName(ref)
        ? beforeTurnLabel(await workspace.timeline.row(ref), call.output)
        : checkpointLabel(target, call.output.style);
      const paths = workspacePaths(workspace, call.directory, given);
      const thread = await threadId(workspace, call.options.thread);
      const options = {
        keepNew: call.options["keep-new"] === true,
        scope,
        outside: call.options.outside === true,
        ...(paths && { paths }),
        ...(thread && { thread }),
        ...(call.options["leave-others"] === true && { exceptThreads: "others" as const }),
      };
      const bestEffort = call.options["best-effort"] === true;
      let advice: string | undefined;
      const before = async () => {
        const { forkConversation } = await import("../agents/fork-conversation.ts");
        const forking = { home: call.home, workspace, target, thread: thread ?? null };
        const forked = await forkConversation(forking);
        if (forked.warning !== undefined) warnAll(call, [forked.warning]);
        advice = forked.advice;
      };
      const exit = await goBack(call, workspace, {
        ...(scope !== "files" && { before }),
        verb: "restore",
        conversation: scope !== "files",
        target: `${paths === undefined ? "to" : `${pathNames(paths)} from`} ${label}`,
        plan: (hunks) => workspace.planRestore(target.id, { ...options, ...(hunks && { hunks }) }),
        act: () => workspace.restoreTo(target.id, { ...options, bestEffort }),
      });
      if (exit === EXIT.done && advice !== undefined) call.output.note(advice);
      if (exit === EXIT.done && options.scope !== "conversation" && isCurrentDirectoryGone())
        call.output.note(STANDS_IN_DELETED);
      return exit;
    });
  },
});

/** Otherwise `ls` lists nothing, as if nothing had come back. */
const STANDS_IN_DELETED =
  'Your shell still stands in the directory that was deleted: `cd "$PWD"` goes to the one that is back.';

interface OutsideOptions {
  readonly outside?: boolean;
  readonly interactive?: boolean;
  readonly "keep-new"?: boolean;
  readonly "leave-others"?: boolean;
}

/** [R844] Files outside are confirmed and written as a whole: what limits a restore does not choose among them. */
function refusePartOutside(options: OutsideOptions, hasPaths: boolean): void {
  const isPart =
    hasPaths ||
    options.interactive === true ||
    options["keep-new"] === true ||
    options["leave-others"] === true;
  if (options.outside === true && isPart)
    throw usageError(
      "--outside goes with a whole restore, not with paths, -i, --keep-new or --leave-others.",
      "`belay restore <checkpoint> --outside` shows the files outside and asks about them.",
    );
}

interface ScopeOptions {
  readonly "with-conversation"?: boolean;
  readonly "conversation-only"?: boolean;
}

function scopeOf(options: ScopeOptions, hasPaths: boolean): RestoreScope {
  const { "with-conversation": both = false, "conversation-only": only = false } = options;
  if (both && only)
    throw usageError("--with-conversation and --conversation-only cannot be combined.", "Use one of them.");
  if ((both || only) && hasPaths)
    throw usageError(
      "A conversation can only be rewound as a whole.",
      "Leave out the paths, or the conversation option.",
    );
  return both ? "both" : only ? "conversation" : "files";
}
