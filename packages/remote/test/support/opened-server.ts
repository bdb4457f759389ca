/** Everything that a server has, opened with the keys of a machine: what a member of the space could read. */
import { keysOf } from "../../src/space/own-keys.ts";
import { openSpace, secretFor } from "../../src/space/space.ts";
import { OpenParcel } from "../../src/parcel/parcel.ts";
import type { RemoteStore } from "../../src/stores/remote-store.ts";
import type { Machine } from "./machines.ts";

/** The bytes of each object as they are stored, and of each frame that is inside one. */
export async function readableOn(store: RemoteStore, { workspace, host }: Machine): Promise<Buffer[]> {
  const [entry] = workspace.exchange.remotes();
  const space = await openSpace(store, entry!.space, keysOf(host, entry!));
  const found: Buffer[] = [];
  const kinds = { b: "content", l: "segment", h: "head", t: "head" } as const;
  for await (const { key } of store.list(`${space.id}/`)) {
    const { bytes } = (await store.get(key))!;
    found.push(bytes);
    const kind = kinds[key.split("/")[1] as keyof typeof kinds];
    if (kind === undefined) continue;
    const parcel = new OpenParcel(bytes, { key, kind, secret: secretFor(space, bytes) });
    for (const n of parcel.frames.keys()) found.push(parcel.rawFrame(n, bytes));
  }
  return found;
}
