import { lstatSync } from "node:fs";
import { resolve } from "node:path";
import type { Checkpoint, ForgetReport, Workspace } from "@belay/engine";
import { ASKING_EXITS, ALL_ENTRIES, defineCommand, DRY_RUN, YES, type Call } from "../call/command.ts";
import { ContractError, EXIT, usageError } from "@belay/protocol/errors";
import { confirm, declined } from "../call/confirmation.ts";
import { forgetJson } from "@belay/server/json";
import { warnAll, withWorkspace } from "../wiring/open-workspace.ts";
import { count } from "@belay/tui/text";
import { stepLabel } from "../output/step-label.ts";
import { visible, visiblePath } from "../output/visible.ts";
import { askEverywhere } from "../command-parts/forget-everywhere.ts";
import { findWords, forgetWords } from "../command-parts/forget-words.ts";
import { outsidePath, workspacePath } from "../call/workspace-path.ts";

const OPTIONS = {
  thread: {
    type: "string",
    value: "thread",
    about: "purge the text of a thread; files and checkpoints stay",
  },
  message: { type: "string", value: "id", about: "purge one message and the other text of its turn" },
  "same-content": { type: "boolean", about: "also purge other paths that hold the same bytes" },
  always: { type: "boolean", about: "also keep the path out of every later checkpoint; `status` lists it" },
  everywhere: {
    type: "boolean",
    about: "also ask every machine of the remotes to purge the same content; only an admin can",
  },
  undo: { type: "boolean", about: "with --always: let the path be captured again" },
  "dry-run": DRY_RUN,
  yes: YES,
  all: ALL_ENTRIES,
} as const;

export default defineCommand({
  usage:
    "forget <path | checkpoint | --thread t | --message id> [--always [--undo]] [--same-content] [--everywhere] [--dry-run] [--yes]",
  about: [
    "Permanently purges content from the store: a path from every checkpoint, or one checkpoint.",
    "This is the only thing Belay cannot undo. The files on disk stay as they are. Write ./name for a path",
    "that could also be a checkpoint. A file that stays on disk is in the next checkpoint again, unless",
    "--always keeps it out. A file outside the directory is named by its absolute path. With --thread or",
    "--message it purges text instead: prompts, answers, titles and descriptions, wherever the store has",
    "them. The agent's own transcripts are not touched. With --everywhere, machines that share a remote purge",
    "the same contents from their checkpoints too, at their next push or pull; their files on disk stay.",
  ].join("\n"),
  options: OPTIONS,
  operands: { min: 0, max: 1 },
  exits: ASKING_EXITS,
  examples: [
    "belay forget secrets.env",
    "belay forget --always secrets.env",
    "belay forget 12 --dry-run",
    "belay forget --thread kqzv",
  ],
  run: async (call) => {
    const words = findWords(call);
    return withWorkspace(call, async (workspace) => {
      const everywhere = call.options.everywhere === true;
      if (everywhere && (words !== undefined || call.options.undo === true))
        throw usageError(
          "--everywhere is for a path or a checkpoint. Nothing was changed.",
          "For example: belay forget --everywhere secrets.env",
        );
      if (words !== undefined) {
        if (call.options["dry-run"] === true) return forgetWords(call, workspace, words);
        warnOfRemotes(call, workspace);
        await warnOfGhosts(call, workspace);
        return forgetWords(call, workspace, words);
      }
      if (call.options.undo === true) return captureAgain(call, workspace);
      const target = await findTarget(call, workspace, call.operands[0] ?? "");
      const always = call.options.always === true;
      if (always && target.kind === "checkpoint")
        throw usageError(
          "--always is for a path, not for a checkpoint.",
          `Write ./${target.label} for a file.`,
        );
      // previewed first even with --yes: a path that no checkpoint has is a typing mistake
      const sameContent = call.options["same-content"] === true;
      const preview = await lookAt(workspace, target, { sameContent, always });
      const asking = everywhere ? await askEverywhere(call, workspace, { ...target, always }) : undefined;
      if (call.options["dry-run"] === true) return report(call, target, preview);
      const asked = `${question(target, preview, sameContent)}${always ? ALWAYS_TOO : comesBack(call, target)}${asking?.question ?? ""}`;
      if (call.options.yes !== true && !(await confirm(call, asked, { dryRun: true }))) return declined(call);
      // asked first: where that fails, nothing is forgotten yet
      await asking?.publish();
      warnOfRemotes(call, workspace, asking !== undefined);
      await warnOfGhosts(call, workspace);
      const status = report(
        call,
        target,
        await workspace.upkeep.forget(target.name, { sameContent, always }),
      );
      if (always && !call.json)
        call.output.print(
          `${visible(target.label)} stays out of every later checkpoint. To capture it again: ${takeBack(target)}`,
        );
      else if (!always && isOnDisk(call, target)) call.output.warn(comesBack(call, target).trim());
      return status;
    });
  },
});

