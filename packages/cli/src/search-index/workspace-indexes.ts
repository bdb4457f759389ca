/**
 * The search indexes of the workspaces that this process has open. `@belay/retrieval` is loaded when an index is first
 * used: nothing of it is on the way of a hook or a short command.
 */
import { existsSync } from "node:fs";
import { isAbsolute, join, relative } from "node:path";
import type { Workspace } from "@belay/engine";
import { ContractError } from "@belay/protocol/errors";
import type { IndexScope, RetrievalIndex, SearchOptions, SearchResult, Synced } from "@belay/retrieval";

/** How long an answer waits for an endpoint; without it, words alone decide. */
const VECTORS_WITHIN_MS = 5000;

const opened = new WeakMap<Workspace, Promise<RetrievalIndex>>();

/** Whether the workspace has an index, or the settings want one. */
export async function isIndexed(home: string, workspace: Pick<Workspace, "store">): Promise<boolean> {
  if (existsSync(join(workspace.store, "index.db"))) return true;
  const { readSettings } = await import("@belay/engine");
  return readSettings(home)["retrieval.scope"] !== "off";
}

/** The index of a workspace, made on the first use; it is closed with the workspace by `closeIndex`. */
export async function indexOf(
  home: string,
  workspace: Workspace,
  scopeOfNew?: IndexScope,
): Promise<RetrievalIndex> {
  let index = opened.get(workspace);
  if (index === undefined) {
    index = openWithSettings(home, workspace, scopeOfNew);
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

async function openWithSettings(
  home: string,
  workspace: Workspace,
  scopeOfNew?: IndexScope,
): Promise<RetrievalIndex> {
  const { readSettings } = await import("@belay/engine");
  const { endpointEmbedder, hasIndex, keepInStep, openIndex } = await import("@belay/retrieval");
  const settings = readSettings(home);
  const wanted = settings["retrieval.scope"];
  const scope = wanted === "off" && !hasIndex(workspace) ? (scopeOfNew ?? wanted) : wanted;
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
  for await (const _ of workspace.events.read({ types: ["user"] })) {
    if (!(await isIndexed(home, workspace))) continue;
    const index = await indexOf(home, workspace);
    // an endpoint that does not answer holds nothing up
    index.later(async () => tell(workspace, await index.sync({ captured: true, vectorsWithinMs: 0 })));
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
  await index.sync({ vectorsWithinMs: VECTORS_WITHIN_MS });
  return index.search(query, options);
}

/** The state of a workspace's search index. */
export async function indexState(home: string, workspace: Workspace) {
  if (!(await isIndexed(home, workspace)))
    return { exists: false, scope: "off" as const, files: 0, bytes: 0, embedder: null };
  const { scope, bytes, embedder, ...index } = await indexFacts(home, workspace);
  return { exists: true, scope, files: index.files, bytes, embedder };
}

/** The files of the index; none where there is none. */
export async function indexedFiles(home: string, workspace: Workspace) {
  if (!(await isIndexed(home, workspace))) return { files: [] };
  const files = (await indexOf(home, workspace)).files();
  return { files: files.map(({ path, hash }) => ({ path, hash })) };
}

/** Indexes files that a program names; an index that is made for it covers what is named alone. */
export async function indexFiles(
  home: string,
  workspace: Workspace,
  { paths, content, known = false }: { paths: readonly string[]; content?: string; known?: boolean },
) {
  assertInside(paths);
  const index = await indexOf(home, workspace, "touched");
  const there = new Set(index.files().map(({ path }) => path));
  const indexed = [];
  for (const path of paths.filter((one) => !known || there.has(one)))
    indexed.push({ path, ...(await index.indexFile(path, content)) });
  return { indexed };
}

/** Paths come from programs: one that leads out of the workspace is refused before anything is indexed. */
function assertInside(paths: readonly string[]): void {
  const outside = paths.find((path) => isAbsolute(path) || path.split("/").includes(".."));
  if (outside === undefined) return;
  throw new ContractError(
    "BAD_REQUEST",
    `${JSON.stringify(outside)} is not a path inside the workspace. Nothing was indexed.`,
  );
}

/** Takes files out of the index; returns how many were in it. */
export async function removeFiles(
  home: string,
  workspace: Workspace,
  paths: readonly string[],
): Promise<number> {
  if (!(await isIndexed(home, workspace))) return 0;
  const index = await indexOf(home, workspace);
  let removed = 0;
  for (const path of paths) removed += (await index.removeFile(path)) ? 1 : 0;
  return removed;
}

async function indexFacts(home: string, workspace: Workspace) {
  const index = await indexOf(home, workspace);
  return { scope: index.scope, bytes: index.bytes, embedder: index.embedder, files: index.files().length };
}
