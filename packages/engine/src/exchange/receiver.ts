/** Takes records and packs into a store that is being built, and proves it whole before it may be used. */
import { displayPath, pathFromBytes, type BytePath } from "../model/byte-path.ts";
import type { HistoryRecord, RemoteEntry } from "../model/exchange.ts";
import { EngineError } from "../model/errors.ts";
import type { ObjectHash } from "../model/object-hash.ts";
import type { System } from "../model/system.ts";
import { hardExclude, neverCapturedAt } from "../rules/hard-excludes.ts";
import { ObjectWriter, type PackedObject } from "../store/object-writer.ts";
import { decompressPack } from "../store/pack.ts";
import type { Store } from "../store/store.ts";
import { noteWithheld } from "../store/withheld-names.ts";
import { verifyStore } from "../upkeep/verify.ts";
import { LOST_STEP_KIND, writeRecord } from "./history-records.ts";
import { assertProved } from "./needed-objects.ts";
import { addRemote } from "./remotes.ts";
import { noteWithheldGaps } from "./withheld-gaps.ts";

/** What arrives from a remote. */
export interface Receiver {
  /** Puts records in, in the order of their line. */
  putRecords(records: readonly HistoryRecord[]): void;
  /** Their owner keeps these at home: they are gaps here. */
  withhold(hashes: Iterable<ObjectHash>): void;
  /** [T9] Puts objects in; every one is hashed first. `data` is one zstd frame. */
  putPack(pack: {
    readonly data: Buffer;
    readonly rawBytes: number;
    readonly objects: readonly PackedObject[];
  }): void;
  /** The remote that the store has once it is whole. */
  addRemote(remote: RemoteEntry): void;
}

/** A receiver into a new store, and the end of receiving. */
export function createReceiver(
  store: Store,
  system: System,
): Receiver & { finish(): { checkpoints: number } } {
  const writer = new ObjectWriter(store.db, store.objects, system.owner);
  const lostSteps = new Set<string>();
  const withheld = new Set<ObjectHash>();
  const remotes: RemoteEntry[] = [];
  // rows come in the order of their line, in which a row may name one that a later record holds
  store.db.exec("PRAGMA foreign_keys = OFF");
  return {
    putRecords: (records) => {
      for (const { kind, id } of records) if (kind === LOST_STEP_KIND) lostSteps.add(id);
      store.db.transaction(() => records.forEach((record) => writeRecord(store.db, record)));
    },
    withhold: (hashes) => {
      for (const hash of hashes) withheld.add(hash);
    },
    putPack: ({ data, rawBytes, objects }) => {
      const raw = decompressPack(data, rawBytes);
      for (const { hash, offset, size, form } of objects)
        assertProved(hash, { bytes: raw.subarray(offset, offset + size), form });
      writer.putPack({ data, rawBytes, objects });
    },
    addRemote: (remote) => void remotes.push(remote),
    finish: () => {
      // [R1813] a step is undone whole or not at all
      writer.commit(() => {
        for (const id of lostSteps) store.db.run("UPDATE step SET pruned = 1 WHERE id = ?", id);
        noteWithheld(
          store.db,
          [...withheld].filter((hash) => !store.objects.has(hash)),
        );
      });
      store.db.transaction(() => noteWithheldGaps(store));
      store.db.exec("PRAGMA foreign_keys = ON");
      const proved = proveWhole(store);
      for (const remote of remotes) addRemote(store.db, remote);
      return proved;
    },
  };
}

/** A path in the history that no capture writes down. */
function neverCapturedIn(store: Store): BytePath | undefined {
  for (const row of store.db.all("SELECT DISTINCT path FROM change")) {
    const never = neverCapturedAt(pathFromBytes(row["path"] as Uint8Array));
    if (never !== undefined) return never;
  }
  return undefined;
}

function refuse(path: BytePath, object: string): never {
  throw new EngineError(
    "OBJECT_CORRUPT",
    `What arrived holds ${displayPath(path)}, which Belay never captures. Nothing was kept.`,
    { object, checkpoints: [] },
  );
}

/**
 * [T9] Nothing is used before everything that it refers to is there, and nothing that holds a path which no capture writes
 * down, such as one in `.git`: a restore could be led to run code with it.
 */
function proveWhole(store: Store): { checkpoints: number } {
  let never: { path: BytePath; tree: ObjectHash } | undefined;
  const report = verifyStore(store, {
    full: false,
    eachTree: (entries, tree) => {
      for (const name of entries.keys())
        if (hardExclude(name) !== undefined) never ??= { path: name as BytePath, tree };
    },
  });
  const [problem] = report.problems;
  const strays = store.db.all("PRAGMA foreign_key_check").length;
  if (problem === undefined && strays === 0) {
    if (never !== undefined) refuse(never.path, never.tree);
    const path = neverCapturedIn(store);
    if (path !== undefined) refuse(path, "");
    return { checkpoints: report.checkpoints };
  }
  const checkpoints = [...new Set(report.problems.flatMap((one) => one.checkpoints))];
  throw new EngineError(
    "OBJECT_MISSING",
    `What arrived is not whole: ${problem?.detail ?? `${strays} rows name rows that are not there`}. Nothing was kept.`,
    { object: "", checkpoints },
  );
}
