/** Takes records and packs into a store that is being built, and proves it whole before it may be used. */
import { readTree } from "../diff/compare-trees.ts";
import { displayPath, pathFromBytes, type BytePath } from "../model/byte-path.ts";
import type { HistoryRecord } from "../model/exchange.ts";
import { EngineError } from "../model/errors.ts";
import { hashFromBytes, type ObjectHash } from "../model/object-hash.ts";
import type { System } from "../model/system.ts";
import { hardExclude, neverCapturedAt } from "../rules/hard-excludes.ts";
import { ObjectWriter, type PackedObject } from "../store/object-writer.ts";
import { decompressPack } from "../store/pack.ts";
import type { Store } from "../store/store.ts";
import { noteWithheld } from "../store/withheld-names.ts";
import { verifyStore } from "../upkeep/verify.ts";
import { writeRecord } from "./history-records.ts";
import { assertProved } from "./needed-objects.ts";
import { noteWithheldGaps } from "./withheld-gaps.ts";

/** The kind of records that name a step which lost some of its changes when its line was restated. */
const LOST_STEP_KIND = "lost_step";

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
}

/** A receiver into a new store, and the end of receiving. */
export function createReceiver(
  store: Store,
  system: System,
): Receiver & { finish(): { checkpoints: number } } {
  const writer = new ObjectWriter(store.db, store.objects, system.owner);
  const lostSteps = new Set<string>();
  const withheld = new Set<ObjectHash>();
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
      return proveWhole(store);
    },
  };
}

/** Throws for a path that no capture writes down, such as one in `.git`: a restore could be led to run code with it. */
function assertCapturable(store: Store): void {
  const seen = new Set<ObjectHash>();
  const visit = (name: ObjectHash): void => {
    if (seen.has(name)) return;
    seen.add(name);
    for (const [entryName, entry] of readTree(store.objects, name)) {
      if (hardExclude(entryName) !== undefined) refuse(entryName as BytePath, name);
      if (entry.kind === "directory") visit(entry.hash);
    }
  };
  for (const row of store.db.all("SELECT DISTINCT snapshot FROM checkpoint"))
    visit(hashFromBytes(row["snapshot"] as Uint8Array));
  for (const row of store.db.all("SELECT DISTINCT path FROM change")) {
    const never = neverCapturedAt(pathFromBytes(row["path"] as Uint8Array));
    if (never !== undefined) refuse(never, "");
  }
}

function refuse(path: BytePath, object: string): never {
  throw new EngineError(
    "OBJECT_CORRUPT",
    `What arrived holds ${displayPath(path)}, which Belay never captures. Nothing was kept.`,
    { object, checkpoints: [] },
  );
}

/** [T9] Nothing is used before everything that it refers to is there. */
function proveWhole(store: Store): { checkpoints: number } {
  const report = verifyStore(store, { full: false });
  const [problem] = report.problems;
  const strays = store.db.all("PRAGMA foreign_key_check").length;
  if (problem === undefined && strays === 0) {
    assertCapturable(store);
    return { checkpoints: report.checkpoints };
  }
  const checkpoints = [...new Set(report.problems.flatMap((one) => one.checkpoints))];
  throw new EngineError(
    "OBJECT_MISSING",
    `What arrived is not whole: ${problem?.detail ?? `${strays} rows name rows that are not there`}. Nothing was kept.`,
    { object: "", checkpoints },
  );
}
