/**
 * `belay clone --into` and `--shallow`: one checkpoint of another line, restored into a directory. What the directory holds
 * is captured first, so that the restore can be undone.
 */
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { resolve } from "node:path";
import type { Checkpoint, Outcome, Plan, Workspace } from "@belay/engine";
import { ContractError, EXIT, usageError } from "@belay/protocol/errors";
import { count } from "@belay/tui/text";
import type { Call } from "../call/command.ts";
import { confirm, declined } from "../call/confirmation.ts";
import { visible } from "../output/visible.ts";
import { warnAll } from "../wiring/open-workspace.ts";
import { createRemoteHost, type CommandHost } from "../wiring/remote-host.ts";
import type { CloneSource } from "./clone-source.ts";
import { linksLeadingOutside } from "./foreign-content.ts";
import { requireRecoveryFile } from "./recovery-file.ts";
import { withheldPaths, withheldText } from "./withheld-paths.ts";

type CheckpointCall = Pick<Call, "directory" | "environment" | "home" | "json" | "operands" | "output"> & {
  readonly options: {
    readonly into?: string;
    readonly line?: string;
    readonly at?: string;
    readonly yes?: boolean;
    readonly "recovery-file"?: string;
  };
};

/** What is known of the checkpoint before its files are restored. */
interface Arrived {
  readonly workspace: Workspace;
  readonly checkpoint: Checkpoint;
  readonly plan: Plan;
  readonly excluded: readonly string[];
  readonly withheld: readonly string[];
  /** Links that lead outside the directory. */
  readonly outside: readonly string[];
  readonly bytes: number;
  readonly line: string;
}

/** Brings one checkpoint into a directory. */
export async function cloneCheckpoint(call: CheckpointCall, source: CloneSource): Promise<number> {
  const started = performance.now();
  const reference = referenceIn(call, source);
  const directory = directoryOf(call, source);
  const host = await createRemoteHost(call);
  const { initWorkspace } = await import("@belay/engine");
  const isEmpty = !existsSync(directory) || readdirSync(directory).length === 0;
  mkdirSync(directory, { recursive: true });
  await using workspace = (await initWorkspace(directory, { home: call.home })).workspace;
  await ensureRemote(call, workspace, { source, host });
  const arrived = await fetch(workspace, reference, { source, host });
  const { plan } = arrived;
  warnAll(call, [
    ...arrived.outside.map((path) => `${visible(path)} is a link that leads outside the directory.`),
    ...plan.warnings.map(visible),
  ]);
  const isTrusted = call.options.yes === true || (isEmpty && host.token !== undefined);
  const question = `Restore ${visible(`${source.name}/${reference}`)} into ${visible(workspace.root)}, ${count(plan.edits.length, "change")}? What is there now is captured first.`;
  if (!isTrusted && !(await confirm(call, question))) return declined(call);
  const outcome = await workspace.restore(plan);
  warnAll(call, outcome.notices ?? []);
  report(call, {
    ...arrived,
    outcome,
    name: source.name,
    durationMs: Math.round(performance.now() - started),
  });
  return outcome.outcome === "applied" || outcome.outcome === "unchanged" ? EXIT.done : EXIT.refused;
}

function referenceIn({ options }: CheckpointCall, source: CloneSource): string {
  const line = options.line ?? source.line;
  const checkpoint = options.at ?? source.checkpoint;
  if (line === undefined && checkpoint === undefined)
    throw usageError("Name the line or the checkpoint.", "belay clone <remote>/<line>/<checkpoint> --into .");
  return [line, checkpoint ?? "@"].filter((part) => part !== undefined).join("/");
}

function directoryOf(call: CheckpointCall, { name }: CloneSource): string {
  const { into } = call.options;
  if (into !== undefined) return resolve(call.directory, into);
  const directory = resolve(call.directory, call.operands[1] ?? name);
  if (!existsSync(directory) || readdirSync(directory).length === 0) return directory;
  throw new ContractError("OUTPUT_EXISTS", `There are files in ${visible(directory)}. Nothing was changed.`, {
    hint: "Restore over them with --into, or name another directory.",
    facts: { file: directory },
  });
}

/** The directory has the remote too, and writes a line of its own. */
async function ensureRemote(
  call: CheckpointCall,
  workspace: Workspace,
  { source, host }: { readonly source: CloneSource; readonly host: CommandHost },
): Promise<void> {
  const known = workspace.exchange.remotes().find(({ name }) => name === source.name);
  if (known?.url === source.url) return;
  const { addRemote } = await import("@belay/remote");
  const file = call.options["recovery-file"];
  const recoveryKey = file === undefined ? undefined : requireRecoveryFile(call, file);
  const { name, url } = source;
  // false: a clone makes no space
  const request = { name, url, recoveryKey, keepRecoveryKey: async () => false };
  if ((await addRemote(workspace, request, host)) === undefined)
    throw new ContractError("REMOTE_NOT_FOUND", "There is no space at that address. No file was changed.");
}

async function fetch(
  workspace: Workspace,
  reference: string,
  { source, host }: { readonly source: CloneSource; readonly host: CommandHost },
): Promise<Arrived> {
  const { openRemote } = await import("@belay/remote");
  using remote = openRemote(workspace, source.name, host);
  const { checkpoint, bytes } = await remote.fetch(reference);
  const { excluded } = await workspace.show(checkpoint.id);
  return {
    workspace,
    checkpoint,
    plan: await workspace.planRestore(checkpoint.id),
    excluded: excluded.map(({ path }) => String(path)),
    withheld: await withheldPaths(workspace, checkpoint.id),
    outside: await linksLeadingOutside(workspace, checkpoint.id),
    bytes,
    line: remote.entry.line,
  };
}

function report(
  call: CheckpointCall,
  arrived: Arrived & { readonly outcome: Outcome; readonly name: string; readonly durationMs: number },
): void {
  const { workspace, checkpoint, plan, excluded, outside, outcome } = arrived;
  const { target, now } = plan.git;
  if (call.json)
    return call.output.json({
      workspace: workspace.id,
      path: workspace.root,
      line: arrived.line,
      from: { remote: arrived.name, line: null, checkpoint: checkpoint.id },
      checkpoints: 1,
      files: checkpoint.files - arrived.withheld.length,
      bytes: arrived.bytes,
      withheld: arrived.withheld,
      excluded,
      outside,
      git: target === null ? null : { ...target, here: now },
      safetyCheckpoint: outcome.safetyCheckpoint,
      outcome: outcome.outcome,
      durationMs: arrived.durationMs,
    });
  const at = (git: typeof target) =>
    git === null
      ? "no git repository"
      : `${visible(git.branch ?? "no branch")} at ${git.commit?.slice(0, 12) ?? "no commit"}`;
  const { created, modified, deleted } = outcome;
  call.output.print(
    [
      `${visible(workspace.root)}: ${created} created, ${modified} modified, ${deleted} deleted.`,
      ...(target === null ? [] : [`Taken on ${at(target)}; here: ${at(now)}.`]),
      ...(excluded.length === 0 ? [] : [`Not in this checkpoint: ${excluded.map(visible).join(", ")}.`]),
      ...withheldText(arrived.withheld),
      "→ `belay undo` takes it back.",
    ].join("\n"),
  );
}
