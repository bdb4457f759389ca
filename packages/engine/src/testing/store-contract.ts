/**
 * What every store promises, whatever it keeps its bytes in: run by each implementation's test. Objects come
 * back as they were put or not at all, a transaction happens as a whole or not at all, and what the history
 * needs (checkpoints, refs, leases) is kept in order.
 */
import { describe, expect, test } from "vitest";
import { deltaHash, encodeChanges } from "../history/changes.ts";
import { checkpointAt } from "../history/checkpoints.ts";
import { insertCheckpoint, type NewCheckpoint } from "../history/insert-checkpoint.ts";
import { listCheckpoints } from "../history/list-checkpoints.ts";
import { headSeq } from "../history/line.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import type { Entry } from "../model/entry.ts";
import type { BytePath } from "../model/byte-path.ts";
import type { CheckpointId } from "../model/ids.ts";
import { hashBytes, type ObjectHash } from "../model/object-hash.ts";
import { encodeRules } from "../model/rules.ts";
import { decodeTree, encodeTree } from "../model/tree.ts";
import { createStoreSink, sinkBytes } from "../store/content-sink.ts";
import { readLeases, releaseLease, takeLease } from "../store/lease.ts";
import { ObjectWriter } from "../store/object-writer.ts";
import { readMeta, writeMeta, type Store } from "../store/store.ts";
import { verifyStore } from "../upkeep/verify.ts";

const OWNER = { pid: 1, started: "1", boot: "boot" };
const MIB = 1024 * 1024;

/** The contract as tests; `open` gives an empty store each time and the test closes it. */
export function describeStore(name: string, open: () => Store): void {
  const withStore = (work: (store: Store) => void) => () => {
    using store = open();
    work(store);
    expect(verifyStore(store, { full: true })).toMatchObject({ ok: true, problems: [] });
  };
  describe(name, () => {
    describeContent(withStore);
    describeNames(withStore);
    describeTransactions(withStore);
    describeRecords(withStore);
  });
}

type WithStore = (work: (store: Store) => void) => () => void;

function describeContent(withStore: WithStore): void {
  const sizes = {
    "0 bytes": 0,
    "1 byte": 1,
    "1 MiB": MIB,
    "1 MiB and 1 byte": MIB + 1,
    "3.5 MiB": 3.5 * MIB,
  };
  for (const [label, size] of Object.entries(sizes)) {
    test(
      `gives ${label} back as they were put`,
      withStore((store) => {
        const bytes = patterned(size);
        const name = put(store, bytes);
        expect(name).toBe(hashBytes(bytes));
        expect(store.objects.has(name)).toBe(true);
        expect(store.objects.read(name).equals(bytes)).toBe(true);
        const pieces = [...store.objects.pieces(name)].map((piece) => Buffer.from(piece));
        expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
        expect(pieces.every((piece) => piece.length <= MIB)).toBe(true);
        expect(store.objects.pieceNames(name)).toHaveLength(size > MIB ? Math.ceil(size / MIB) : 0);
      }),
    );
  }

  test(
    "[A56] keeps equal content once, in one call or in several, whole or as a piece",
    withStore((store) => {
      const piece = patterned(MIB);
      put(store, piece);
      put(store, piece);
      put(store, Buffer.concat([piece, piece, piece]));
      expect(countObjects(store)).toBe(2);
    }),
  );
}

