import type { BranchMergeOptions, MergeOutcome, MergePlan, Workspace } from "@belay/engine";
import { EXIT, usageError } from "@belay/protocol/errors";
import { mergeJson } from "@belay/server/json";
import {
  ALL_ENTRIES,
  ANY_NUMBER,
  defineCommand,
  DRY_RUN,
  GOING_BACK_EXITS,
  YES,
  type Call,
} from "../call/command.ts";
import { visible } from "../output/visible.ts";
import { withWorkspace } from "../wiring/open-workspace.ts";

export default defineCommand({
  usage:
    "merge [branch or run…] [--on-conflict hold|none|partial] [--check command] [--agent] [--dry-run] [--yes] | merge --continue | merge --abandon",
  about: `Brings what branches changed since they last met this one into the files here, in the order given, as one step that
one \`belay undo\` takes out. Without a name: the branches of the last \`belay agents run\` whose runs are done. What both sides changed is combined where that is certain. A branch with a conflict is
held back whole, the others come in; \`belay conflicts\` shows what to decide, \`belay resolve\` decides it, and the last
decision brings in the rest. \`belay revert <branch>\` takes one branch out again.

With --check (or \`merge.check\` in config.json) the result is written into a scratch copy and the command run there before
any of your files changes; a branch whose addition makes it fail is held back. Lock files that both sides changed are
generated again there by their package manager, once you agree. With --agent the merger of \`agents.roles.merger\` is asked
about what is left.`,
  options: {
    "on-conflict": {
      type: "string",
      value: "hold|none|partial",
      about: "hold back what conflicts, merge nothing then, or take its clean files",
    },
    check: { type: "string", value: "command", about: "hold back what makes this command fail" },
    agent: { type: "boolean", about: "ask the merger of config.json about what is left to decide" },
    continue: { type: "boolean", about: "bring in what was held back and is decided now" },
    abandon: { type: "boolean", about: "give up what is held back; what came in stays" },
    "dry-run": DRY_RUN,
    all: ALL_ENTRIES,
    yes: YES,
  },
  operands: { min: 0, max: ANY_NUMBER },
  exits: {
    ...GOING_BACK_EXITS,
    3: "conflicts are left to decide, or it was refused or declined; nothing is lost",
  },
  examples: ["belay merge idea --dry-run"],
  run: (call) => {
    const way = wayOf(call);
    return withWorkspace(call, (workspace) => way(call, workspace));
  },
});

type MergeCommandCall = Pick<Call, "json" | "output" | "home" | "operands" | "directory" | "environment"> & {
  readonly options: {
    "on-conflict"?: string;
    check?: string;
    agent?: boolean;
    continue?: boolean;
    abandon?: boolean;
    "dry-run"?: boolean;
    all?: boolean;
    yes?: boolean;
  };
};

type Way = (call: MergeCommandCall, workspace: Workspace) => Promise<number>;

function wayOf({ options, operands }: MergeCommandCall): Way {
  const isRest = options.continue === true || options.abandon === true;
  if (options.continue === true && options.abandon === true)
    throw usageError("--continue and --abandon do not go together.", "Use one of them.");
  if (isRest && operands.length > 1)
    throw usageError(
      "One merge is continued or given up at a time.",
      "`belay conflicts` names the open ones.",
    );
  if (isRest) return options.continue === true ? continueMerge : abandon;
  return start;
}

const start: Way = async (call, workspace) => {
  const given = call.options["on-conflict"];
  if (given !== undefined && given !== "hold" && given !== "none" && given !== "partial")
    throw usageError(`--on-conflict cannot be "${given}".`, "It is hold, none or partial.");
  const { readProgramSettings } = await import("@belay/engine");
  const onConflict = given ?? readProgramSettings(call.home, workspace.id).merge.onConflict;
  const { branchesToMerge } = await import("../command-parts/merge-names.ts");
  const names = await branchesToMerge(call, workspace);
  const exit = await withPrograms(call, workspace, (means) =>
    workspace.planMerge(names, { onConflict, ...means }),
  );
  return exit === EXIT.refused ? askAgent(call, workspace, exit) : exit;
};

