/** With `sync.transcripts` `always`, a push also renews the offers of threads, so that they can be taken over at any time. */
import type { ThreadId, Workspace } from "@belay/engine";
import type { HandedMessage, HandoffOffer } from "@belay/remote";
import type { CommandHost } from "../wiring/remote-host.ts";

const MESSAGES = 10_000;

/** Renews the offers of threads that have a transcript and went on; nothing unless the setting says so. */
export async function renewOffers(
  home: string,
  workspace: Workspace,
  { name, host }: { readonly name: string; readonly host: CommandHost },
): Promise<number> {
  const { readSettings } = await import("@belay/engine");
  if (readSettings(home)["sync.transcripts"] !== "always") return 0;
  const { renewHandoffs } = await import("@belay/remote");
  const offers = (offeredAt: (thread: string) => number | undefined) =>
    changedThreads(home, workspace, offeredAt);
  return renewHandoffs(workspace, { name, offers }, host);
}

async function* changedThreads(
  home: string,
  workspace: Workspace,
  offeredAt: (thread: string) => number | undefined,
): AsyncGenerator<HandoffOffer> {
  const { readTranscriptOf } = await import("../agents/handed-conversation.ts");
  for (const thread of await workspace.threads.list()) {
    if ((offeredAt(thread.id) ?? 0) >= thread.updatedAt) continue;
    const [newest] = await workspace.list({ thread: thread.id, limit: 1 });
    const found = readTranscriptOf(home, thread, workspace.root);
    // what the line does not have yet cannot be taken over
    if (found === null || newest?.synced !== true) continue;
    const messages = await messagesOf(workspace, thread.id);
    yield { thread, checkpoint: newest.id, cwd: found.cwd, messages, transcript: found.text };
  }
}

/** The messages of a thread that count, as another machine takes them over. */
export async function messagesOf(workspace: Workspace, thread: ThreadId): Promise<HandedMessage[]> {
  const { messages } = await workspace.threads.history(thread, { limit: MESSAGES });
  return messages
    .filter(({ rolledBack }) => !rolledBack)
    .map(({ role, content, externalId, createdAt }) => ({ role, content, externalId, createdAt }));
}
