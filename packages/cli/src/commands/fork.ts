import type { Fork, Workspace } from "@belay/engine";
import { EXIT, usageError } from "@belay/protocol/errors";
import { forkJson, removedForkJson } from "@belay/server/json";
import { count, duration, relativeTime, size } from "@belay/tui/text";
import { defineCommand, YES, type Call } from "../call/command.ts";
import { forkTable } from "../output/fork-table.ts";
import { visible } from "../output/visible.ts";
import { warnAll, withWorkspace } from "../wiring/open-workspace.ts";

export default defineCommand({
  usage:
    "fork [name] [--from cp] [--no-git] [--no-dependencies] | fork list [--removed] | fork path <name> | fork remove <name> [--now] [--yes] | fork restore <name>",
  about: `A fork is one more working copy of this directory, in a directory of its own, on a branch of its own with the
fork's name. It has every file as it is now, uncommitted and ignored ones too, or those of a checkpoint; dependencies
are copied, and git gets a repository of its own that cannot push. What is written there changes nothing here, and the
reverse. Removing a fork captures everything in it and puts it into the trash for a day; its branch stays.`,
  options: {
    from: { type: "string", value: "checkpoint", about: "begin with this checkpoint" },
    "no-git": { type: "boolean", about: "make no git repository in the fork" },
    "no-dependencies": { type: "boolean", about: "leave out what package managers installed" },
    removed: { type: "boolean", about: "list those in the trash too" },
    now: { type: "boolean", about: "delete at once, without a time in the trash" },
    yes: YES,
  },
  operands: { min: 0, max: 2 },
  exits: { 3: "refused: something is at work in the fork, or there is no room; nothing was changed" },
  examples: ["belay fork idea", "belay fork list", "belay fork path idea", "belay fork remove idea"],
  run: (call) => {
    const way = wayOf(call);
    return withWorkspace(call, (workspace) => way(call, workspace));
  },
});

type ForkCall = Pick<Call, "json" | "output" | "operands" | "home" | "environment"> & {
  readonly options: {
    from?: string;
    "no-git"?: boolean;
    "no-dependencies"?: boolean;
    removed?: boolean;
    now?: boolean;
    yes?: boolean;
  };
};

type Way = (call: ForkCall, workspace: Workspace) => Promise<number>;

/** Which options each of them takes; what would have no effect is refused. */
const TAKEN: Readonly<Record<string, readonly string[]>> = {
  create: ["from", "no-git", "no-dependencies", "yes"],
  list: ["removed"],
  path: [],
  remove: ["now", "yes"],
  restore: [],
};

function wayOf({ operands, options }: ForkCall): Way {
  const [first = "", ...rest] = operands;
  const word = first !== "create" && Object.hasOwn(WAYS, first) ? first : "create";
  const names = word === "create" ? operands : rest;
  const wanted = word === "list" ? [0] : word === "create" ? [0, 1] : [1];
  const taken = TAKEN[word]!;
  const other = Object.values(TAKEN)
    .flat()
    .find((option) => !taken.includes(option) && option in options);
  const called = word === "create" ? "A new fork" : `\`fork ${word}\``;
  if (other !== undefined) throw mistake(`${called} does not take --${other}.`);
  if (!wanted.includes(names.length))
    throw mistake(word === "list" ? `${called} takes no name.` : `${called} takes one name.`);
  return (call, workspace) => WAYS[word]!({ ...call, operands: names }, workspace);
}

function mistake(message: string): Error {
  return usageError(message, "`belay fork --help` shows what each takes.");
}

const create: Way = async (call, workspace) => {
  const { from } = call.options;
  const { prepareFork, setupWords } = await import("../agents/prepare-fork.ts");
  const { agreeToCommands } = await import("../agents/known-commands.ts");
  const commands = [setupWords(call, workspace)];
  const use = { workspace: workspace.id, commands, yes: call.options.yes === true };
  if (!(await agreeToCommands(call, use))) {
    const { declined } = await import("../call/confirmation.ts");
    return declined(call);
  }
  const log = call.output.quiet ? undefined : (line: string) => call.output.warn(line);
  const said: string[] = [];
  const fork = await workspace.fork(call.operands[0], {
    ...(from !== undefined && { from }),
    ...(call.options["no-git"] === true && { git: "none" as const }),
    ...(call.options["no-dependencies"] === true && { dependencies: "none" as const }),
    setup: async (made, environment) => {
      said.push(...(await prepareFork({ ...call, log }, { workspace, fork: made }, environment)));
    },
  });
  warnAll(call, [...fork.warnings, ...said]);
  if (call.json) call.output.json({ fork: forkJson(fork), warnings: [...fork.warnings, ...said] });
  else
    told(call, `Fork ${visible(fork.name)} is ready in ${duration(fork.durationMs)}: ${madeOf(fork)}.`, [
      visible(fork.path),
    ]);
  return EXIT.done;
};

function madeOf({ files, bytes, bytesOnDisk }: Fork): string {
  return `${count(files, "file")}, ${size(bytes)}, ${size(bytesOnDisk)} on the disk`;
}

const list: Way = async (call, workspace) => {
  const forks = await workspace.forks({ removed: call.options.removed === true });
  if (call.json) call.output.json({ forks: forks.map(forkJson) });
  else
    call.output.print(
      forks.length === 0 ? "No forks. `belay fork <name>` makes one." : forkTable(forks, call.output),
    );
  return EXIT.done;
};

const path: Way = async (call, workspace) => {
  const fork = await workspace.findFork(call.operands[0]!);
  if (call.json) call.output.json({ path: fork.path });
  else call.output.print(fork.path);
  return EXIT.done;
};

const remove: Way = async (call, workspace) => {
  const { now, yes } = call.options;
  const removed = await workspace.removeFork(call.operands[0]!, {
    now: now === true,
    despiteGaps: yes === true,
  });
  warnAll(call, removed.warnings);
  if (call.json) call.output.json(removedForkJson(removed));
  else {
    const name = visible(removed.fork.name);
    const where = removed.until === null ? "deleted" : `in the trash until ${relativeTime(removed.until)}`;
    told(call, `Fork ${name} is ${where}; its branch ${visible(removed.branch.name)} stays.`, [
      removed.until === null
        ? `\`belay branch\` lists it.`
        : `\`belay fork restore ${name}\` brings it back.`,
    ]);
  }
  return EXIT.done;
};

const restore: Way = async (call, workspace) => {
  const fork = await workspace.restoreFork(call.operands[0]!);
  if (call.json) call.output.json({ fork: forkJson(fork) });
  else told(call, `Fork ${visible(fork.name)} is back.`, [visible(fork.path)]);
  return EXIT.done;
};

const WAYS: Readonly<Record<string, Way>> = { create, list, path, remove, restore };

function told({ output }: ForkCall, done: string, next: readonly string[]): void {
  if (output.quiet) return;
  output.print(
    [`${output.style.green("✓")} ${done}`, ...next.map((line) => `${output.style.dim("→")} ${line}`)].join(
      "\n",
    ),
  );
}
