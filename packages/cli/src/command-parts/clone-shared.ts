/** `belay clone <link>`: a protected directory with the files of a share. It needs neither membership nor access. */
import { existsSync, mkdirSync, readdirSync, rmdirSync } from "node:fs";
import { resolve } from "node:path";
import type { BytePath, ImportedFile, Workspace } from "@belay/engine";
import type { OpenShare } from "@belay/remote";
import { ContractError, EXIT } from "@belay/protocol/errors";
import { count, size } from "@belay/tui/text";
import type { Call } from "../call/command.ts";
import { confirm, declined } from "../call/confirmation.ts";
import { visible } from "../output/visible.ts";
import { warnAll } from "../wiring/open-workspace.ts";
import { leadingOutside } from "./foreign-content.ts";

type SharedCall = Pick<Call, "directory" | "home" | "json" | "operands" | "output"> & {
  readonly options: { readonly yes?: boolean };
};

/** `belay clone` with a link: downloads what was shared. */
export async function cloneShared(call: SharedCall, link: string): Promise<number> {
  const started = performance.now();
  const { downloadShared, openShare } = await import("@belay/remote");
  const directory = resolve(call.directory, call.operands[1] ?? "shared");
  if (existsSync(directory) && readdirSync(directory).length > 0)
    throw new ContractError(
      "OUTPUT_EXISTS",
      `There are files in ${visible(directory)}. Nothing was changed.`,
      {
        hint: "Name a directory that is empty, or does not exist.",
        facts: { file: directory },
      },
    );
  using share = await openShare(link, downloadShared);
  // [R1507] everything is proved before the first file is written, one file in memory at a time
  const paths: BytePath[] = [];
  const outside = leadingOutside(noting(share.files(), paths));
  const { member, missing } = share.checkpoint;
  warnAll(
    call,
    outside.map((path) => `${visible(path)} is a link that leads outside the directory.`),
  );
  const question = `${count(paths.length, "file")} (${size(share.bytes)}), shared by ${visible(member)}. Restored code can run. Restore them into ${visible(directory)}?`;
  if (call.options.yes !== true && !(await confirm(call, question))) return declined(call);
  const isNew = !existsSync(directory);
  mkdirSync(directory, { recursive: true });
  await using workspace = await receive(share, paths, { directory, home: call.home }).catch(
    (error: unknown) => {
      if (isNew && readdirSync(directory).length === 0) rmdirSync(directory);
      throw error;
    },
  );
  const { git, id } = share.checkpoint;
  const durationMs = Math.round(performance.now() - started);
  if (call.json)
    call.output.json({
      workspace: workspace.id,
      path: workspace.root,
      line: null,
      from: { remote: null, line: null, checkpoint: id },
      checkpoints: 1,
      files: paths.length,
      bytes: share.bytes,
      withheld: [],
      excluded: missing,
      outside,
      git,
      durationMs,
    });
  else {
    const taken =
      git === null
        ? ""
        : ` It was taken on ${visible(git.branch ?? "no branch")} at ${git.commit?.slice(0, 12) ?? "no commit"}.`;
    const without = missing.length === 0 ? "" : `\nNot in it: ${missing.map(visible).join(", ")}.`;
    call.output.print(
      `${visible(workspace.root)} has the ${count(paths.length, "file")} that ${visible(member)} shared.${taken}${without}`,
    );
  }
  return EXIT.done;
}

function* noting(files: Iterable<ImportedFile>, paths: BytePath[]): Generator<ImportedFile> {
  for (const file of files) {
    paths.push(file.path);
    yield file;
  }
}

async function receive(
  share: OpenShare,
  covers: readonly BytePath[],
  { directory, home }: { readonly directory: string; readonly home: string },
): Promise<Workspace> {
  const { initWorkspace } = await import("@belay/engine");
  const { workspace } = await initWorkspace(directory, { home });
  try {
    const { id, name, note, description, createdAt, member } = share.checkpoint;
    const imported = await workspace.importCheckpoint({
      origin: "share",
      alias: id,
      kind: "manual",
      description: description === "" ? `Shared by ${member}` : description,
      ...(name !== null && { name }),
      ...(note !== null && { note }),
      createdAt,
      files: share.files(),
      covers,
    });
    await workspace.restoreTo(imported.id);
    return workspace;
  } catch (error) {
    await workspace.close();
    throw error;
  }
}
