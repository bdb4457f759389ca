import { existsSync, mkdirSync, readdirSync, readlinkSync, rmSync, watch, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { overflowQueue } from "../../test/support/overflow-queue.ts";
import { makeDirectory } from "../../test/support/place.ts";
import { absolutePath } from "./absolute-path.ts";
import { WatchCookie } from "./watch-cookie.ts";

let base: string;
let cookie: WatchCookie;

beforeEach(() => {
  base = makeDirectory("belay-cookie-");
  cookie = new WatchCookie(absolutePath(join(base, "cookies")), 300);
});

afterEach(() => {
  cookie.close();
  rmSync(base, { recursive: true, force: true });
});

/** The cookies that this process has open. */
function openCookies(): number {
  return readdirSync("/proc/self/fd").filter((file) => {
    try {
      return readlinkSync(`/proc/self/fd/${file}`).startsWith(join(base, "cookies"));
    } catch {
      return false;
    }
  }).length;
}

describe("[R45] a cookie", () => {
  test("arrives after everything that was done before it, time and again", async () => {
    mkdirSync(join(base, "watched"));
    const seen: string[] = [];
    using _ = closing(watch(join(base, "watched"), (_type, name) => void seen.push(name!)));
    for (let round = 0; round < 200; round += 1) {
      writeFileSync(join(base, "watched", `file-${round}`), "x");
      expect(await cookie.arrived()).toBe(true);
      expect(seen).toContain(`file-${round}`);
    }
  });

  test("is not answered by the event of the one before it", async () => {
    expect(await cookie.arrived()).toBe(true);
    // every event of the first has come by now, or would be taken for the next one's
    const waits = Array.from({ length: 50 }, () => cookie.arrived());
    expect(await Promise.all(waits)).toEqual(waits.map(() => true));
    const order: string[] = [];
    mkdirSync(join(base, "watched"));
    using _ = closing(watch(join(base, "watched"), (_type, name) => void order.push(name!)));
    const both = [1, 2].map(async (number) => {
      writeFileSync(join(base, "watched", `before-${number}`), "x");
      await cookie.arrived();
      expect(order).toContain(`before-${number}`);
    });
    await Promise.all(both);
  });

  test("is a file without a name, used again, and closed in the end", async () => {
    for (let round = 0; round < 20; round += 1) await cookie.arrived();
    expect([openCookies(), readdirSync(join(base, "cookies"))]).toEqual([1, []]);
    await Promise.all([cookie.arrived(), cookie.arrived(), cookie.arrived()]);
    expect(openCookies()).toBe(3);
    cookie.close();
    expect([openCookies(), existsSync(join(base, "cookies"))]).toEqual([0, false]);
  });

  test("arrives where another process removed its directory, and the next one makes it again", async () => {
    expect(await cookie.arrived()).toBe(true);
    rmSync(join(base, "cookies"), { recursive: true });
    expect(await cookie.arrived()).toBe(true);
    cookie.close();
    expect(await cookie.arrived()).toBe(true);
    expect([openCookies(), existsSync(join(base, "cookies"))]).toEqual([1, true]);
  });

  test("does not arrive where its event was dropped, and does again after that", async () => {
    expect(await cookie.arrived()).toBe(true);
    overflowQueue(join(base, "cookies"));
    expect(await cookie.arrived()).toBe(false);
    expect(openCookies()).toBe(0);
    expect(await cookie.arrived()).toBe(true);
  });

  test("[R116] does not arrive, and makes nothing, where its store is gone", async () => {
    rmSync(base, { recursive: true });
    expect(await cookie.arrived()).toBe(false);
    expect(existsSync(base)).toBe(false);
  });
});

function closing(watcher: { close(): void }): Disposable {
  return { [Symbol.dispose]: () => watcher.close() };
}