function describeNames(withStore: WithStore): void {
  test(
    "an object that is not there is said to be missing, by name",
    withStore((store) => {
      const name = hashBytes(Buffer.from("never put"));
      expect(store.objects.has(name)).toBe(false);
      expect(() => store.objects.read(name)).toThrow(
        expect.objectContaining({
          code: "OBJECT_MISSING",
          facts: { object: name, checkpoints: [] },
        }) as Error,
      );
      expect(() => [...store.objects.pieces(name)]).toThrow(
        expect.objectContaining({ code: "OBJECT_MISSING" }) as Error,
      );
    }),
  );

  test(
    "the caller may reuse its buffer",
    withStore((store) => {
      const buffer = Buffer.from("first");
      const writer = new ObjectWriter(store.db, store.objects, OWNER);
      const first = writer.put(buffer);
      buffer.write("other");
      const other = writer.put(buffer);
      writer.commit(() => undefined);
      expect([first, other].map((name) => store.objects.read(name).toString())).toEqual(["first", "other"]);
    }),
  );

  test(
    "trees come back with every kind of entry and names that are no UTF-8",
    withStore((store) => {
      const hash = put(store, Buffer.from("content"));
      const entries: [string, Entry][] = [
        ["-rf", { kind: "file", mode: 0o755, size: 7, hash }],
        ["a\nb", { kind: "symlink", size: 7, hash }],
        ["big", { kind: "gap", reason: "too-large", size: 5_000_000_000 }],
        ["d", { kind: "directory", mode: 0o700, hash }],
        ["\xff\xfe", { kind: "file", mode: 0o644, size: 7, hash }],
      ];
      const name = put(store, encodeTree(entries));
      expect([...decodeTree(store.objects.read(name), name)]).toEqual(entries);
    }),
  );
}

function describeTransactions(withStore: WithStore): void {
  test(
    "a transaction that throws leaves nothing behind, objects included",
    withStore((store) => {
      const writer = new ObjectWriter(store.db, store.objects, OWNER);
      const name = writer.put(Buffer.from("lost"));
      const failing = () =>
        writer.commit(() => {
          writeMeta(store.db, "key", "lost");
          throw new Error("no");
        });
      expect(failing).toThrow("no");
      expect(store.objects.has(name)).toBe(false);
      expect(readMeta(store.db, "key")).toBeUndefined();
    }),
  );

  test(
    "a transaction inside another joins it",
    withStore((store) => {
      const failing = () =>
        store.db.transaction(() => {
          store.db.transaction(() => writeMeta(store.db, "key", "inner"));
          throw new Error("no");
        });
      expect(failing).toThrow("no");
      expect(readMeta(store.db, "key")).toBeUndefined();
      store.db.transaction(() => store.db.transaction(() => writeMeta(store.db, "key", "kept")));
      expect(readMeta(store.db, "key")).toBe("kept");
    }),
  );

  test(
    "what is flushed is there before anything refers to it, under a lease until it is recorded or given up",
    withStore((store) => {
      const writer = new ObjectWriter(store.db, store.objects, OWNER);
      const name = writer.put(Buffer.from("ahead"));
      writer.flush();
      expect(store.objects.has(name)).toBe(true);
      expect(readLeases(store.db, "capture")).toHaveLength(1);
      writer.abandon();
      expect(readLeases(store.db)).toEqual([]);
    }),
  );

  test(
    "[A65] more than the budget is refused and nothing of it is kept",
    withStore((store) => {
      const writer = new ObjectWriter(store.db, store.objects, OWNER, 100);
      const name = writer.put(scrambled(4096));
      expect(() => writer.commit(() => undefined)).toThrow(
        expect.objectContaining({ code: "STORE_FULL" }) as Error,
      );
      expect(store.objects.has(name)).toBe(false);
    }),
  );
}

