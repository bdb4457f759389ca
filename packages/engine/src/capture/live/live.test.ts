/** Live capture's side of one working copy, on real files and real watches: its state and what goes with it. */
import { mkdirSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { makeDirectory } from "../../../test/support/place.ts";
import { ScanLab } from "../../../test/support/scan-lab.ts";
import { absolutePath } from "../../fs/absolute-path.ts";
import { overflowQueue } from "../../../test/support/overflow-queue.ts";
import { WatchCookie } from "../../fs/watch-cookie.ts";
import type { BytePath } from "../../model/byte-path.ts";
import type { RecordedRules } from "../../model/rules.ts";
import { DEFAULTS_VERSION } from "../../rules/default-excludes.ts";
import { RulesReader } from "../../scan/rules-reader.ts";
import type { CacheFacts, StatCache } from "../../scan/stat-cache.ts";
import { LiveCapture } from "./live.ts";

const PROJECT = { "a.txt": "a", "src/b.txt": "b", "src/deep/c.txt": "c" };
const path = (text: string) => text as BytePath;

const FACTS: CacheFacts = {
  checkpoint: "",
  snapshot: "",
  root: "",
  gitIndexKey: "",
  rulesKey: "",
  tracked: [],
  gitStateKey: "",
  gitState: null,
};

const RULES: RecordedRules = {
  defaultsVersion: DEFAULTS_VERSION,
  prefix: path(""),
  ignoreFiles: [],
  excluded: [],
  named: [],
  tracked: [],
  included: [],
  overBudget: [],
  settings: { fileLimitBytes: 1000, ignored: { fileBytes: 1000, files: 20, bytes: 10_000 } },
};

let lab: ScanLab;
let cookies: string;
let live: LiveCapture;

beforeEach(() => {
  lab = new ScanLab(PROJECT);
  cookies = makeDirectory("belay-cookies-");
  live = createLive();
});

afterEach(() => {
  live.close();
  lab[Symbol.dispose]();
  rmSync(cookies, { recursive: true, force: true });
});

function createLive(directoryLimit?: number): LiveCapture {
  const root = absolutePath(lab.root);
  const commandPath = process.env["PATH"] ?? "";
  const cookie = new WatchCookie(absolutePath(join(cookies, "place")), 300);
  return new LiveCapture({
    root,
    rules: new RulesReader(root, commandPath),
    commandPath,
    cookie,
    directoryLimit,
  });
}

/** What a full scan sees, with a watch on each directory. */
function scanned(): StatCache {
  return { table: lab.capture({ entering: live.entering }).table, facts: FACTS };
}

function namesOf({ changes }: LiveCapture): string[] {
  return [...changes.paths()].sort();
}

describe("[R45] the state of live capture", () => {
  test("is cold at first: nothing is known, and a look may rely on nothing", async () => {
    expect([live.state, live.tree]).toEqual(["cold", undefined]);
    expect(live.watching).toEqual({
      state: "cold",
      reason: "the next capture scans everything",
      directories: 0,
    });
    expect(await live.caughtUp()).toBe(false);
    await live.whileCaughtUp(() => expect(live.isCaughtUp).toBe(false));
  });

  test("is live after a recorded scan, with a watch for each directory", async () => {
    live.scanned(scanned(), RULES);
    expect(live.watching).toEqual({ state: "live", reason: null, directories: 3 });
    expect(live.tree?.files).toBe(3);
    expect(await live.caughtUp()).toBe(true);
  });

  test("is unproven with a tree that was loaded, until a sweep is done", async () => {
    live.loaded(scanned(), RULES);
    expect([live.state, live.watching.state]).toEqual(["unproven", "cold"]);
    expect(live.tree).toBeDefined();
    expect(await live.caughtUp()).toBe(false);
    live.swept();
    expect([live.state, live.watching.reason]).toEqual(["live", null]);
  });

  test("takes no loaded tree when a capture was faster", () => {
    live.scanned(scanned(), RULES);
    const { tree } = live;
    lab.write("later.txt", "newer than the tree of the capture");
    live.loaded(scanned(), RULES);
    expect([live.state, live.tree]).toEqual(["live", tree]);
  });

  test("is cold when the tree is outdated, and keeps the watches", () => {
    live.scanned(scanned(), RULES);
    live.outdate("the rules changed");
    expect([live.state, live.tree]).toEqual(["cold", undefined]);
    expect(live.watching).toEqual({
      state: "cold",
      reason: "the rules changed; the next capture scans everything",
      directories: 3,
    });
    live.swept();
    expect(live.state).toBe("cold");
    live.scanned(scanned(), RULES);
    expect(live.watching).toEqual({ state: "live", reason: null, directories: 3 });
  });

  test("is cold when events are lost, without a watch and without a name", () => {
    live.scanned(scanned(), RULES);
    live.changes.addPath(path("a.txt"), false);
    live.loseEvents("too much changed");
    expect(live.watching).toMatchObject({ state: "cold", directories: 0 });
    expect([namesOf(live), live.tree]).toEqual([[], undefined]);
  });

  test("is closed for good", () => {
    live.scanned(scanned(), RULES);
    live.close();
    for (const event of [
      () => live.scanned({ table: lab.capture().table, facts: FACTS }, RULES),
      () => live.loaded({ table: lab.capture().table, facts: FACTS }, RULES),
      () => live.swept(),
      () => live.outdate("anything"),
      () => live.loseEvents("anything"),
    ]) {
      event();
      expect([live.state, live.tree, live.watching]).toEqual([
        "closed",
        undefined,
        { state: "cold", reason: "watching has ended", directories: 0 },
      ]);
    }
    expect(live.entering(path("src"))).toBe(false);
  });

  test("is closed when there are not enough watches, and says so", () => {
    live.close();
    live = createLive(2);
    const cache = scanned();
    expect(live.state).toBe("closed");
    expect(live.watching.reason).toMatch(/^not everything can be watched: more than 2 directories/);
    live.scanned(cache, RULES);
    expect(live.watching).toMatchObject({ state: "cold", directories: 0 });
  });
});

describe("[R45] waiting for the watcher", () => {
  test("brings every event that came before", async () => {
    live.scanned(scanned(), RULES);
    lab.write("a.txt", "changed");
    lab.write("src/deep/new.txt", "new");
    await live.whileCaughtUp(() => {
      expect(live.isCaughtUp).toBe(true);
      expect(namesOf(live)).toEqual(["a.txt", "src/deep/new.txt"]);
    });
    expect(live.isCaughtUp).toBe(false);
  });

  test("ends with the work, also when it fails", async () => {
    live.scanned(scanned(), RULES);
    const fails = () => {
      throw new Error("the work failed");
    };
    await expect(live.whileCaughtUp(fails)).rejects.toThrow("the work failed");
    expect(live.isCaughtUp).toBe(false);
  });

  test("makes it cold when no answer comes", async () => {
    live.scanned(scanned(), RULES);
    expect(await live.caughtUp()).toBe(true);
    overflowQueue(join(cookies, "place"));
    expect(await live.caughtUp()).toBe(false);
    expect(live.watching).toMatchObject({
      state: "cold",
      reason: "the watcher did not answer; the next capture scans everything",
    });
  });

  test("is no proof once the tree was given up during the work", async () => {
    live.scanned(scanned(), RULES);
    await live.whileCaughtUp(() => {
      live.outdate("the store changed");
      expect(live.isCaughtUp).toBe(false);
    });
  });
});

describe("[R45] an event", () => {
  test.each([".gitignore", ".belayignore", "src/.gitignore", ".git"])(
    "of %s makes it cold: the rules may be others",
    async (name) => {
      live.scanned(scanned(), RULES);
      writeFileSync(join(lab.root, name), "a.txt\n");
      await vi.waitFor(() => expect(live.state).toBe("cold"));
      expect(live.watching.reason).toMatch(/^the rules changed/);
    },
  );

  test("while it is cold tells that a watch has died with its directory", async () => {
    live.scanned(scanned(), RULES);
    live.outdate("anything");
    lab.remove("src/deep");
    mkdirSync(join(lab.root, "src/deep"));
    await vi.waitFor(() => expect(live.changes.isReplaced(path("src/deep"))).toBe(true));
    // what was watched is another directory
    expect(live.entering(path("src/deep"))).toBe(true);
    expect(live.entering(path("src"))).toBe(false);
  });

  test("before a scan is recorded does not count, and one after it does", async () => {
    live.scanned(scanned(), RULES);
    lab.write("a.txt", "seen by the next scan");
    await vi.waitFor(() => expect(namesOf(live)).toEqual(["a.txt"]));
    live.scanned(scanned(), RULES);
    expect(namesOf(live)).toEqual([]);
    unlinkSync(join(lab.root, "a.txt"));
    await vi.waitFor(() => expect(live.changes.isReplaced(path("a.txt"))).toBe(true));
  });
});
