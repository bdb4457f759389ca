/**
 * What a server really does, found by trying it under `probe/`. Servers and their documents disagree: believe this, not
 * the name of the server. What it writes it also removes, where it may.
 */
import { createHash } from "node:crypto";
import { RemoteFailure, type RemoteStore } from "./remote-store.ts";

/** What was found out about a server. */
export interface Abilities {
  /** A create-only PUT refuses a key that is taken. */
  readonly createOnly: boolean;
  /** ETags are the MD5 of the content, so that they prove what was stored. */
  readonly etagIsMd5: boolean;
  /** The server keeps what was under a key before; unknown of remotes of earlier versions. */
  readonly versioned?: boolean;
  /** This access can delete. */
  readonly deleteAllowed: boolean;
  /** The server's clock minus ours. */
  readonly skewMs: number;
}

const LARGE_BYTES = 20 * 1024 * 1024;

/** Probes a server; throws `RemoteFailure` when it cannot be used at all. */
export async function probeStore(
  store: RemoteStore,
  {
    random,
    now,
    largeBytes = LARGE_BYTES,
  }: {
    readonly random: (bytes: number) => Buffer;
    readonly now: () => number;
    /** The size of the largest object that is tried. */
    readonly largeBytes?: number;
  },
): Promise<Abilities> {
  const at = `probe/${random(8).toString("hex")}`;
  const small = Buffer.from("belay");
  const put = await store.put(`${at}/a`, small, { createOnly: false });
  const skewMs = put.date - now();
  await expectBytes(store, `${at}/a`, small);
  const range = await store.get(`${at}/a`, { from: 1, length: 3 });
  if (range?.bytes.toString() !== "ela") throw unfit("does not give a range of an object");
  await store.put(`${at}/b`, small, { createOnly: false });
  const listed: string[] = [];
  for await (const { key } of store.list(`${at}/`, `${at}/a`)) listed.push(key);
  if (listed.join() !== `${at}/b`) throw unfit("does not list the keys after a given one");
  const changed = Buffer.from("belay again");
  await store.put(`${at}/a`, changed, { createOnly: false });
  await expectBytes(store, `${at}/a`, changed);
  const createOnly = await refusesToOverwrite(store, `${at}/once`, random);
  await store.expectLocks?.(`${at}/lock`);
  const large = random(largeBytes);
  await store.put(`${at}/large`, large, { createOnly: false });
  await expectBytes(store, `${at}/large`, large);
  const names = ["a", "b", "once", "large"].map((name) => `${at}/${name}`);
  return {
    createOnly,
    etagIsMd5: put.etag === createHash("md5").update(small).digest("hex"),
    versioned: put.version !== undefined,
    deleteAllowed: await mayDelete(store, names),
    skewMs,
  };
}

async function refusesToOverwrite(
  store: RemoteStore,
  key: string,
  random: (bytes: number) => Buffer,
): Promise<boolean> {
  const [first, second] = [random(16), random(16)];
  try {
    await store.put(key, first, { createOnly: true });
    await store.put(key, second, { createOnly: true });
  } catch (error) {
    if (error instanceof RemoteFailure && error.kind === "unsupported") return false;
    throw error;
  }
  // not what it answered: what it did
  return (await store.get(key))?.bytes.equals(first) === true;
}

async function expectBytes(store: RemoteStore, key: string, bytes: Buffer): Promise<void> {
  const got = await store.get(key);
  if (got?.bytes.equals(bytes) !== true) throw unfit("does not give back what was stored");
}

async function mayDelete(store: RemoteStore, keys: readonly string[]): Promise<boolean> {
  try {
    await store.remove(keys);
    return (await store.get(keys[0]!)) === undefined;
  } catch (error) {
    if (error instanceof RemoteFailure && error.kind === "denied") return false;
    throw error;
  }
}

function unfit(what: string): RemoteFailure {
  return new RemoteFailure("unsupported", `The server ${what}; it cannot hold a remote.`);
}
