import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { resolve } from "node:path";
import { isatty } from "node:tty";
import { isTurnName, tarArchive, type Checkpoint, type Diff, type Workspace } from "@belay/engine";
import { writeToFile, writeToStdout } from "../archive/archive-file.ts";
import { defineCommand, THREAD, YES, type Call } from "../call/command.ts";
import { ContractError, EXIT, usageError } from "@belay/protocol/errors";
import { confirm, declined } from "../call/confirmation.ts";
import { compare } from "../command-parts/states-and-paths.ts";
import { withWorkspace } from "../wiring/open-workspace.ts";
import { patchText, printDiff } from "../output/diff-text.ts";
import { count, size } from "@belay/tui/text";
import { visible } from "../output/visible.ts";

const OPTIONS = {
  tar: { type: "string", value: "file", about: "all files as a tar archive; - is stdout (the default)" },
  yes: { ...YES, about: "overwrite a file that exists" },
  patch: {
    type: "boolean",
    about: "what changed since the checkpoint before, or what a turn changed, as a patch on stdout",
  },
  thread: { ...THREAD, about: "a whole thread instead of a checkpoint" },
  git: { type: "string", value: "directory", about: "as a git repository in a new directory" },
  bundle: {
    type: "string",
    value: "file",
    about: "with messages, names, notes and tags, for `belay import <file>`",
  },
} as const;

type ExportCall = Call<typeof OPTIONS>;

export default defineCommand({
  usage:
    "export <checkpoint> [--tar file | --patch], or export --git directory, or export --thread t (--git directory | --bundle file)",
  about: [
    "A checkpoint for use elsewhere: all its files as a tar archive, or its changes as a unified diff.",
    "All branches as a git repository: each is a branch of the same name, with a commit for each checkpoint.",
    "A thread as a git repository: main is what was approved, each session a branch. Or as a bundle: one file with its",
    "messages, checkpoints and annotations, which `belay import <file>` reads. Secrets in texts are masked in both.",
  ].join("\n"),
  options: OPTIONS,
  operands: { min: 0, max: 1 },
  examples: [
    "belay export @ --tar project.tar",
    "belay export 12 | tar -x -C elsewhere",
    "belay export 12 --patch > 12.patch",
    "belay export @turn --patch | git -C ../other apply",
    "belay export --git ../history",
    "belay export --thread kqzv --git ../thread",
    "belay export --thread kqzv --bundle thread.tar",
  ],
  run: (call) => {
    checkOptions(call);
    return withWorkspace(call, async (workspace) => {
      if (call.options.git !== undefined) return exportGit(call, workspace, call.options.git);
      if (call.options.bundle !== undefined) return exportBundle(call, workspace, call.options.bundle);
      const [given = ""] = call.operands;
      if (call.options.patch === true) return exportPatch(call, workspace, given);
      return exportTar(call, workspace, await workspace.resolve(given));
    });
  },
});

function checkOptions(call: ExportCall): void {
  const { tar, patch, thread, git, bundle } = call.options;
  const forms = [git, bundle].filter((each) => each !== undefined);
  if (forms.length > 0 || thread !== undefined) {
    const isWhole = git !== undefined && bundle === undefined;
    if (forms.length !== 1 || (thread === undefined && !isWhole) || call.operands.length > 0)
      throw usageError(
        "A thread is exported with --thread, and --git or --bundle.",
        "belay export --thread <t> --git <directory>, or --bundle <file>",
      );
    return;
  }
  if (call.operands.length === 0) throw usageError("Missing argument.", "Usage: belay export <checkpoint>");
  if (tar !== undefined && patch === true)
    throw usageError("--tar and --patch cannot be combined.", "Use one of them.");
  if (patch === true) return;
  const toStdout = tar === undefined || tar === "-";
  if (toStdout && call.json) throw usageError("--json already uses stdout.", "Name a file: --tar <file>.");
  if (toStdout && isatty(1))
    throw usageError(
      "An archive cannot be shown on a terminal.",
      "Name a file: --tar <file>, or use a pipe.",
    );
}

