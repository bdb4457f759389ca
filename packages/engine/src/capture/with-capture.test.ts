import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { inLab, type CaptureLab } from "../../test/support/capture-lab.ts";
import { lookUp } from "../diff/compare-trees.ts";
import { processIdentity } from "../fs/system.ts";
import { headCheckpoint } from "../history/checkpoints.ts";
import { readDoubts } from "../history/gaps-and-doubts.ts";
import { listCheckpoints } from "../history/list-checkpoints.ts";
import { removeJournal, writeJournal } from "../history/journal.ts";
import { openStep } from "../history/step-rows.ts";
import { openThread } from "../history/threads.ts";
import type { BytePath } from "../model/byte-path.ts";
import type { OperationId, ThreadId } from "../model/ids.ts";
import { releaseLease, takeLease } from "../store/lease.ts";
import { ObjectWriter } from "../store/object-writer.ts";
import { storeBytes } from "../store/store.ts";
import { verifyStore } from "../upkeep/verify.ts";
import { collectGarbage } from "../upkeep/gc.ts";
import { fullSince } from "../upkeep/known-full.ts";
import type { Context } from "./context.ts";
import { lookNow } from "./look-now.ts";
import { withCapture } from "./with-capture.ts";

const path = (text: string) => text as BytePath;
/** Waits until what was written is older than the file system's clock can blur: until then every look reads it again. */
const atRest = () => new Promise((resolve) => setTimeout(resolve, 80));
const PLAIN = { request: {}, description: "plain" };

/** Does something each time the working copy has been looked at, before the capture's transaction begins. */
function afterEachLook({ workingCopy }: Context, act: (round: number) => void): () => number {
  const capture = workingCopy.capture.bind(workingCopy);
  let rounds = 0;
  workingCopy.capture = (...given) => {
    const result = capture(...given);
    act((rounds += 1));
    return result;
  };
  return () => rounds;
}

describe("a capture that is recorded", () => {
  test(
    "has the files of the disk, and the caller's result",
    inLab({ a: "1", "src/b": "2" }, (lab) => {
      const seq = withCapture(lab.context, {}, (capture) => {
        expect(lab.files(capture.present.snapshot)).toEqual({ a: "1", "src/b": "2" });
        return capture.record(PLAIN).checkpoint.seq;
      });
      const checkpoint = headCheckpoint(lab.store.db)!;
      expect(checkpoint).toMatchObject({ seq, description: "plain", files: 2, bytes: 2 });
      expect(lab.files(checkpoint.snapshot)).toEqual({ a: "1", "src/b": "2" });
    }),
  );

  test(
    "is told apart from one in which nothing changed",
    inLab({ a: "1" }, (lab) => {
      expect(lab.take()).toMatchObject({ unchanged: false, comparable: true });
      expect(lab.take()).toMatchObject({ unchanged: true, changes: [] });
      lab.write("a", "2");
      const { unchanged, changes } = lab.take();
      expect([unchanged, changes.map((change) => change.path)]).toEqual([false, ["a"]]);
    }),
  );

  test(
    "shares its transaction with what the caller writes: both or neither",
    inLab({ a: "1" }, (lab) => {
      const { db } = lab.store;
      const thread = "t" as ThreadId;
      const open = () => openThread(db, { agent: "x", externalId: "x", title: null }, { id: thread, now: 0 });
      const fail = () =>
        withCapture(lab.context, {}, (capture) => {
          capture.record(PLAIN);
          open();
          throw new Error("the caller failed");
        });
      expect(fail).toThrow("the caller failed");
      expect([lab.count("checkpoint"), db.get("SELECT 1 FROM thread")]).toEqual([0, undefined]);
      withCapture(lab.context, {}, (capture) => {
        capture.record(PLAIN);
        open();
      });
      expect([lab.count("checkpoint"), db.get("SELECT id FROM thread")]).toEqual([1, { id: "t" }]);
    }),
  );

  test(
    "cannot be recorded twice",
    inLab({ a: "1" }, (lab) => {
      const twice = () =>
        withCapture(lab.context, {}, (capture) => [capture.record(PLAIN), capture.record(PLAIN)]);
      expect(twice).toThrow("recorded once");
      expect(lab.count("checkpoint")).toBe(0);
    }),
  );

  test.for([
    ["a thread that is not known", { thread: "nowhere" as ThreadId }, "THREAD_NOT_FOUND"],
    ["a name that reads as a reference", { name: "@" }, "NAME_INVALID"],
  ] as const)("is refused with %s, and nothing is recorded", ([, request, code]) =>
    inLab({ a: "1" }, (lab) => {
      const take = () =>
        withCapture(lab.context, {}, (capture) => capture.record({ request, description: "" }));
      expect(take).toThrow(expect.objectContaining({ code }) as Error);
      expect([lab.count("checkpoint"), lab.count("object")]).toEqual([0, 0]);
    })(),
  );

  test(
    "[N1] of a root that is gone is refused",
    inLab({ a: "1" }, (lab) => {
      lab.take();
      rmSync(lab.root, { recursive: true });
      expect(() => lab.take()).toThrow(expect.objectContaining({ code: "WORKSPACE_EMPTIED" }) as Error);
      expect(lab.count("checkpoint")).toBe(1);
    }),
  );
});

