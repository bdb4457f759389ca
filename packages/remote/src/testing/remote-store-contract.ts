/** What every remote store has to do, whatever its engine. Each engine's test runs this suite. */
import { createHash, randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import type { RemoteStore, StoredObject } from "../stores/remote-store.ts";

/** What an engine may lack; the probe finds it out, and callers do without. */
export interface Abilities {
  readonly createOnly: boolean;
}

/** Runs the contract against a store; each test gets keys of its own. */
export function testRemoteStore(store: () => RemoteStore, { createOnly }: Abilities): void {
  const place = () => `contract/${randomBytes(6).toString("hex")}`;

  test("[T3] what is put is got back, byte for byte, with an ETag and the server's time", async () => {
    const key = `${place()}/object`;
    const bytes = randomBytes(70_000);
    const put = await store().put(key, bytes, { createOnly: false });
    expect(put.outcome).toBe("stored");
    expect(put.etag).toBe(createHash("md5").update(bytes).digest("hex"));
    expect(Math.abs(put.date - Date.now())).toBeLessThan(120_000);
    const got = await store().get(key);
    expect(got?.bytes.equals(bytes)).toBe(true);
  });

  test("an empty object and one of 5 MiB are kept", async () => {
    const at = place();
    for (const [name, bytes] of [
      ["empty", Buffer.alloc(0)],
      ["large", randomBytes(5 * 1024 * 1024)],
    ] as const) {
      await store().put(`${at}/${name}`, bytes, { createOnly: false });
      expect((await store().get(`${at}/${name}`))?.bytes.equals(bytes)).toBe(true);
    }
  });

  test("a key that does not exist is undefined, whole or by range", async () => {
    const key = `${place()}/nothing`;
    expect(await store().get(key)).toBeUndefined();
    expect(await store().get(key, { from: 0, length: 10 })).toBeUndefined();
  });

  test("a range is what the object has of it", async () => {
    const key = `${place()}/range`;
    const bytes = Buffer.from("0123456789");
    await store().put(key, bytes, { createOnly: false });
    const range = async (from: number, length: number) =>
      (await store().get(key, { from, length }))?.bytes.toString();
    expect(await range(0, 4)).toBe("0123");
    expect(await range(3, 4)).toBe("3456");
    expect(await range(8, 100)).toBe("89");
  });

  test("a listing has every key below a prefix in order, with size and ETag, and begins after a key", async () => {
    const at = place();
    const names = ["a/1", "a/10", "a/2", "b/1", "c-d.e/1"];
    for (const name of names.toReversed())
      await store().put(`${at}/${name}`, Buffer.from(name), { createOnly: false });
    const all = await collect(store().list(`${at}/`));
    expect(all.map(({ key }) => key)).toEqual(names.map((name) => `${at}/${name}`));
    expect(all.map(({ size }) => size)).toEqual(names.map((name) => name.length));
    expect(all[0]!.etag).toBe(createHash("md5").update("a/1").digest("hex"));
    const later = await collect(store().list(`${at}/`, `${at}/a/10`));
    expect(later.map(({ key }) => key)).toEqual(names.slice(2).map((name) => `${at}/${name}`));
    expect(await collect(store().list(`${at}/nothing`))).toEqual([]);
  });

  test("what is removed is gone; removing it again is not an error", async () => {
    const key = `${place()}/gone`;
    await store().put(key, Buffer.from("x"), { createOnly: false });
    await store().remove([key, `${key}-never`]);
    await store().remove([key]);
    expect(await store().get(key)).toBeUndefined();
  });

  test("a head is overwritten", async () => {
    const key = `${place()}/head`;
    await store().put(key, Buffer.from("one"), { createOnly: false });
    await store().put(key, Buffer.from("two"), { createOnly: false });
    expect((await store().get(key))?.bytes.toString()).toBe("two");
  });

  test.runIf(createOnly)(
    "[T3] create-only keeps the first content and says that the key is taken",
    async () => {
      const key = `${place()}/once`;
      expect((await store().put(key, Buffer.from("first"), { createOnly: true })).outcome).toBe("stored");
      expect((await store().put(key, Buffer.from("second"), { createOnly: true })).outcome).toBe("exists");
      expect((await store().get(key))?.bytes.toString()).toBe("first");
    },
  );

  test.runIf(createOnly)("[T4] of many writers of one key, one wins", async () => {
    const key = `${place()}/race`;
    const outcomes = await Promise.all(
      Array.from({ length: 12 }, async (_, n) => {
        const { outcome } = await store().put(key, Buffer.from(`writer ${n}`), { createOnly: true });
        return outcome;
      }),
    );
    expect(outcomes.filter((outcome) => outcome === "stored")).toHaveLength(1);
  });
}

async function collect(listing: AsyncIterable<StoredObject>): Promise<StoredObject[]> {
  const all: StoredObject[] = [];
  for await (const object of listing) all.push(object);
  return all;
}
