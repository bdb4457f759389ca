/**
 * Deletes a whole space from its server, for everyone. Rosters go last, the oldest first: interrupted anywhere, the same call
 * goes on. What other machines have is theirs; they find an empty place.
 */
import type { Workspace } from "@belay/engine";
import { expectRight, keysOf } from "../space/own-keys.ts";
import type { Space } from "../space/space.ts";
import type { RemoteStore, StoredObject } from "../stores/remote-store.ts";
import { nameLines } from "./chosen-line.ts";
import { findRemote } from "./find-remote.ts";
import { reopened } from "./present-space.ts";
import { listLines } from "./read-line.ts";
import type { RemoteHost } from "./remote-host.ts";
import { translating } from "./translate-failure.ts";

/** What a server has of a space, and the way to be rid of it. */
export interface StoredSpace {
  readonly objects: number;
  readonly bytes: number;
  /** Other members that write a line there. */
  readonly others: readonly string[];
  /** Deletes everything, and forgets the remote here. */
  delete(progress?: (done: number, total: number) => void): Promise<void>;
}

/** As many keys are deleted between two reports. */
const BATCH = 100;

/** What the server of a remote has of its space; only an admin may ask, who could delete it. */
export async function findStoredSpace(
  workspace: Workspace,
  name: string,
  host: RemoteHost,
): Promise<StoredSpace> {
  const entry = findRemote(workspace, name);
  const keys = keysOf(host, entry);
  const store = host.connect(entry.url);
  return translating(async () => {
    const stored: StoredObject[] = [];
    for await (const object of store.list(`${entry.space}/`)) stored.push(object);
    let others: string[] = [];
    // an earlier call was killed when nothing was left to do but to forget the remote
    if (stored.length > 0) {
      const space = await reopened(store, entry, { keys, host });
      expectRight(space, keys, "roster");
      others = await otherWriters(space, entry.line);
    }
    return {
      objects: stored.length,
      bytes: stored.reduce((sum, { size }) => sum + size, 0),
      others,
      delete: (progress) =>
        translating(async () => {
          using _ = workspace.exchange.claim();
          await deleteAll(store, stored.map(({ key }) => key).toSorted(rostersLast), progress);
          workspace.exchange.removeRemote(entry.name);
        }),
    };
  });
}

async function otherWriters(space: Space, own: string): Promise<string[]> {
  const lines = (await listLines(space)).filter((line) => line !== own);
  return (await nameLines(space, lines)).map(({ name }) => name);
}

async function deleteAll(
  store: RemoteStore,
  keys: readonly string[],
  progress: ((done: number, total: number) => void) | undefined,
): Promise<void> {
  for (let done = 0; done < keys.length; done += BATCH) {
    await store.remove(keys.slice(done, done + BATCH));
    progress?.(Math.min(done + BATCH, keys.length), keys.length);
  }
}

/** Without the newest roster, no machine could prove that it belongs to an admin. */
function rostersLast(a: string, b: string): number {
  return rankOf(a) - rankOf(b) || (a < b ? -1 : 1);
}

function rankOf(key: string): number {
  if (!/\/k\//.test(key)) return 0;
  return /\/k\/\d{12}$/.test(key) ? 2 : 1;
}