describe("leaving without recording", () => {
  test(
    "stores nothing, and what was seen can be read as long as the work lasts",
    inLab({ a: "1" }, (lab) => {
      const seen = withCapture(lab.context, {}, ({ present }) => lab.files(present.snapshot));
      expect(seen).toEqual({ a: "1" });
      expect([lab.count("checkpoint"), lab.count("object"), lab.count("pack")]).toEqual([0, 0, 0]);
      expect([lab.count("operation"), lab.count("lease")]).toEqual([0, 0]);
    }),
  );

  test(
    "remembers nothing: the next capture reads and stores what this one saw",
    inLab({ a: "1" }, (lab) => {
      lab.take();
      lab.write("a", "2");
      withCapture(lab.context, {}, () => undefined);
      const { checkpoint } = lab.take();
      expect(lab.files(checkpoint.snapshot)).toEqual({ a: "2" });
    }),
  );

  test(
    "leaves no pack in the object cache: its number is given to another pack",
    inLab({ a: "1" }, (lab) => {
      lab.take();
      lab.write("a", "left".repeat(100));
      withCapture(lab.context, {}, ({ present }) => lab.files(present.snapshot));
      lab.write("a", "taken".repeat(100));
      expect(lab.files(lab.take().checkpoint.snapshot)).toEqual({ a: "taken".repeat(100) });
    }),
  );

  test(
    "gives the lease of a large capture back",
    inLab({ a: "1" }, (lab) => {
      lab.take();
      // content that does not compress goes in ahead of the transaction, under a lease
      for (const name of ["x", "y", "z"]) lab.write(name, randomBytes(5 * 2 ** 20));
      withCapture(lab.context, {}, () => expect(lab.count("lease")).toBe(1));
      expect([lab.count("checkpoint"), lab.count("lease")]).toEqual([1, 0]);
    }),
  );

  test(
    "by an error is the same",
    inLab({ a: "1" }, (lab) => {
      const fail = () =>
        withCapture(lab.context, {}, () => {
          throw new Error("no");
        });
      expect(fail).toThrow("no");
      expect([lab.count("checkpoint"), lab.count("object")]).toEqual([0, 0]);
      expect(lab.files(lab.take().checkpoint.snapshot)).toEqual({ a: "1" });
    }),
  );

  test(
    "but for `store`: the content is there, without a checkpoint, until gc frees what nothing refers to",
    inLab({ a: "1" }, (lab) => {
      const snapshot = withCapture(lab.context, {}, (capture) => {
        capture.store();
        return capture.present.snapshot;
      });
      expect([lab.count("checkpoint"), lab.files(snapshot)]).toEqual([0, { a: "1" }]);
      collectGarbage(lab.store, lab.context.system, { dropPrunedBefore: 0, dryRun: false });
      expect(lab.count("object")).toBe(0);
    }),
  );
});

