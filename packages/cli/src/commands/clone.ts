import { existsSync, mkdirSync, readFileSync, rmdirSync } from "node:fs";
import { basename, resolve } from "node:path";
import type { Checkpoint, Workspace } from "@belay/engine";
import type { ClonedWorkspace, RemoteHost } from "@belay/remote";
import { EXIT } from "@belay/protocol/errors";
import { count, size } from "@belay/tui/text";
import { confirm } from "../call/confirmation.ts";
import { defineCommand, YES, type Call } from "../call/command.ts";
import type { CloneSource } from "../command-parts/clone-source.ts";
import { createProgressBar } from "../output/progress-bar.ts";
import { visible } from "../output/visible.ts";
import { warnAll } from "../wiring/open-workspace.ts";

const OPTIONS = {
  line: { type: "string", value: "id", about: "which line of the space, where there are several" },
  at: {
    type: "string",
    value: "checkpoint",
    about: "the checkpoint whose files to restore; defaults to the newest",
  },
  "recovery-file": {
    type: "string",
    value: "file",
    about: "the recovery key, where this machine has no key of the space",
  },
  into: {
    type: "string",
    value: "directory",
    about: "one checkpoint, restored over what is there; that is captured first",
  },
  shallow: { type: "boolean", about: "one checkpoint, without the history before it" },
  cache: {
    type: "string",
    value: "directory",
    about: "keep what is downloaded there, encrypted, for the next clone",
  },
  yes: { ...YES, about: "do not ask before the files of another person are restored" },
  "no-restore": { type: "boolean", about: "bring the history only; the directory stays empty" },
} as const;

type CloneCall = Call<typeof OPTIONS>;

export default defineCommand({
  usage:
    "clone <remote[/line][/checkpoint] | url | invitation | link> [directory] [--line id] [--at checkpoint] [--recovery-file file] [--into directory | --shallow] [--cache directory] [--no-restore] [--yes]",
  about: [
    "Makes a protected directory of what a remote has: the whole history, with its threads, and the files of its newest",
    "checkpoint. The directory must be empty, or not exist yet. The clone has the remote too, and writes a line of its own.",
    "Everything is proved before it is used; what is not whole leaves nothing behind. With BELAY_TOKEN a job clones what",
    "the token is for. A link to a share needs nothing else; `-` reads it, or an invitation, from stdin.",
  ].join("\n"),
  options: OPTIONS,
  operands: { min: 1, max: 2 },
  exits: {
    3: "this machine has no key of the space, the directory is not empty, or not all files could be restored",
    5: "the remote is damaged or incomplete",
    8: "the remote cannot be used now",
  },
  examples: ["belay clone team ../elsewhere"],
  run: async (call) => {
    const started = performance.now();
    const [word = ""] = call.operands;
    const from = word === "-" ? readFileSync(0, "utf8").trim() : word;
    if (from.includes("#belay-link-"))
      return (await import("../command-parts/clone-shared.ts")).cloneShared(call, from);
    const { cloneSource } = await import("../command-parts/clone-source.ts");
    const source = await cloneSource(call, from);
    if (call.options.into !== undefined || call.options.shallow === true)
      return (await import("../command-parts/clone-checkpoint.ts")).cloneCheckpoint(call, source);
    const { url, name } = source;
    const directory = resolve(
      call.directory,
      call.operands[1] ?? (url.includes("://") ? basename(url.replace(/\?.*$/, "")) || name : name),
    );
    const isNew = !existsSync(directory);
    if (isNew) mkdirSync(directory, { recursive: true });
    let cloned: ClonedWorkspace;
    try {
      cloned = await receive(call, { ...source, directory });
    } catch (error) {
      if (isNew) rmdirSync(directory);
      throw error;
    }
    await using workspace = cloned.workspace;
    const checkpoint = await workspace.resolve(call.options.at ?? source.checkpoint ?? "@");
    const isWanted = call.options["no-restore"] !== true;
    const isRestored = isWanted && (cloned.hasFiles || (await restore(call, workspace, checkpoint)));
    await report(call, {
      cloned,
      workspace,
      checkpoint,
      isRestored,
      durationMs: Math.round(performance.now() - started),
    });
    return isWanted && !isRestored ? EXIT.refused : EXIT.done;
  },
});