const ALWAYS_TOO = "\nIt will stay out of every later checkpoint.";

function takeBack({ label }: Pick<Target, "label">): string {
  return `belay forget --always --undo ${visible(label)}`;
}

function isOnDisk(call: Pick<Call<typeof OPTIONS>, "directory" | "operands">, { kind }: Target): boolean {
  return kind !== "checkpoint" && exists(resolve(call.directory, call.operands[0] ?? ""));
}

/** [R135] What stays on disk will be captured again. */
function comesBack(call: Pick<Call<typeof OPTIONS>, "directory" | "operands">, target: Target): string {
  if (!isOnDisk(call, target)) return "";
  if (target.kind === "outside")
    return "\nIt is still on disk: the next tool that names it brings it into a checkpoint again, while `outside.capture` is on.";
  return `\nIt is still on disk: the next checkpoint will hold it again, unless .belayignore names it. To keep it out: belay forget --always ${visible(target.label)}`;
}

async function captureAgain(call: Call<typeof OPTIONS>, workspace: Workspace): Promise<number> {
  if (call.options.always !== true)
    throw usageError("--undo goes with --always.", "What was purged cannot be brought back.");
  const path = workspacePath(workspace, call.directory, call.operands[0] ?? "");
  const wasKeptOut = await workspace.upkeep.captureAgain(path);
  if (!wasKeptOut)
    throw new ContractError("PATH_NOT_KEPT_OUT", `${visible(path)} was not kept out. Nothing was changed.`, {
      facts: { path },
    });
  if (call.json) call.output.json({ path, keptOut: false });
  else call.output.print(`${visible(path)} will be in the next checkpoint again.`);
  return EXIT.done;
}

interface Target {
  /** The engine's name for it: an id, a path from the root that starts with "./", or an absolute one. */
  readonly name: string;
  readonly label: string;
  readonly kind: "checkpoint" | "path" | "outside";
}

/** Forgetting the wrong thing cannot be undone, so a word with two meanings is refused. */
async function findTarget(
  call: Pick<Call, "directory">,
  workspace: Workspace,
  given: string,
): Promise<Target> {
  const checkpoint = await findCheckpoint(workspace, given);
  const isFile = exists(resolve(call.directory, given));
  if (checkpoint !== undefined && (isFile || isHardlyAnId(given, checkpoint)))
    throw ambiguous(given, checkpoint.id);
  if (checkpoint !== undefined) {
    return { name: checkpoint.id, label: `checkpoint ${checkpoint.seq}`, kind: "checkpoint" };
  }
  const outside = outsidePath(workspace, call.directory, given);
  if (outside !== undefined) return { name: outside, label: outside, kind: "outside" };
  const path = workspacePath(workspace, call.directory, given);
  if (path === "")
    throw usageError("That is the whole workspace.", "`belay uninstall --purge` deletes all checkpoints.");
  const name = `./${path}`;
  const namesake = await findCheckpoint(workspace, name);
  if (namesake !== undefined) throw ambiguous(name, namesake.id);
  return { name, label: path, kind: "path" };
}

async function lookAt(
  workspace: Workspace,
  target: Target,
  how: { sameContent: boolean; always: boolean },
): Promise<ForgetReport> {
  try {
    return await workspace.upkeep.forget(target.name, { dryRun: true, ...how });
  } catch (error) {
    if (target.kind === "checkpoint" || !isNotFound(error)) throw error;
    throw new ContractError(
      "PATH_NOT_IN_CHECKPOINT",
      `No checkpoint has ${target.label}. Nothing was changed.`,
      {
        facts: { path: target.label },
      },
    );
  }
}

