/** Mimir's synchronisation of snapshots, over a remote: its four calls on two machines. */
import { closeDropIn } from "../../drop-in/src/index.ts";
import { SnapshotCloudSync, SnapshotManager } from "../../drop-in/src/mimir.ts";
import { expect, onTestFinished, test } from "vitest";
import { RemoteFailure, type RemoteStore } from "../src/stores/remote-store.ts";
import { MemoryRemoteStore } from "../src/stores/memory-remote-store.ts";
import { openExchange } from "../src/sync/remote.ts";
import { Machine } from "./support/machines.ts";

/** A server that can be out of reach. */
class SometimesThere implements RemoteStore {
  readonly inner = new MemoryRemoteStore();
  isThere = true;

  #reach(): MemoryRemoteStore {
    if (this.isThere) return this.inner;
    throw new RemoteFailure("unreachable", "There is no server.");
  }

  put = async (...words: Parameters<RemoteStore["put"]>) => this.#reach().put(...words);
  get = async (...words: Parameters<RemoteStore["get"]>) => this.#reach().get(...words);
  list = (...words: Parameters<RemoteStore["list"]>) => this.#reach().list(...words);
  remove = async (...words: Parameters<RemoteStore["remove"]>) => this.#reach().remove(...words);
}

function fronts(machine: Machine) {
  const remote = openExchange(machine.workspace, undefined, machine.host);
  onTestFinished(() => remote[Symbol.dispose]());
  const place = { directory: machine.root, home: machine.home };
  return { snapshots: new SnapshotManager(place), cloud: new SnapshotCloudSync({ ...place, remote }) };
}

test("[M09] [M78] upload, download, sync and isSynced: true only when it is stored, queued while offline", async () => {
  onTestFinished(closeDropIn);
  const store = new SometimesThere();
  const ana = await new Machine(() => store, "ana").init();
  ana.write({ "a.ts": "one\n" });
  await ana.add();
  await ana.push();
  const here = fronts(ana);
  const first = await here.snapshots.createSnapshot("talk", "manual", "first");
  expect(await here.cloud.isSynced("talk", first.id)).toBe(false);
  await here.cloud.uploadSnapshot("talk", first.id);
  expect(await here.cloud.isSynced("talk", first.id)).toBe(true);

  store.isThere = false;
  ana.write({ "a.ts": "two\n" });
  const second = await here.snapshots.createSnapshot("talk", "manual", "second");
  const offline = await here.cloud.sync("talk");
  expect(offline).toMatchObject({ uploaded: 0, downloaded: 0, queued: 1, failed: 2, lastSyncedAt: null });
  await expect(here.cloud.uploadSnapshot("talk", second.id)).rejects.toMatchObject({
    code: "REMOTE_UNREACHABLE",
  });
  store.isThere = true;
  expect(await here.cloud.sync("talk")).toMatchObject({ uploaded: 1, downloaded: 0, queued: 0, failed: 0 });

  // another machine, which never saw this conversation, gets it with its files
  const bob = await new Machine(() => store, "bob").init();
  bob.recoveryKey = ana.recoveryKey;
  await bob.add();
  const there = fronts(bob);
  expect(await there.cloud.sync("talk")).toMatchObject({ downloaded: 3, failed: 0 });
  const snapshot = await there.cloud.downloadSnapshot("talk", second.id);
  expect(snapshot).toMatchObject({ id: second.id, description: "second" });
  expect(snapshot.files.find(({ path }) => path === "a.ts")?.content.toString()).toBe("two\n");
  expect(await there.cloud.isSynced("talk", second.id)).toBe(true);
  expect(await there.cloud.sync("talk")).toMatchObject({ downloaded: 0, failed: 0 });
  // last write wins, here and there
  await bob.workspace.tag(snapshot.id.slice("snap-".length), "bobs");
  await bob.push();
  await here.cloud.sync("talk");
  expect((await here.snapshots.getSnapshot("talk", second.id)).tags).toEqual(["bobs"]);
});