async function receive(
  call: CloneCall,
  { url, name, line, checkpoint, directory }: CloneSource & { readonly directory: string },
): Promise<ClonedWorkspace> {
  const { cloneLine } = await import("@belay/remote");
  const { receiveWorkspace } = await import("@belay/engine");
  const { requireRecoveryFile } = await import("../command-parts/recovery-file.ts");
  const file = call.options["recovery-file"];
  const recoveryKey = file === undefined ? undefined : requireRecoveryFile(call, file);
  using bar = createProgressBar("Cloning", "parcel", !call.json && !call.output.quiet);
  const progress = (done: number, total: number) => bar.update({ done, total });
  const wanted = { line: call.options.line ?? line, checkpoint };
  const request = { url, name, directory, ...wanted, recoveryKey, progress };
  const mayReceive = async (writer: string) => {
    bar[Symbol.dispose]();
    return call.options.yes === true || confirm(call, foreignQuestion(writer));
  };
  const withFiles =
    call.options["no-restore"] !== true && call.options.at === undefined && checkpoint === undefined;
  return await cloneLine({ ...request, mayReceive }, await hostOf(call), (fill) =>
    receiveWorkspace(directory, fill, { home: call.home, withFiles }),
  );
}

function foreignQuestion(writer: string): string {
  return `This is the first time that what ${visible(writer)} wrote is restored here. Restored code can run. Go on?`;
}

async function hostOf(call: CloneCall): Promise<RemoteHost> {
  const { createRemoteHost } = await import("../wiring/remote-host.ts");
  const host = await createRemoteHost(call);
  const { cache } = call.options;
  if (cache === undefined) return host;
  const { CachingRemoteStore } = await import("@belay/remote");
  const directory = resolve(call.directory, cache);
  return { ...host, connect: (url) => new CachingRemoteStore(host.connect(url), directory) };
}

/** Restores the files; false when not all of them could be. */
async function restore(call: CloneCall, workspace: Workspace, checkpoint: Checkpoint): Promise<boolean> {
  const outcome = await workspace.restoreTo(checkpoint.id);
  warnAll(call, outcome.notices ?? []);
  if (outcome.outcome === "applied" || outcome.outcome === "unchanged") return true;
  warnAll(call, [`Not all files could be restored; \`belay restore ${checkpoint.seq}\` shows which.`]);
  return false;
}

interface Cloned {
  readonly cloned: ClonedWorkspace;
  readonly workspace: Workspace;
  readonly checkpoint: Checkpoint;
  readonly isRestored: boolean;
  readonly durationMs: number;
}

async function report(
  call: CloneCall,
  { cloned, workspace, checkpoint, isRestored, durationMs }: Cloned,
): Promise<void> {
  const { entry, from, checkpoints, bytes } = cloned;
  const { excluded } = await workspace.show(checkpoint.id);
  const { withheldPaths, withheldText } = await import("../command-parts/withheld-paths.ts");
  const withheld = await withheldPaths(workspace, checkpoint.id);
  const { linksLeadingOutside } = await import("../command-parts/foreign-content.ts");
  const outside = await linksLeadingOutside(workspace, checkpoint.id);
  warnAll(
    call,
    outside.map((path) => `${visible(path)} is a link that leads outside the directory.`),
  );
  if (call.json)
    call.output.json({
      workspace: workspace.id,
      path: workspace.root,
      line: entry.line,
      from: { remote: entry.name, line: from.line, checkpoint: checkpoint.id },
      checkpoints,
      files: isRestored ? checkpoint.files - withheld.length : 0,
      bytes,
      withheld,
      excluded: excluded.map(({ path }) => path),
      outside,
      git: checkpoint.git,
      durationMs,
    });
  else {
    const files = `, and the ${count(checkpoint.files - withheld.length, "file")} of checkpoint ${checkpoint.seq}`;
    const { git } = checkpoint;
    const taken =
      git === null
        ? ""
        : `\nIt was taken on ${visible(git.branch ?? "no branch")} at ${git.commit?.slice(0, 12) ?? "no commit"}.`;
    const without =
      excluded.length === 0
        ? ""
        : `\nNot in it: ${excluded.map(({ path }) => visible(String(path))).join(", ")}.`;
    call.output.print(
      [
        `${visible(workspace.root)} has ${count(checkpoints, "checkpoint")} (${size(bytes)})${isRestored ? files : ""}.${taken}${without}`,
        ...withheldText(withheld),
      ].join("\n"),
    );
  }
}
