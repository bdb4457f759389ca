import type { Branch, Workspace } from "@belay/engine";
import { EXIT, usageError } from "@belay/protocol/errors";
import { branchJson } from "@belay/server/json";
import { defineCommand, type Call } from "../call/command.ts";
import { branchTable, branchTree } from "../output/branch-table.ts";
import { visible } from "../output/visible.ts";
import { withWorkspace } from "../wiring/open-workspace.ts";

export default defineCommand({
  usage:
    "branch [name] [--from cp] [--note text] | branch -m <old> <new> | branch -d <name> | branch --restore <name> | branch --tree",
  about: `Branches are named lines of checkpoints; the first is main. Without a name: all of them, with where the files are.
With a name: makes one, which touches no file, and begins with the present, captured now, or with a checkpoint. A
branch is a checkpoint wherever one is taken: \`belay diff branch/a branch/b\`. A deleted one can be brought back for
30 days.`,
  options: {
    from: { type: "string", value: "checkpoint", about: "begin with this checkpoint" },
    note: { type: "string", value: "text", about: "what the new branch is for" },
    move: { type: "boolean", short: "m", about: "rename a branch" },
    delete: { type: "boolean", short: "d", about: "delete a branch" },
    restore: { type: "boolean", about: "bring a deleted branch back" },
    tree: { type: "boolean", about: "draw which branch began on which" },
    deleted: { type: "boolean", about: "list deleted ones too" },
  },
  operands: { min: 0, max: 2 },
  exits: { 3: "refused: the name is taken, or files are on the branch; nothing was changed" },
  examples: ["belay branch", "belay branch idea", "belay branch --tree"],
  run: (call) => {
    const way = wayOf(call);
    return withWorkspace(call, (workspace) => way(call, workspace));
  },
});

type BranchCall = Pick<Call, "json" | "output" | "operands"> & {
  readonly options: {
    from?: string;
    note?: string;
    move?: boolean;
    delete?: boolean;
    restore?: boolean;
    tree?: boolean;
    deleted?: boolean;
  };
};

type Way = (call: BranchCall, workspace: Workspace) => Promise<number>;

/** Each takes as many names as it needs; what would have no effect is refused. */
function wayOf({ options, operands }: BranchCall): Way {
  const { from, note, move, restore, tree, deleted } = options;
  const asked = [move, options.delete, restore, tree ?? deleted].filter((each) => each === true).length;
  const isNew = operands.length === 1 && asked === 0;
  if (asked > 1 || (!isNew && (from !== undefined || note !== undefined)))
    throw usageError("These options do not go together.", "`belay branch --help` shows what each is for.");
  if (move === true) return expecting(operands, 2, "-m takes the old name and the new one.", rename);
  if (options.delete === true) return expecting(operands, 1, "-d takes the name of a branch.", remove);
  if (restore === true) return expecting(operands, 1, "--restore takes the name of a branch.", bringBack);
  if (isNew) return create;
  const taken = tree === true ? "--tree takes no name." : "A branch has one name.";
  return expecting(operands, 0, taken, list);
}

function expecting(operands: readonly string[], number: number, message: string, way: Way): Way {
  if (operands.length !== number) throw usageError(message, "`belay branch --help` shows what each is for.");
  return way;
}

const create: Way = async (call, workspace) => {
  const { from, note } = call.options;
  const [name = ""] = call.operands;
  const branch = await workspace.createBranch(name, {
    ...(from !== undefined && { from }),
    ...(note !== undefined && { description: note }),
  });
  const base = branch.base === null ? undefined : await workspace.resolve(branch.base);
  return told(call, branch, {
    done: `Branch ${visible(name)} begins with checkpoint ${base?.seq ?? "?"}; no file was touched.`,
    next: `\`belay switch ${visible(name)}\` goes there.`,
  });
};

const rename: Way = async (call, workspace) => {
  const [name = "", next = ""] = call.operands;
  return told(call, await workspace.renameBranch(name, next), {
    done: `Branch ${visible(name)} is called ${visible(next)} now.`,
  });
};

const remove: Way = async (call, workspace) => {
  const [name = ""] = call.operands;
  return told(call, await workspace.deleteBranch(name), {
    done: `Branch ${visible(name)} is deleted; its checkpoints stay for 30 days.`,
    next: `\`belay branch --restore ${visible(name)}\` brings it back.`,
  });
};

const bringBack: Way = async (call, workspace) => {
  const [name = ""] = call.operands;
  return told(call, await workspace.restoreBranch(name), {
    done: `Branch ${visible(name)} is there.`,
    next: `\`belay switch ${visible(name)}\` goes there.`,
  });
};

const list: Way = async (call, workspace) => {
  const { deleted = false, tree } = call.options;
  const branches = await workspace.branches({ deleted });
  if (call.json) call.output.json({ branches: branches.map(branchJson) });
  else
    call.output.print(tree === true ? branchTree(branches, call.output) : branchTable(branches, call.output));
  return EXIT.done;
};

function told(
  { json, output }: BranchCall,
  branch: Branch,
  { done, next }: { done: string; next?: string },
): number {
  if (json) output.json({ branch: branchJson(branch) });
  else if (!output.quiet)
    output.print(
      [
        `${output.style.green("✓")} ${done}`,
        ...(next === undefined ? [] : [`${output.style.dim("→")} ${next}`]),
      ].join("\n"),
    );
  return EXIT.done;
}