async function exportTar(call: ExportCall, workspace: Workspace, checkpoint: Checkpoint): Promise<number> {
  const archive = tarArchive(workspace.files(checkpoint.id), checkpoint.createdAt);
  const { tar } = call.options;
  if (tar === undefined || tar === "-") {
    return (await writeToStdout(archive, call.output)) ? EXIT.done : EXIT.failed;
  }
  if (!(await mayWrite(call, tar))) return declined(call);
  const bytes = await writeToFile(archive, resolve(call.directory, tar));
  if (call.json)
    call.output.json({ checkpoint: checkpoint.id, format: "tar", file: tar, files: checkpoint.files, bytes });
  else call.output.note(`${visible(tar)}: checkpoint ${checkpoint.seq}, ${size(bytes)}`);
  return EXIT.done;
}

/** A file that exists is overwritten only after confirmation. */
async function mayWrite(call: ExportCall, file: string): Promise<boolean> {
  if (!existsSync(resolve(call.directory, file)) || call.options.yes === true) return true;
  return confirm(call, `Overwrite ${visible(file)}?`);
}

async function exportBundle(call: ExportCall, workspace: Workspace, file: string): Promise<number> {
  const thread = await workspace.threads.get(call.options.thread ?? "");
  if (!(await mayWrite(call, file))) return declined(call);
  const { bundleThread } = await import("../archive/bundle.ts");
  const { archive, facts } = await bundleThread(workspace, thread);
  const bytes = await writeToFile(archive, resolve(call.directory, file));
  const { checkpoints, messages } = facts;
  if (call.json) call.output.json({ thread: thread.id, format: "bundle", file, ...facts, bytes });
  else
    call.output.print(
      `${visible(file)}: ${count(checkpoints, "checkpoint")}, ${count(messages, "message")}, ${size(bytes)}`,
    );
  return EXIT.done;
}

async function exportGit(call: ExportCall, workspace: Workspace, given: string): Promise<number> {
  const { thread: ref } = call.options;
  const thread = ref === undefined ? null : await workspace.threads.get(ref);
  const directory = resolve(call.directory, given);
  if (existsSync(directory) && readdirSync(directory).length > 0)
    throw new ContractError(
      "OUTPUT_EXISTS",
      `${visible(given)} exists and is not empty. Nothing was written.`,
      {
        facts: { directory },
      },
    );
  mkdirSync(directory, { recursive: true });
  const { exportRepository } = await import("../archive/git-repository.ts");
  const branches = await exportRepository(workspace, thread, directory);
  if (call.json) call.output.json({ thread: thread?.id ?? null, format: "git", directory, branches });
  else
    call.output.print(
      [
        `${visible(given)}:`,
        ...branches.map(({ branch, commits }) => `  ${branch}  ${count(commits, "commit")}`),
      ].join("\n"),
    );
  return EXIT.done;
}

async function exportPatch(call: ExportCall, workspace: Workspace, given: string): Promise<number> {
  const diff = await changeOf(workspace, given);
  const { from: parent, to: checkpoint } = diff;
  if (call.json) call.output.json({ checkpoint, parent, format: "patch", patch: patchText(diff) });
  else if (diff.files.length > 0) await printDiff(diff, call.output);
  else call.output.warn(`${visible(given)} changed nothing, so there is no patch.`);
  return EXIT.done;
}

/** What a turn changed, or what a checkpoint has that its parent has not. */
async function changeOf(workspace: Workspace, given: string): Promise<Diff> {
  if (isTurnName(given)) return compare(workspace, [given], { detail: "text" });
  const checkpoint = await workspace.resolve(given);
  const [parent] = checkpoint.parents;
  if (parent === undefined) throw noParent(checkpoint);
  return workspace.diff({ from: parent, to: checkpoint.id, detail: "text" });
}

function noParent(checkpoint: Checkpoint): ContractError {
  return new ContractError(
    "NO_PARENT",
    `Checkpoint ${checkpoint.seq} is the first: there is nothing to compare it with.`,
    {
      hint: `\`belay export ${checkpoint.seq} --tar <file>\` has all its files.`,
      facts: { checkpoint: checkpoint.id },
    },
  );
}