describe("another process meanwhile", () => {
  test(
    "a checkpoint of its own: the look starts again, and the work runs once, on top of that one",
    inLab({ a: "1" }, (lab) => {
      lab.take();
      const other = lab.openContext();
      const rounds = afterEachLook(lab.context, (round) => {
        if (round > 1) return;
        lab.write("b", "of the other");
        lab.take({}, other);
      });
      let works = 0;
      lab.write("a", "2");
      const recorded = withCapture(lab.context, {}, (capture) => {
        works += 1;
        return capture.record(PLAIN);
      });
      expect([rounds(), works]).toEqual([2, 1]);
      expect(recorded).toMatchObject({ unchanged: true });
      expect(lab.files(recorded.checkpoint.snapshot)).toEqual({ a: "2", b: "of the other" });
      expect(listCheckpoints(lab.store.db)).toHaveLength(3);
    }),
  );

  test(
    "one checkpoint after another: at last the look happens under the lock, where no other can record",
    inLab({ a: "1" }, (lab) => {
      lab.take();
      const other = lab.openContext();
      const locked: boolean[] = [];
      const rounds = afterEachLook(lab.context, (round) => {
        if (round > 4) return;
        lab.write("b", String(round));
        // a busy timeout of its own, so that the test does not wait for the lock
        other.store.db.exec("PRAGMA busy_timeout = 1");
        try {
          lab.take({}, other);
          locked.push(false);
        } catch {
          locked.push(true);
        }
      });
      const { checkpoint } = lab.take();
      expect([rounds(), locked]).toEqual([4, [false, false, false, true]]);
      expect(lab.files(checkpoint.snapshot)).toEqual({ a: "1", b: "3" });
      // remembered, and rightly: only the file that changed since is another one
      expect(lab.files(lab.take().checkpoint.snapshot)).toEqual({ a: "1", b: "4" });
    }),
  );

  test(
    "under the lock, leaving without recording rolls everything back",
    inLab({ a: "1" }, (lab) => {
      lab.take();
      const other = lab.openContext();
      afterEachLook(lab.context, (round) => {
        lab.write("b", String(round));
        if (round <= 3) lab.take({}, other);
      });
      const [checkpoints, objects] = [lab.count("checkpoint") + 3, () => lab.count("object")];
      let before = 0;
      withCapture(lab.context, {}, ({ present }) => {
        before = objects();
        return lab.files(present.snapshot);
      });
      expect(lab.count("checkpoint")).toBe(checkpoints);
      expect(objects()).toBeLessThanOrEqual(before);
      expect(lab.files(lab.take().checkpoint.snapshot)).toEqual({ a: "1", b: "4" });
    }),
  );

  test.for(["a piece of a file", "a tree"])(
    "[R3] gc frees %s that the look found in the store: it is stored again",
    (what) =>
      inLab({ "src/a": "1" }, (lab) => {
        const { store, context } = lab;
        lab.take();
        const piece = randomBytes(2 ** 20);
        const writer = new ObjectWriter(store.db, store.objects, context.system.owner);
        if (what === "a tree") {
          lab.write("src/b", "2");
          withCapture(context, {}, (capture) => capture.store());
        } else {
          lab.write("large", Buffer.concat([piece, randomBytes(10)]));
          writer.put(piece);
          writer.flush();
        }
        writer.abandon();
        const rounds = afterEachLook(context, (round) => {
          if (round === 1) collectGarbage(store, context.system, { dropPrunedBefore: 0, dryRun: false });
        });
        const { checkpoint } = lab.take();
        // the writer asks for a tree only when the look is over, after gc; a piece fills a pack, and is asked for at once
        expect(rounds()).toBe(what === "a tree" ? 1 : 2);
        expect(verifyStore(store, { full: true }).problems).toEqual([]);
        expect(Object.keys(lab.files(checkpoint.snapshot))).toHaveLength(2);
      })(),
  );

  test(
    "[R11] a restore that is under way: its paths are doubtful, and what it did so far is no change",
    inLab({ a: "1", b: "1" }, (lab) => {
      const { db } = lab.store;
      const { checkpoint: safety } = lab.take();
      const { entry } = lookUp(lab.store.objects, safety.snapshot, path("b"));
      const finish = { description: "", thread: null, target: null, step: null, moved: [] };
      const lease = db.transaction(() => {
        writeJournal(db, {
          id: "o" as OperationId,
          safety: safety.seq,
          edits: [{ path: path("b"), from: entry, to: undefined }],
          finish: { kind: "restore", ...finish },
          startedAt: 0,
        });
        // the process that runs this test lives as long as the test
        return takeLease(db, "restore", processIdentity(process.ppid));
      });
      lab.write("a", "2");
      lab.remove("b");
      const { checkpoint, changes, doubts } = lab.take();
      expect(doubts).toEqual([{ path: "b", reason: "mid-restore" }]);
      expect(readDoubts(db, checkpoint.seq)).toEqual(doubts);
      expect(changes.map((change) => change.path)).toEqual(["a"]);
      db.transaction(() => {
        releaseLease(db, lease);
        removeJournal(db, "o" as OperationId);
      });
      expect(lab.take().doubts).toEqual([]);
    }),
  );

  test(
    "doubts that the caller has are recorded with the checkpoint",
    inLab({ a: "1" }, (lab) => {
      const mine = [{ path: path("a"), reason: "mid-restore" }] as const;
      const { checkpoint } = withCapture(lab.context, {}, (capture) =>
        capture.record({ ...PLAIN, doubts: mine }),
      );
      expect([checkpoint.doubts, readDoubts(lab.store.db, checkpoint.seq)]).toEqual([mine, mine]);
    }),
  );
});