/** With --agent, what was held back goes to the merger of the settings. */
async function askAgent(call: MergeCommandCall, workspace: Workspace, exit: number): Promise<number> {
  if (call.options.agent !== true || call.options["dry-run"] === true) return exit;
  const { openHere } = await import("../merging/bring-in.ts");
  const { canBeMerged } = await import("../merging/ask-merger.ts");
  const conflicts = await openHere(workspace);
  if (!conflicts.some(canBeMerged)) return exit;
  const { askAndBringIn } = await import("../merging/merger-flow.ts");
  return askAndBringIn(call, workspace, { conflicts });
}

const continueMerge: Way = async (call, workspace) => {
  const id = await openMerge(call, workspace);
  return withPrograms(call, workspace, (means) => workspace.merges.planRest(id, means));
};

/** Merges with what knows languages and with the user's programs; Ctrl-C ends those. */
async function withPrograms(
  call: MergeCommandCall,
  workspace: Workspace,
  plan: (means: Pick<BranchMergeOptions, "syntax" | "programs">) => Promise<MergePlan>,
): Promise<number> {
  const { mergeAndReport } = await import("../merging/merge-flow.ts");
  const { mergePrograms } = await import("../merging/merge-programs.ts");
  const { openSyntax } = await import("../wiring/open-syntax.ts");
  const { untilInterrupted } = await import("../call/until-interrupted.ts");
  const { declined } = await import("../call/confirmation.ts");
  const syntax = await openSyntax();
  const { check, yes = false } = call.options;
  const ended = new AbortController();
  const request = { workspace: workspace.id, check, yes, signal: ended.signal };
  const programs = await mergePrograms(call, request);
  if (programs === undefined) return declined(call);
  const makePlan = () =>
    untilInterrupted((signal) => {
      signal.addEventListener("abort", () => ended.abort());
      return plan({ programs, ...(syntax && { syntax }) });
    });
  const { canBeMerged } = await import("../merging/ask-merger.ts");
  const isFollowed = ({ merge }: MergeOutcome) =>
    call.options.agent === true && merge.conflicts.some(canBeMerged);
  return mergeAndReport(call, workspace, { makePlan, isFollowed });
}

const abandon: Way = async (call, workspace) => {
  const id = await openMerge(call, workspace);
  const merge =
    call.options["dry-run"] === true ? await workspace.merges.show(id) : await workspace.abandonMerge(id);
  const held = merge.sources.filter(({ outcome }) => outcome === "held").map(({ name }) => visible(name));
  if (call.json) call.output.json({ merge: mergeJson(merge) });
  else if (!call.output.quiet)
    call.output.print(
      `The merge of ${held.join(", ")} ${call.options["dry-run"] === true ? "would be" : "is"} given up; no file was touched.`,
    );
  return EXIT.done;
};

/** The merge that was named, or the only one that is open. */
async function openMerge({ operands }: MergeCommandCall, workspace: Workspace): Promise<string> {
  const [named] = operands;
  const open = (await workspace.merges.list()).filter(({ state }) => state === "open");
  const found = named === undefined ? open : open.filter(({ id }) => id.startsWith(named));
  const [merge, ...others] = found;
  if (merge !== undefined && others.length === 0) return merge.id;
  const { EngineError } = await import("@belay/engine");
  if (merge === undefined)
    throw new EngineError(
      "MERGE_NOT_FOUND",
      named === undefined
        ? "No merge is open. Nothing was changed."
        : `No open merge is called "${named}". Nothing was changed.`,
      { merge: named ?? "" },
    );
  throw usageError(
    `${found.length} merges are open.`,
    `Name one: ${found.map(({ id, sources }) => `${id.slice(0, 8)} (${sources.map(({ name }) => name).join(", ")})`).join("; ")}.`,
  );
}
