import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { resolve } from "node:path";
import { isatty } from "node:tty";
import type { Checkpoint, Workspace } from "@belay/engine";
import { writeToFile, writeToStdout } from "../archive/archive-file.ts";
import { tarArchive } from "../archive/tar.ts";
import { defineCommand, THREAD, YES, type Call } from "../call/command.ts";
import { ContractError, EXIT, usageError } from "@belay/protocol/errors";
import { confirm, declined } from "../call/confirmation.ts";
import { withWorkspace } from "../wiring/open-workspace.ts";
import { patchText, printDiff } from "../output/diff-text.ts";
import { count, size } from "@belay/tui/text";
import { visible } from "../output/visible.ts";

const OPTIONS = {
  tar: { type: "string", value: "file", about: "all files as a tar archive; - is stdout (the default)" },
  yes: { ...YES, about: "overwrite a file that exists" },
  patch: { type: "boolean", about: "what changed since the checkpoint before, as a patch on stdout" },
  thread: { ...THREAD, about: "a whole thread instead of a checkpoint" },
  git: { type: "string", value: "directory", about: "as a git repository in a new directory" },
} as const;

type ExportCall = Call<typeof OPTIONS>;

export default defineCommand({
  usage: "export <checkpoint> [--tar file | --patch], or export --thread t --git directory",
  about: [
    "A checkpoint for use elsewhere: all its files as a tar archive, or its changes as a unified diff.",
    "A thread as a git repository: main is what was approved, each session a branch.",
  ].join("\n"),
  options: OPTIONS,
  operands: { min: 0, max: 1 },
  examples: [
    "belay export @ --tar project.tar",
    "belay export 12 | tar -x -C elsewhere",
    "belay export 12 --patch > 12.patch",
    "belay export --thread kqzv --git ../thread",
  ],
  run: (call) => {
    checkOptions(call);
    return withWorkspace(call, async (workspace) => {
      if (call.options.git !== undefined) return exportGit(call, workspace, call.options.git);
      const checkpoint = await workspace.resolve(call.operands[0] ?? "");
      if (call.options.patch === true) return exportPatch(call, workspace, checkpoint);
      return exportTar(call, workspace, checkpoint);
    });
  },
});

function checkOptions(call: ExportCall): void {
  const { tar, patch, thread, git } = call.options;
  if (git !== undefined || thread !== undefined) {
    if (git === undefined || thread === undefined || call.operands.length > 0)
      throw usageError(
        "A thread is exported with --thread and --git.",
        "belay export --thread <t> --git <directory>",
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
  const file = resolve(call.directory, tar);
  const question = `Overwrite ${visible(tar)}?`;
  if (existsSync(file) && call.options.yes !== true && !(await confirm(call, question)))
    return declined(call);
  const bytes = await writeToFile(archive, file);
  if (call.json)
    call.output.json({ checkpoint: checkpoint.id, format: "tar", file: tar, files: checkpoint.files, bytes });
  else call.output.note(`${visible(tar)}: checkpoint ${checkpoint.seq}, ${size(bytes)}`);
  return EXIT.done;
}

async function exportGit(call: ExportCall, workspace: Workspace, given: string): Promise<number> {
  const thread = await workspace.threads.get(call.options.thread ?? "");
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
  if (call.json) call.output.json({ thread: thread.id, format: "git", directory, branches });
  else
    call.output.print(
      [
        `${visible(given)}:`,
        ...branches.map(({ branch, commits }) => `  ${branch}  ${count(commits, "commit")}`),
      ].join("\n"),
    );
  return EXIT.done;
}

async function exportPatch(call: ExportCall, workspace: Workspace, checkpoint: Checkpoint): Promise<number> {
  const [parent] = checkpoint.parents;
  if (parent === undefined) throw noParent(checkpoint);
  const diff = await workspace.diff({ from: parent, to: checkpoint.id, detail: "text" });
  if (call.json)
    call.output.json({
      checkpoint: checkpoint.id,
      parent,
      format: "patch",
      patch: patchText(diff),
    });
  else await printDiff(diff, call.output);
  return EXIT.done;
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
