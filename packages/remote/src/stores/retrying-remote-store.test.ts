/** What failed is asked for again. */
import { expect, test } from "vitest";
import { MemoryRemoteStore } from "./memory-remote-store.ts";
import { RemoteFailure } from "./remote-store.ts";
import { RetryingRemoteStore } from "./retrying-remote-store.ts";

test("[R735] a listing that fails at its first or at a later key has every key once", async () => {
  for (const failsAt of [0, 1, 3]) {
    const store = new MemoryRemoteStore();
    for (const name of ["a", "b", "c", "d"])
      await store.put(`x/${name}`, Buffer.from(name), { createOnly: true });
    const list = store.list.bind(store);
    let failures = 2;
    store.list = async function* (prefix, after) {
      let n = 0;
      for await (const object of list(prefix, after)) {
        if (n++ === failsAt && failures-- > 0) throw new RemoteFailure("unknown", "reset");
        yield object;
      }
    };
    const patience = { sleep: async () => undefined, now: Date.now, random: Math.random, patienceMs: 60_000 };
    const keys: string[] = [];
    for await (const { key } of new RetryingRemoteStore(store, patience).list("x/")) keys.push(key);
    expect(keys, `fails at ${failsAt}`).toEqual(["x/a", "x/b", "x/c", "x/d"]);
  }
});
