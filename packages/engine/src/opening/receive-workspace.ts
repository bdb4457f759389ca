/**
 * Makes a workspace of what a remote has: a new store is filled under a name that no command looks for, proved whole,
 * and only then belongs to the directory. Whatever goes wrong before leaves nothing behind.
 */
import { below, displayAbsolute } from "../fs/absolute-path.ts";
import { makePrivateDirectory } from "../fs/durable-file.ts";
import { listDirectory } from "../fs/list-directory.ts";
import { noteAttach } from "../history/attaches.ts";
import { createReceiver, type Receiver } from "../exchange/receiver.ts";
import { EngineError } from "../model/errors.ts";
import { newWorkspace, openRegistry } from "../store/registry.ts";
import { finishStore, noteRoot, openStore, removeStore, writeMeta } from "../store/store.ts";
import type { Workspace } from "../workspace/interface/workspace.ts";
import { beginFirstFiles, placeFirstFiles, type FirstFiles } from "./first-files.ts";
import { homePath, systemOf, type EngineOptions } from "./engine-options.ts";
import { openRegistered } from "./open-registered.ts";
import { existingRoot, refuseNested, refuseUnfit } from "./protectable-directory.ts";

/** How a workspace is received. */
export interface ReceiveOptions extends EngineOptions {
  /** Also place the files of the newest checkpoint. */
  readonly withFiles?: boolean;
}

/** A workspace that was received. */
export interface ReceivedWorkspace {
  readonly workspace: Workspace;
  readonly checkpoints: number;
  /** The files of the newest checkpoint are in place; else an ordinary restore brings them. */
  readonly hasFiles: boolean;
}

/** Fills an empty directory's new store by `fill`, and opens the workspace. */
export async function receiveWorkspace(
  path: string,
  fill: (receiver: Receiver) => Promise<void>,
  options: ReceiveOptions = {},
): Promise<ReceivedWorkspace> {
  const system = systemOf(options);
  const root = existingRoot(path);
  const home = homePath(options, system);
  using registry = openRegistry(home, system.userId);
  refuseUnfit(root, home, system);
  refuseNested(registry, root, { nested: false });
  if (registry.byPath(root) !== undefined || listDirectory(root).length > 0)
    throw taken(displayAbsolute(root));
  const registered = newWorkspace(root, system, (id) => `clone-${id}`);
  const directory = below(home, `workspaces/${registered.store}`);
  makePrivateDirectory(directory);
  let [checkpoints, first]: [number, FirstFiles | undefined] = [0, undefined];
  try {
    using store = openStore(directory, { create: true, bulk: true });
    store.db.transaction(() => {
      writeMeta(store.db, "workspace_id", registered.id);
      noteRoot(store.db, root);
    });
    const receiver = createReceiver(store, system);
    await fill(receiver);
    ({ checkpoints } = receiver.finish());
    first = options.withFiles === true ? beginFirstFiles(store, system) : undefined;
    if (first === undefined) noteAttach(store.db);
  } catch (error) {
    removeStore(directory);
    throw error;
  }
  finishStore(directory);
  registry.add(registered);
  const hasFiles = first !== undefined && placeFirstFiles(directory, root, first);
  const workspace = openRegistered({ ...registered, notices: [] }, { home, registry, system, options });
  return { workspace, checkpoints, hasFiles };
}

function taken(path: string): EngineError<"WORKSPACE_REFUSED"> {
  const reason = "it is protected already, or there are files in it";
  return new EngineError(
    "WORKSPACE_REFUSED",
    `${path} cannot hold a clone: ${reason}. Nothing was changed.`,
    {
      path,
      reason,
    },
  );
}
