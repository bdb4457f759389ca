import type { Workspace } from "@belay/engine";
import { ContractError, EXIT, usageError } from "@belay/protocol/errors";
import { mergeConflictDetailsJson, mergeConflictJson } from "@belay/server/json";
import { ALL_ENTRIES, defineCommand, type Call } from "../call/command.ts";
import { conflictRef } from "../command-parts/conflict-ref.ts";
import type { ConflictsByBranch } from "../merging/bring-in.ts";
import { visible } from "../output/visible.ts";
import { withWorkspace } from "../wiring/open-workspace.ts";

export default defineCommand({
  usage: "conflicts [merge|conflict|path] | conflicts --markers <path>",
  about: `What open merges wait for: each file with its severity, why, whose changes meet, and how it can be decided. With a
path or a conflict: its sides, region by region. Nothing is written until it is decided. With --markers the file gets
conflict marks, as one step that can be undone; \`belay resolve <path> --file <path>\` takes it when they are gone.
Conflicts of merges into other branches stand apart, each with the place where it is decided.`,
  options: {
    markers: { type: "string", value: "path", about: "write conflict marks into this file" },
    all: ALL_ENTRIES,
  },
  operands: { min: 0, max: 1 },
  examples: ["belay conflicts"],
  run: (call) =>
    withWorkspace(call, async (workspace) => {
      const { markers } = call.options;
      if (markers === undefined) return show(call, workspace);
      if (call.operands.length > 0)
        throw usageError("--markers takes the path itself.", "`belay conflicts --markers src/a.ts`");
      return writeMarks(call, workspace, markers);
    }),
});

type ConflictsCall = Pick<Call, "json" | "output" | "operands" | "directory"> & {
  readonly options: { all?: boolean };
};

async function show(call: ConflictsCall, workspace: Workspace): Promise<number> {
  const [named] = call.operands;
  const merges = await workspace.merges.list();
  const merge = named === undefined ? undefined : merges.find(({ id }) => id === named);
  if (named !== undefined && merge === undefined) return showOne(call, workspace, named);
  const { conflictsByBranch } = await import("../merging/bring-in.ts");
  const found: ConflictsByBranch =
    merge === undefined
      ? await conflictsByBranch(workspace)
      : {
          branch: merge.into,
          isOpen: merge.state === "open",
          here: await workspace.conflicts(merge.id),
          elsewhere: [],
        };
  if (call.json)
    call.output.json({
      conflicts: found.here.map(mergeConflictJson),
      elsewhere: found.elsewhere.map((group) => ({
        ...group,
        conflicts: group.conflicts.map(mergeConflictJson),
      })),
    });
  else await printAll(call, found);
  return EXIT.done;
}

async function printAll(
  { output, options }: ConflictsCall,
  { branch, isOpen, here, elsewhere }: ConflictsByBranch,
): Promise<void> {
  const { conflictTable } = await import("../merging/merge-text.ts");
  if (here.length > 0) output.print(conflictTable(here, output, options.all));
  const open = here.filter(({ state }) => state === "open");
  if (here.length === 0 && !isOpen)
    output.print(
      `Nothing waits to be decided${elsewhere.length === 0 ? "" : ` on ${visible(branch ?? "")}`}.`,
    );
  else if (open.length === 0) output.print("All is decided: `belay merge --continue` brings it in.");
  else if (!output.quiet)
    output.print(
      `${output.style.dim("→")} \`belay conflicts <path>\` shows one; \`belay resolve <path> --take <option>\` decides it.`,
    );
  for (const { into, workingCopy, conflicts } of elsewhere) {
    output.print(
      `\n${output.style.bold(`Of a merge into ${visible(into)}, decided ${placeOf(into, workingCopy)}:`)}`,
    );
    output.print(conflictTable(conflicts, output, options.all));
  }
}

/** Where the files of another branch are, or how to get them here. */
function placeOf(branch: string, workingCopy: string | null): string {
  return workingCopy === null ? `after \`belay switch ${visible(branch)}\`` : `in ${visible(workingCopy)}`;
}

async function showOne(call: ConflictsCall, workspace: Workspace, ref: string): Promise<number> {
  const conflict = await workspace.merges.conflict(await conflictRef(call, workspace, ref));
  if (call.json) call.output.json(mergeConflictDetailsJson(conflict, null));
  else {
    const { conflictText } = await import("../merging/merge-text.ts");
    call.output.print(conflictText(conflict, call.output));
  }
  return EXIT.done;
}

async function writeMarks(call: ConflictsCall, workspace: Workspace, path: string): Promise<number> {
  const ref = await conflictRef(call, workspace, path);
  const conflict = await workspace.merges.conflict(ref);
  if (conflict.kind !== "content" && conflict.kind !== "lock" && conflict.kind !== "generated")
    throw usageError(
      "Only a conflict of text has lines to mark.",
      `Its options are ${conflict.options.join(", ")}.`,
    );
  const text = await workspace.merges.marked(ref);
  const { join } = await import("node:path");
  const { closeSync, constants, openSync, realpathSync, writeFileSync } = await import("node:fs");
  const { displayPath } = await import("@belay/engine");
  const name = displayPath(conflict.path);
  const file = join(realpathSync(workspace.root), name);
  // what a link leads to is no checkpoint's, so that no undo could take the marks out of it
  if (realpathSync(file) !== file)
    throw new ContractError("PATH_OUTSIDE", `A link is on the way to ${name}. Nothing was changed.`);
  await workspace.turns.run({ prompt: `Conflict marks in ${name}` }, async () => {
    const descriptor = openSync(file, constants.O_WRONLY | constants.O_TRUNC | constants.O_NOFOLLOW);
    writeFileSync(descriptor, text);
    closeSync(descriptor);
  });
  if (call.json) call.output.json({ conflict: mergeConflictJson(conflict) });
  else if (!call.output.quiet) {
    call.output.print(
      `${call.output.style.green("✓")} ${name} has marks now; \`belay undo\` takes them out.`,
    );
    call.output.print(
      `${call.output.style.dim("→")} \`belay resolve ${name} --file ${name}\` takes what you make of it.`,
    );
  }
  return EXIT.done;
}
