import type { Checkpoint, Workspace } from "@belay/engine";
import { ContractError, EXIT, usageError } from "@belay/protocol/errors";
import { ghostJson, possible } from "@belay/server/json";
import { count } from "@belay/tui/text";
import {
  ALL_ENTRIES,
  BEST_EFFORT,
  defineCommand,
  DRY_RUN,
  GOING_BACK_EXITS,
  PATCH,
  YES,
  type Call,
} from "../call/command.ts";
import { ghostTable } from "../output/ghost-table.ts";
import { visible } from "../output/visible.ts";
import { withWorkspace } from "../wiring/open-workspace.ts";

export default defineCommand({
  usage:
    "ghost [list] | ghost create [checkpoint] [-m text] | ghost restore <ghost> [--dry-run [-p]] [--yes] | ghost drop <ghost> | ghost drop --all",
  about: `A ghost is a checkpoint that the git repository has as a commit, at refs/belay/ghost/<id>, for looking with git's
own tools: \`git log refs/belay/ghost/<id>\`, \`git diff HEAD refs/belay/ghost/<id>\`. The index, HEAD, settings and hooks
of the repository are not touched. \`git log --all\` and mirrors show these refs; clone, fetch and push do not.
What git ignores and .env files are left out. \`belay config ghost.mode auto\` makes one before each message.`,
  options: {
    message: { type: "string", short: "m", value: "text", about: "what the commit says" },
    all: { ...ALL_ENTRIES, about: "drop: all of this workspace; restore --dry-run: list every file" },
    "best-effort": BEST_EFFORT,
    "dry-run": DRY_RUN,
    patch: PATCH,
    yes: YES,
  },
  operands: { min: 0, max: 2 },
  exits: GOING_BACK_EXITS,
  examples: ["belay ghost create", "belay ghost", "belay ghost drop --all"],
  run: (call) => {
    const [verb = "list", ...names] = call.operands;
    const way = WAYS[verb];
    if (way === undefined || !way.takes(names.length, call.options.all === true))
      throw usageError(
        way === undefined ? `There is no "belay ghost ${verb}".` : way.wants,
        "`belay ghost --help` shows what there is.",
      );
    return withWorkspace(call, (workspace) => way.run(call, workspace, names[0]));
  },
});

type GhostCall = Call & {
  readonly options: {
    message?: string;
    all?: boolean;
    "best-effort"?: boolean;
    "dry-run"?: boolean;
    patch?: boolean;
    yes?: boolean;
  };
};

interface Way {
  /** How many names it takes. */
  takes(names: number, all: boolean): boolean;
  readonly wants: string;
  run(call: GhostCall, workspace: Workspace, name: string | undefined): Promise<number>;
}

const WAYS: Readonly<Record<string, Way>> = {
  list: { takes: (names) => names === 0, wants: "list takes no name.", run: list },
  create: { takes: () => true, wants: "", run: create },
  restore: { takes: (names) => names === 1, wants: "restore takes one ghost.", run: restore },
  drop: {
    takes: (names, all) => names === (all ? 0 : 1),
    wants: "drop takes one ghost, or --all.",
    run: drop,
  },
};

async function list({ json, output }: GhostCall, workspace: Workspace): Promise<number> {
  const ghosts = possible(await workspace.ghosts());
  if (json) output.json({ ghosts: ghosts.map(ghostJson) });
  else if (ghosts.length === 0)
    output.print("There are no ghosts. `belay ghost create` makes one of the files as they are.");
  else output.print(ghostTable(ghosts, output));
  return EXIT.done;
}

async function create(call: GhostCall, workspace: Workspace, name: string | undefined): Promise<number> {
  const { message } = call.options;
  const options = message === undefined ? {} : { description: message };
  const ghost = possible(await workspace.ghost(name, options));
  if (call.json) call.output.json({ ghost: ghostJson(ghost) });
  else if (!call.output.quiet) {
    const { style } = call.output;
    const without =
      ghost.leftOut === 0 ? "" : `, without ${count(ghost.leftOut, "path")} that git should not have`;
    call.output.print(`${style.green("✓")} Commit ${ghost.commit.slice(0, 10)} has the files${without}.`);
    call.output.print(`${style.dim("→")} \`git diff HEAD refs/belay/ghost/${ghost.id}\` shows it.`);
  }
  return EXIT.done;
}

async function restore(call: GhostCall, workspace: Workspace, name = ""): Promise<number> {
  const { goBack } = await import("../going-back/go-back.ts");
  const { checkpointLabel } = await import("../output/checkpoint-table.ts");
  const target = await checkpointOf(call, workspace, name);
  const bestEffort = call.options["best-effort"] === true;
  return goBack(call, workspace, {
    verb: "restore",
    target: `to ${checkpointLabel(target, call.output.style)}`,
    plan: () => workspace.planRestore(target.id),
    act: () => workspace.restoreTo(target.id, { bestEffort }),
  });
}

/** [R1785] The checkpoint of a ghost. One that the store does not have is imported from its commit first. */
async function checkpointOf(call: GhostCall, workspace: Workspace, name: string): Promise<Checkpoint> {
  try {
    return await workspace.resolve(name);
  } catch (error) {
    if ((error as { code?: string }).code !== "CHECKPOINT_NOT_FOUND") throw error;
    if (!(await importGhost(call, workspace, name))) throw error;
    return workspace.resolve(name);
  }
}

/** False where the repository has no such ghost. */
async function importGhost(call: GhostCall, workspace: Workspace, name: string): Promise<boolean> {
  const [{ OldData }, { ghost, isGhost }, { takeHistory }] = await Promise.all([
    import("../imports/old-data.ts"),
    import("../imports/ghost.ts"),
    import("../imports/take-history.ts"),
  ]);
  if (!isGhost(workspace.root, name)) return false;
  if (call.options["dry-run"] === true)
    throw new ContractError(
      "NOTHING_TO_IMPORT",
      `The store does not have the checkpoint of ${visible(name)} yet: restoring it imports it from git first. Nothing was changed.`,
      { facts: { path: workspace.root } },
    );
  const data = new OldData(workspace.root, []);
  const here = new Set((await workspace.list({ search: "" })).map(({ id }) => String(id)));
  for (const history of ghost.read(data, { into: workspace.root, here })) {
    const { checkpoints } = await takeHistory(call.output, history, workspace);
    call.output.note(`${count(checkpoints, "checkpoint")} imported from the ghosts of the repository.`);
  }
  for (const { what, reason } of data.skipped)
    call.output.warn(`Skipped ${visible(what)}: ${visible(reason)}`);
  return true;
}

async function drop({ json, output, options }: GhostCall, workspace: Workspace, name = ""): Promise<number> {
  const id = options.all === true ? "all" : await idOf(workspace, name);
  const dropped = possible(await workspace.dropGhost(id));
  if (json) output.json({ dropped });
  else if (!output.quiet)
    output.print(`${output.style.green("✓")} ${count(dropped, "ghost")} dropped; the checkpoints stay.`);
  return EXIT.done;
}

/** A ghost by its id or commit, also when its checkpoint is gone. */
async function idOf(workspace: Workspace, name: string): Promise<string> {
  const ghosts = possible(await workspace.ghosts());
  const found = ghosts.find(({ id, commit }) => id === name || (name.length >= 7 && commit.startsWith(name)));
  return found?.id ?? (await workspace.resolve(name)).id;
}
