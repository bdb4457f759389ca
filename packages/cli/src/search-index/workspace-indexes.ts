/**
 * The search indexes of the workspaces that this process has open. `@belay/retrieval` is loaded when an index is first
 * used: nothing of it is on the way of a hook or a short command.
 */
import { existsSync } from "node:fs";
import { isAbsolute, join, relative } from "node:path";
import type { Workspace } from "@belay/engine";
import type { IndexScope, RetrievalIndex, SearchOptions, SearchResult, Synced } from "@belay/retrieval";

const opened = new WeakMap<Workspace, Promise<RetrievalIndex>>();

/** Whether the workspace has an index, or the settings want one. */
export async function isIndexed(home: string, workspace: Pick<Workspace, "store">): Promise<boolean> {
  if (existsSync(join(workspace.store, "index.db"))) return true;
  const { readSettings } = await import("@belay/engine");
  return readSettings(home)["retrieval.scope"] !== "off";
}

/** The index of a workspace, made on the first use; it is closed with the workspace by `closeIndex`. */
export async function indexOf(home: string, workspace: Workspace): Promise<RetrievalIndex> {
  let index = opened.get(workspace);
  if (index === undefined) {
    index = openWithSettings(home, workspace);
    opened.set(workspace, index);
    index.catch(() => opened.delete(workspace));
  }
  return index;
}

/** Closes the index of a workspace, if it is open. */
export async function closeIndex(workspace: Workspace): Promise<void> {
  const index = opened.get(workspace);
  opened.delete(workspace);
  await (await index)?.[Symbol.asyncDispose]();
}

/** Removes the index; it is made again on its next use. */
export async function dropIndex(workspace: Workspace): Promise<void> {
  await closeIndex(workspace);
  const { removeIndex } = await import("@belay/retrieval");
  removeIndex(workspace);
}

async function openWithSettings(home: string, workspace: Workspace): Promise<RetrievalIndex> {
  const { readSettings } = await import("@belay/engine");
  const { endpointEmbedder, keepInStep, openIndex } = await import("@belay/retrieval");
  const settings = readSettings(home);
  const scope = settings["retrieval.scope"];
  const [url, model] = [settings["retrieval.url"], settings["retrieval.model"]];
  const key = process.env["BELAY_EMBEDDINGS_KEY"];
  const isRemote = settings["retrieval.embedder"] === "endpoint" && url !== "" && model !== "";
  const index = await openIndex(workspace, {
    capBytes: settings["retrieval.capBytes"],
    ...(scope === "off" ? {} : { scope: scope satisfies IndexScope }),
    ...(isRemote
      ? { embedder: endpointEmbedder({ url, model, ...(key === undefined ? {} : { key }) }) }
      : {}),
  });
  keepInStep(workspace, index);
  return index;
}

/** Tells the index of files that a tool read, wrote, edited or deleted, if this process has it open. */
export function touchFiles(workspace: Workspace, directory: string, paths: readonly string[]): void {
  const index = opened.get(workspace);
  if (index === undefined || paths.length === 0) return;
  const inside = paths
    .map((path) => (isAbsolute(path) ? path : join(directory, path)))
    .map((path) => relative(workspace.root, path))
    .filter((path) => path !== "" && !path.startsWith("..") && !isAbsolute(path));
  index.then(
    (one) => one.later(() => Promise.all(inside.map((path) => one.indexFile(path)))),
    () => undefined,
  );
}

/** Keeps an index in step as long as the workspace is open: it is synced before each message is worked on. */
export async function followIndex(home: string, workspace: Workspace): Promise<void> {
  for await (const event of workspace.events.read()) {
    if (event.type !== "user" || !(await isIndexed(home, workspace))) continue;
    const index = await indexOf(home, workspace);
    index.later(async () => tell(workspace, await index.sync({ captured: true })));
  }
  await closeIndex(workspace);
}

function tell(workspace: Workspace, { checked, reindexed, removed }: Synced): void {
  workspace.events.indexSynced({ checked, reindexed, removed });
}

/** Syncs the index with the files, and tells readers of events. */
export async function syncIndex(home: string, workspace: Workspace): Promise<Synced> {
  const synced = await (await indexOf(home, workspace)).sync();
  tell(workspace, synced);
  return synced;
}

/** Searches in the files as they are, or in a checkpoint. */
export async function findInFiles(
  home: string,
  workspace: Workspace,
  { query, ...options }: { readonly query: string } & SearchOptions,
): Promise<SearchResult> {
  const index = await indexOf(home, workspace);
  await index.idle();
  await index.sync();
  return index.search(query, options);
}

/** What the index is. */
export async function indexState(home: string, workspace: Workspace) {
  if (!(await isIndexed(home, workspace)))
    return { exists: false, scope: "off" as const, files: 0, bytes: 0, embedder: null };
  const { scope, bytes, embedder, ...index } = await indexFacts(home, workspace);
  return { exists: true, scope, files: index.files, bytes, embedder };
}

async function indexFacts(home: string, workspace: Workspace) {
  const index = await indexOf(home, workspace);
  return { scope: index.scope, bytes: index.bytes, embedder: index.embedder, files: index.files().length };
}