function describeRecords(withStore: WithStore): void {
  test(
    "checkpoints are numbered in order and listed newest first, whatever the clock says",
    withStore((store) => {
      const ids = ["kkkkkkkkkkkkkkkk", "llllllllllllllll", "mmmmmmmmmmmmmmmm"];
      store.db.transaction(() =>
        ids.forEach((id, index) => addCheckpoint(store, { id: id as CheckpointId, createdAt: -index })),
      );
      expect(listCheckpoints(store.db).map(({ id }) => id)).toEqual(ids.toReversed());
      expect(headSeq(store.db)).toBe(3);
      expect(checkpointAt(store.db, 2)).toMatchObject({ id: ids[1], seq: 2, createdAt: -1 });
    }),
  );

  test(
    "a checkpoint comes back as it was put, tags and all",
    withStore((store) => {
      const facts = {
        id: "nnnnnnnnnnnnnnnn" as CheckpointId,
        name: 'quo"te',
        note: "línea\n2",
        tags: ["a", "b/c"],
        messageId: "m1",
        messageIndex: 0,
        agent: { id: "x", role: "r", status: "s", cost: 0.5, tokens: 3 },
        git: { branch: "main", commit: null, dirty: true, staged: ["ä"] },
      };
      const added = store.db.transaction(() => addCheckpoint(store, facts));
      expect(checkpointAt(store.db, added.seq)).toEqual(added);
      expect(added).toMatchObject(facts);
    }),
  );

  test(
    "a ref is unique: the same name cannot mean two checkpoints",
    withStore((store) => {
      const addTagged = (id: string) =>
        store.db.transaction(() => addCheckpoint(store, { id: id as CheckpointId, tags: ["release"] }));
      addTagged("oooooooooooooooo");
      expect(() => addTagged("pppppppppppppppp")).toThrow();
      expect(listCheckpoints(store.db)).toHaveLength(1);
    }),
  );

  test(
    "leases name their owner and where their packs begin",
    withStore((store) => {
      put(store, Buffer.from("one pack"));
      const lease = store.db.transaction(() => takeLease(store.db, "restore", OWNER, 42));
      expect(readLeases(store.db, "restore")).toEqual([
        { id: lease, kind: "restore", owner: OWNER, since: 42, firstPack: 2 },
      ]);
      expect(readLeases(store.db, "gc")).toEqual([]);
      store.db.transaction(() => releaseLease(store.db, lease));
      expect(readLeases(store.db)).toEqual([]);
    }),
  );
}

/** Puts bytes of any size and commits them. */
function put(store: Store, bytes: Buffer): ObjectHash {
  const writer = new ObjectWriter(store.db, store.objects, OWNER);
  const name = hashBytes(bytes);
  sinkBytes(createStoreSink(writer), name, bytes, hashBytes);
  writer.commit(() => undefined);
  return name;
}

function countObjects(store: Store): number {
  return Number(store.db.get("SELECT count(*) AS n FROM object")?.["n"]);
}

/** Bytes that differ from piece to piece and compress well. */
function patterned(size: number): Buffer {
  const bytes = Buffer.alloc(size, "0123456789abcdef!");
  for (let at = 0; at < size; at += 4096) bytes[at] = (at / 4096) % 251;
  return bytes;
}

/** Bytes that do not compress, the same each time. */
function scrambled(size: number): Buffer {
  let state = 1;
  return Buffer.from(Array.from({ length: size }, () => (state = (state * 48_271) % 2_147_483_647) & 255));
}

const NO_CHANGES = deltaHash(encodeChanges([]));
const EMPTY_RULES = encodeRules({
  defaultsVersion: 1,
  prefix: "" as BytePath,
  ignoreFiles: [],
  excluded: [],
  named: [],
  tracked: [],
  overBudget: [],
  included: [],
  settings: {},
});

/** A checkpoint of an empty tree. Call inside a transaction. */
function addCheckpoint(store: Store, facts: Partial<Checkpoint>): Checkpoint {
  const tree = put(store, encodeTree([]));
  const rules = put(store, EMPTY_RULES);
  const checkpoint: NewCheckpoint = {
    id: "qqqqqqqqqqqqqqqq" as CheckpointId,
    gaps: [],
    gapsTotal: 0,
    doubts: [],
    doubtsTotal: 0,
    thread: null,
    session: null,
    kind: "manual",
    phase: null,
    name: null,
    note: null,
    tags: [],
    description: "",
    createdAt: 0,
    snapshot: tree,
    rules,
    excluded: put(store, Buffer.from("belay excluded 1\n[]")),
    parents: [],
    messageId: null,
    messageIndex: null,
    toolUseId: null,
    tool: null,
    rolledBack: false,
    hasChanges: null,
    agent: null,
    conversation: null,
    git: null,
    files: 0,
    bytes: 0,
    changes: { added: 0, modified: 0, deleted: 0 },
    ...facts,
  };
  return insertCheckpoint(store.db, checkpoint, NO_CHANGES);
}