describe("a store that is full", () => {
  const nearlyFill = (lab: CaptureLab) => {
    const { store, context } = lab;
    lab.take();
    const writer = new ObjectWriter(store.db, store.objects, context.system.owner);
    writer.put(randomBytes(4 * 2 ** 20));
    writer.flush();
    writer.abandon();
    lab.settings.capBytes = storeBytes(store) + 600 * 1024;
    lab.write("large", randomBytes(2 ** 20));
  };

  test(
    "[R14] room is made, sparing what the capture is for, and the look starts again",
    inLab({ a: "1" }, (lab) => {
      nearlyFill(lab);
      const asked: [boolean, number | undefined][] = [];
      lab.settings.makeRoom = (missing, spared) => {
        asked.push([missing > 0, spared]);
        collectGarbage(lab.store, lab.context.system, { dropPrunedBefore: 0, dryRun: false });
      };
      const rounds = afterEachLook(lab.context, () => undefined);
      let works = 0;
      const { checkpoint } = withCapture(lab.context, { spared: 7 }, (capture) => {
        works += 1;
        return capture.record(PLAIN);
      });
      expect([asked, rounds(), works, checkpoint.files]).toEqual([[[true, 7]], 2, 1, 2]);
      expect(storeBytes(lab.store)).toBeLessThan(lab.settings.capBytes);
    }),
  );

  test(
    "[R14, R1723] where nothing can be freed, the caller is told, and nothing is recorded",
    inLab({ a: "1" }, (lab) => {
      nearlyFill(lab);
      const before = [lab.count("checkpoint"), lab.count("object"), lab.count("lease")];
      const rounds = afterEachLook(lab.context, () => undefined);
      expect(() => lab.take()).toThrow(expect.objectContaining({ code: "STORE_FULL" }) as Error);
      expect([lab.count("checkpoint"), lab.count("object"), lab.count("lease")]).toEqual(before);
      expect(rounds()).toBe(1);
      // [R1723] since when: the first failure says it, a later one does not move it, and more room takes it back
      const { capBytes } = lab.context;
      const since = fullSince(lab.store, capBytes);
      expect(since).toEqual(expect.any(Number));
      expect(() => lab.take()).toThrow(expect.objectContaining({ code: "STORE_FULL" }) as Error);
      expect(fullSince(lab.store, capBytes)).toBe(since);
      expect(fullSince(lab.store, capBytes * 2)).toBeNull();
    }),
  );
});

