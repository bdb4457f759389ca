/**
 * Approving a thread of another line: a review, which its owner sees and may follow where the files are. It waits and
 * travels like a name or a tag [T11].
 */
import type { Workspace } from "@belay/engine";
import { ContractError } from "@belay/protocol/errors";
import { keysOf } from "../space/own-keys.ts";
import { keptSpace } from "../space/space.ts";
import type { LineThread } from "../sync/line-threads.ts";
import { findRemote } from "../sync/find-remote.ts";
import { openExchange } from "../sync/remote.ts";
import type { RemoteHost } from "../sync/remote-host.ts";

/** What to approve of. */
export interface ReviewRequest {
  readonly remote: string;
  /** `<line>/<thread>`, or the thread alone. */
  readonly reference: string;
  readonly message: string | null;
}

/** Approves of a thread of another line as it is now, and sends that. */
export async function reviewThread(
  workspace: Workspace,
  { remote: name, reference, message }: ReviewRequest,
  host: RemoteHost,
): Promise<LineThread> {
  const entry = findRemote(workspace, name);
  if (entry.segment === 0)
    throw new ContractError("USAGE", `Nothing has been pushed to ${name} yet. Nothing was reviewed.`, {
      hint: "`belay push` sends the history of this directory; then review again.",
    });
  using remote = openExchange(workspace, name, host);
  const found = await remote.thread(reference);
  // [R1504] every reader would leave out what an agent says of the work of others
  const { id, certificate } = keysOf(host, entry);
  const role = keptSpace(host.home, entry.space, host.connect(entry.url))?.members.get(id)?.role;
  if (certificate !== undefined || role === "agent" || role === "reader")
    throw new ContractError(
      "ROLE_REQUIRED",
      "Only members approve of the work of others. Nothing was changed.",
    );
  workspace.exchange.review({ line: found.line, checkpoint: found.checkpoint, message });
  await remote.push();
  return found;
}
