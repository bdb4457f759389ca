/** [T1] Stores an object and makes sure of it: the ETag proves the content, or it is read back and equal. */
import { createHash } from "node:crypto";
import { READ_BACK } from "./retrying-remote-store.ts";
import { RemoteFailure, type PutOutcome, type RemoteStore } from "./remote-store.ts";

/** Overwrites an object; throws unless the server is known to have these bytes. */
export async function putSurely(store: RemoteStore, key: string, bytes: Buffer): Promise<PutOutcome> {
  const put = await store.put(key, bytes, { createOnly: false });
  await expectStored(store, { key, bytes }, put.etag);
  return put;
}

/** Throws unless the server is known to have what was sent. */
export async function expectStored(
  store: RemoteStore,
  { key, bytes }: { readonly key: string; readonly bytes: Buffer },
  etag: string,
): Promise<void> {
  if (etag === READ_BACK || etag === createHash("md5").update(bytes).digest("hex")) return;
  if ((await store.get(key))?.bytes.equals(bytes) === true) return;
  throw new RemoteFailure("unknown", `The server does not have ${key} as it was sent.`);
}