describe("a look that has to see more", () => {
  const openTurn = ({ store: { db } }: CaptureLab) =>
    db.transaction(() => {
      const thread = openThread(db, { agent: "x", externalId: "x", title: null }, { id: "t", now: 0 }).id;
      openStep(db, {
        id: "s",
        kind: "turn",
        thread,
        description: "",
        prompt: null,
        owner: null,
        before: 1,
        now: Date.now(),
      });
    });

  test(
    "is repeated with what `widen` names, and the work gets the wider one",
    inLab({ ".belayignore": "secret\n", secret: "s", a: "1" }, (lab) => {
      const asked: string[][] = [];
      const seen = withCapture(
        lab.context,
        {
          widen({ snapshot }) {
            asked.push(Object.keys(lab.files(snapshot)));
            return { included: [path("secret")] };
          },
        },
        ({ present }) => Object.keys(lab.files(present.snapshot)),
      );
      expect(asked).toEqual([
        [".belayignore", "a"],
        [".belayignore", "a", "secret"],
      ]);
      expect(seen).toEqual([".belayignore", "a", "secret"]);
    }),
  );

  test(
    "is repeated once for a path that it cannot see",
    inLab({ a: "1" }, (lab) => {
      const rounds = afterEachLook(lab.context, () => undefined);
      withCapture(lab.context, { widen: () => ({ included: [path("not/there")] }) }, () => undefined);
      expect(rounds()).toBe(2);
    }),
  );

  test(
    "[R130] sees what an open turn ignored, recorded or not",
    inLab({ a: "1", b: "1" }, (lab) => {
      lab.take();
      openTurn(lab);
      lab.write(".belayignore", "b\n");
      lab.write("b", "2");
      const looked = lookNow(lab.context);
      expect(lab.files(looked.snapshot, looked.objects)).toEqual({ ".belayignore": "b\n", a: "1", b: "2" });
      const { checkpoint, changes } = lab.take();
      expect(lab.files(checkpoint.snapshot)).toMatchObject({ b: "2" });
      expect(changes.map((change) => change.path)).toEqual([".belayignore", "b"]);
    }),
  );

  test(
    "sees what a checkpoint has that the present will be compared with",
    inLab({ a: "1", b: "1" }, (lab) => {
      const { checkpoint } = lab.take();
      lab.write(".belayignore", "b\n");
      lab.take();
      const [plain, compared] = [lookNow(lab.context), lookNow(lab.context, { since: checkpoint })];
      const paths = ({ snapshot, objects }: typeof plain) => Object.keys(lab.files(snapshot, objects));
      expect([paths(plain), paths(compared)]).toEqual([
        [".belayignore", "a"],
        [".belayignore", "a", "b"],
      ]);
    }),
  );

  test(
    "records nothing when it only looks, and names what a capture would",
    inLab({ a: "1" }, (lab) => {
      const { snapshot, rules } = lookNow(lab.context);
      expect([lab.count("checkpoint"), lab.count("object")]).toEqual([0, 0]);
      expect(lab.take().checkpoint).toMatchObject({ snapshot, rules });
    }),
  );
});

describe("what the next look relies on", () => {
  test(
    "the last recorded scan, of this process or of the stat cache: what is as it was is not read",
    inLab({ a: "1", b: "1" }, async (lab) => {
      await atRest();
      lab.take();
      for (const context of [lab.context, lab.openContext()]) {
        lab.write("b", `${Math.random()}`);
        const read = context.workingCopy.capture(
          {},
          new ObjectWriter(context.store.db, context.store.objects, context.system.owner),
        ).read;
        expect([...read.values()]).toEqual(["b"]);
      }
    }),
  );

  test(
    "nothing at all, once it is distrusted",
    inLab({ a: "1", "src/b": "2" }, async (lab) => {
      await atRest();
      lab.take();
      lab.context.workingCopy.distrust();
      const { store, system, workingCopy } = lab.context;
      const { read } = workingCopy.capture({}, new ObjectWriter(store.db, store.objects, system.owner));
      expect([...read.values()].toSorted()).toEqual(["a", "src/b"]);
    }),
  );

  test(
    "not on another root in the same place",
    inLab({ a: "1" }, async (lab) => {
      await atRest();
      lab.take();
      rmSync(lab.root, { recursive: true });
      lab.write("a", "1");
      const { store, system, workingCopy } = lab.context;
      const { read } = workingCopy.capture({}, new ObjectWriter(store.db, store.objects, system.owner));
      expect([...read.values()]).toEqual(["a"]);
    }),
  );

  test(
    "not on a checkpoint that the store lacks",
    inLab({ a: "1" }, async (lab) => {
      await atRest();
      lab.take();
      const { store, system, workingCopy } = lab.context;
      store.db.exec("DELETE FROM checkpoint");
      const { read } = workingCopy.capture({}, new ObjectWriter(store.db, store.objects, system.owner));
      expect([...read.values()]).toEqual(["a"]);
    }),
  );
});

test(
  "excluded directories of the workspace are left out of every look",
  inLab({ a: "1", "inner/b": "2" }, (lab) => {
    lab.settings.excluded = [{ path: path("inner"), reason: "another workspace" }];
    const { checkpoint } = lab.take();
    expect(lab.files(checkpoint.snapshot)).toEqual({ a: "1" });
    expect(lookNow(lab.context).excludedRoots).toEqual([
      { path: "inner", rule: "another workspace", bytes: null },
    ]);
  }),
);
