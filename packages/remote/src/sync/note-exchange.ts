/** What a workspace learns of an exchange with a remote: its start, its progress, and what went wrong. */
import type { Workspace } from "@belay/engine";
import { ContractError } from "@belay/protocol/errors";
import { tellingProgress, type SyncStep } from "./progress.ts";
import type { RemoteHost } from "./remote-host.ts";
import { translating } from "./translate-failure.ts";

/** Reports that an exchange begins; the returned function reports its progress. */
export function telling(
  { exchange }: Workspace,
  which: { readonly remote: string; readonly direction: "push" | "pull" },
  { around }: RemoteHost,
): (step: SyncStep) => void {
  exchange.tell({ type: "sync_started", ...which });
  return tellingProgress(exchange, which, around.now);
}

/** When what failed just now is tried again by itself; null when it is not. */
export function retryAt({ retryMs, around }: RemoteHost): number | null {
  return retryMs === undefined ? null : around.now() + retryMs;
}

/** What a pull found out about the server; a problem of pushing stays until a push ends well. */
export function notePull(
  { exchange }: Workspace,
  name: string,
  found: { readonly problem: string | null; readonly retryAt: number | null },
): void {
  const before = exchange.remotes().find((remote) => remote.name === name)?.problem ?? null;
  if (found.problem !== null || /^REMOTE_(?:UNREACHABLE|DENIED|ROLLED_BACK|DAMAGED)/.test(before ?? ""))
    exchange.noteProblem(name, found.problem, found.retryAt);
}

/** [T13] Why a push failed is kept with the remote, for `status`; nothing else fails for it. */
export async function noting<Result>(
  workspace: Workspace,
  { name, host }: { readonly name: string; readonly host: RemoteHost },
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await translating(work);
  } catch (error) {
    const isKnown = error instanceof ContractError;
    if (isKnown) workspace.exchange.noteProblem(name, `${error.code}: ${error.message}`, retryAt(host));
    throw error;
  }
}

/** [R2268] What a check of the remote found stays with it until a push ends well, or everything is found sound. */
export function noteVerified(
  { exchange }: Workspace,
  name: string,
  { ok, isAll }: { readonly ok: boolean; readonly isAll: boolean },
): void {
  const before = exchange.remotes().find((remote) => remote.name === name)?.problem ?? "";
  if (!ok)
    exchange.noteProblem(
      name,
      `${INCOMPLETE}: Something of what is stored is missing or damaged; \`belay remote verify --full\` names it.`,
    );
  else if (isAll && before.startsWith(INCOMPLETE)) exchange.noteProblem(name, null);
}

const INCOMPLETE = "REMOTE_INCOMPLETE";
