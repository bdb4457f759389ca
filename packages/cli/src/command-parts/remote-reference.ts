/** Checkpoints of other lines as commands take them: `team/ana@mac/@`, `team/<tag>`, `team/<id>`. */
import { lstatSync } from "node:fs";
import { resolve } from "node:path";
import type { Workspace } from "@belay/engine";
import { count, size } from "@belay/tui/text";
import type { Call } from "../call/command.ts";
import { createProgressBar } from "../output/progress-bar.ts";
import { visible } from "../output/visible.ts";

type ReferenceCall = Pick<Call, "directory" | "environment" | "home" | "hosted" | "json" | "output">;

/** What this store calls the checkpoint that a reference means: one of another line is fetched first. */
export async function localReference(
  call: ReferenceCall,
  workspace: Workspace,
  reference: string,
): Promise<string> {
  const found = remoteReference(workspace, reference);
  if (found === undefined) return reference;
  // [T13] the resident process waits for no network: the command does it itself
  if (call.hosted !== undefined) throw new Error("a fetch is done by the command itself");
  const { openRemote } = await import("@belay/remote");
  const { createRemoteHost } = await import("../wiring/remote-host.ts");
  using remote = openRemote(workspace, found.remote, await createRemoteHost(call));
  using bar = createProgressBar("Fetching", "object", !call.json && !call.output.quiet);
  const { checkpoint, isNew, objects, bytes } = await remote.fetch(found.inner, (done, total) =>
    bar.update({ done, total }),
  );
  bar[Symbol.dispose]();
  if (isNew && !call.json)
    call.output.note(
      `Fetched ${visible(reference)}: ${count(objects, "object")}, ${size(bytes)}. It is kept for 30 days after its last use.`,
    );
  return checkpoint.id;
}

/** The remote and the reference there; undefined for a reference of this store. */
function remoteReference(
  { exchange }: Workspace,
  reference: string,
): { readonly remote: string; readonly inner: string } | undefined {
  const slash = reference.indexOf("/");
  if (slash < 1 || slash === reference.length - 1) return undefined;
  const remote = reference.slice(0, slash);
  if (!exchange.remotes().some(({ name }) => name === remote)) return undefined;
  return { remote, inner: reference.slice(slash + 1) };
}

/** Words that may be references or paths: what is on disk is a path. */
export async function localReferences(
  call: ReferenceCall,
  workspace: Workspace,
  words: readonly string[],
): Promise<string[]> {
  const local: string[] = [];
  for (const word of words) {
    const isPath = lstatSync(resolve(call.directory, word), { throwIfNoEntry: false }) !== undefined;
    local.push(isPath ? word : await localReference(call, workspace, word));
  }
  return local;
}