async function findCheckpoint(workspace: Workspace, ref: string): Promise<Checkpoint | undefined> {
  try {
    return await workspace.resolve(ref);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** A few letters that happen to begin an id may well be a file that no longer exists. */
function isHardlyAnId(given: string, { id }: Checkpoint): boolean {
  return given.length < 4 && id.startsWith(given);
}

function isNotFound(error: unknown): boolean {
  return (error as { code?: unknown }).code === "CHECKPOINT_NOT_FOUND";
}

function ambiguous(given: string, id: string): ContractError {
  const hint = `Write ./${given} for the file, or ${id} for the checkpoint.`;
  return usageError(`"${given}" may be a checkpoint or a file. Nothing was changed.`, hint);
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function question(target: Target, preview: ForgetReport, sameContent: boolean): string {
  const others = preview.sameContent.length > 0 && !sameContent ? `${sameContentText(preview)}\n` : "";
  return `${others}Permanently purge ${visible(target.label)}${where(target, preview)}? This cannot be undone.`;
}

function where(target: Target, { checkpoints }: ForgetReport): string {
  return target.kind !== "checkpoint" ? ` from ${count(checkpoints.length, "checkpoint")}` : "";
}

function report(call: Call<typeof OPTIONS>, target: Target, forgotten: ForgetReport): number {
  const { objects, dryRun, steps } = forgotten;
  const what = `${visible(target.label)}${where(target, forgotten)}`;
  if (call.json) call.output.json(forgetJson(forgotten));
  else if (dryRun) call.output.print(`Would purge ${what}.`);
  else call.output.print(`Purged ${what}: ${count(objects, "object")}. The files on disk are untouched.`);
  if (steps.length > 0)
    call.output.warn(`These steps can no longer be undone: ${steps.map(stepLabel).join(", ")}.`);
  if (forgotten.sameContent.length > 0 && call.options["same-content"] !== true)
    call.output.warn(sameContentText(forgotten));
  if (forgotten.stillOpen.length > 0)
    call.output.warn(stillOpenText(forgotten, call.options.always === true));
  return EXIT.done;
}

/** [R135] What a restore replaced is not in a checkpoint yet while a program can write to it. */
function stillOpenText({ stillOpen }: ForgetReport, always: boolean): string {
  const names = stillOpen.slice(0, SHOWN_PATHS).map(visiblePath).join(", ");
  const what = `A program still has open what a restore replaced: ${names}.`;
  if (always)
    return `${what} What it leaves there gets a name beside that, and stays out of every checkpoint.`;
  return `${what} If it writes to it, a checkpoint will hold all that is in it again: forget it then, or keep it out now with --always.`;
}

/** [R166] The bytes remain while another path has them. */
function sameContentText({ sameContent }: ForgetReport): string {
  const rows = sameContent.slice(0, SHOWN_PATHS).map((path) => `  ${visiblePath(path)}`);
  const rest = sameContent.length - rows.length;
  if (rest > 0) rows.push(`  … and ${rest} more`);
  return `The same bytes are in ${count(sameContent.length, "other path")}, and stay there; --same-content purges those too:\n${rows.join("\n")}`;
}

const SHOWN_PATHS = 20;

const OTHERS_ASKED = "other machines follow at their next push or pull";

/** What was pushed before stays on the server: parcels are never rewritten. */
function warnOfRemotes(call: Pick<Call, "output">, workspace: Workspace, isEverywhere = false): void {
  const names = workspace.exchange.remotes().map(({ name }) => visible(name));
  if (names.length === 0) return;
  warnAll(call, [
    `What was pushed to ${names.join(", ")} leaves the line of this machine with the next \`belay push\`. Its bytes stay on the server, encrypted, until sweeps are switched on; ${isEverywhere ? OTHERS_ASKED : "lines of other machines that have it keep it (--everywhere asks them)"}. Replace a secret that was sent.`,
  ]);
}

/** [R2502] Ghosts are commits of the user's: nothing but a command about them takes one away. */
async function warnOfGhosts(call: Pick<Call, "output">, workspace: Workspace): Promise<void> {
  const ghosts = await workspace.ghosts();
  if (!Array.isArray(ghosts) || ghosts.length === 0) return;
  warnAll(call, [
    `The git repository has ${count(ghosts.length, "ghost")} of this workspace, which may hold it: \`belay ghost drop --all\` takes them out, and git's next clean-up (\`git gc --prune=now\`) frees their content.`,
  ]);
}
