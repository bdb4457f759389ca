import type { Workspace } from "@belay/engine";
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
    "merge [branch or run…] [--on-conflict hold|none|partial] [--dry-run] [--yes] | merge --continue | merge --abandon",
  about: `Brings what branches changed since they last met this one into the files here, in the order given, as one step that
one \`belay undo\` takes out. Without a name: the branches of the last \`belay agents run\` whose runs are done. What both sides changed is combined where that is certain. A branch with a conflict is
held back whole, the others come in; \`belay conflicts\` shows what to decide, \`belay resolve\` decides it, and the last
decision brings in the rest. \`belay revert <branch>\` takes one branch out again.`,
  options: {
    "on-conflict": {
      type: "string",
      value: "hold|none|partial",
      about: "hold back what conflicts, merge nothing then, or take its clean files",
    },
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

type MergeCommandCall = Pick<Call, "json" | "output" | "home" | "operands" | "directory"> & {
  readonly options: {
    "on-conflict"?: string;
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
  const onConflict = call.options["on-conflict"] ?? "hold";
  if (onConflict !== "hold" && onConflict !== "none" && onConflict !== "partial")
    throw usageError(`--on-conflict cannot be "${onConflict}".`, "It is hold, none or partial.");
  const { mergeAndReport } = await import("../merging/merge-flow.ts");
  const { openSyntax } = await import("../wiring/open-syntax.ts");
  const syntax = await openSyntax();
  const { branchesToMerge } = await import("../command-parts/merge-names.ts");
  const names = await branchesToMerge(call, workspace);
  return mergeAndReport(call, workspace, () =>
    workspace.merges.plan(names, { onConflict, ...(syntax && { syntax }) }),
  );
};

const continueMerge: Way = async (call, workspace) => {
  const id = await openMerge(call, workspace);
  const { mergeAndReport } = await import("../merging/merge-flow.ts");
  const { openSyntax } = await import("../wiring/open-syntax.ts");
  const syntax = await openSyntax();
  return mergeAndReport(call, workspace, () => workspace.merges.planRest(id, { ...(syntax && { syntax }) }));
};

const abandon: Way = async (call, workspace) => {
  const id = await openMerge(call, workspace);
  const merge =
    call.options["dry-run"] === true ? await workspace.merges.show(id) : await workspace.merges.abandon(id);
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
