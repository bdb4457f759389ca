/** A working copy with a store and a context of its own: captures without a workspace around them. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { everyLook, type Context } from "../../src/capture/context.ts";
import type { Look } from "../../src/capture/look.ts";
import { withCapture } from "../../src/capture/with-capture.ts";
import { WorkingCopy } from "../../src/capture/working-copy.ts";
import type { WorkingCopyLimits, WorkingCopyOptions } from "../../src/capture/working-copy-options.ts";
import { walkTree } from "../../src/diff/compare-trees.ts";
import { absolutePath, below } from "../../src/fs/absolute-path.ts";
import { createSystem } from "../../src/fs/system.ts";
import { hasCheckpoint } from "../../src/history/checkpoints.ts";
import type { Recorded } from "../../src/history/record.ts";
import { displayPath } from "../../src/model/byte-path.ts";
import type { ObjectHash } from "../../src/model/object-hash.ts";
import { CHECKPOINT_PRESETS } from "../../src/model/policy.ts";
import type { ExcludedDirectory } from "../../src/model/rules.ts";
import type { ObjectSource } from "../../src/store/object-store.ts";
import { openStore, type Store } from "../../src/store/store.ts";
import { verifyStore } from "../../src/upkeep/verify.ts";
import { makeDirectory } from "./place.ts";
import { Parsers } from "../../src/merge/parsers.ts";

/** What a test may set before a capture. */
interface LabSettings {
  capBytes: number;
  limits: WorkingCopyLimits;
  excluded: readonly ExcludedDirectory[];
  /** Milliseconds added to the clock. */
  clockMs: number;
  makeRoom: Context["makeRoom"];
}

/** Runs a test on a fresh working copy of these files, then proves its store sound. */
export function inLab(
  files: Readonly<Record<string, string | Uint8Array>>,
  body: (lab: CaptureLab) => void | Promise<void>,
): () => Promise<void> {
  return async () => {
    const lab = new CaptureLab(makeDirectory("belay-lab-"));
    try {
      for (const [path, content] of Object.entries(files)) lab.write(path, content);
      await body(lab);
      const { problems } = verifyStore(lab.store, { full: true });
      if (problems.length > 0) throw new Error(`the store is not sound: ${JSON.stringify(problems)}`);
    } finally {
      lab.close();
    }
  };
}

/** One working copy, its store, and as many processes' worth of contexts as a test asks for. */
export class CaptureLab {
  readonly root: string;
  readonly settings: LabSettings = {
    capBytes: Infinity,
    limits: {
      fileBytes: 2 ** 30,
      checkpointBytes: 2 ** 30,
      ignored: { fileBytes: 2 ** 20, files: 2000, bytes: 2 ** 25 },
    },
    excluded: [],
    clockMs: 0,
    makeRoom: () => undefined,
  };
  readonly #base: string;
  readonly #stores: Store[] = [];
  readonly context: Context;

  constructor(base: string) {
    this.#base = base;
    this.root = join(base, "root");
    mkdirSync(this.root);
    mkdirSync(join(base, "store"));
    this.context = this.openContext({ create: true });
  }

  get store(): Store {
    return this.context.store;
  }

  /** A context with a connection and caches of its own, as another process would have. */
  openContext({ create = false } = {}): Context {
    const directory = absolutePath(join(this.#base, "store"));
    const store = openStore(directory, { create });
    this.#stores.push(store);
    const { settings } = this;
    const system = createSystem();
    return {
      system: { ...system, now: () => system.now() + settings.clockMs },
      store,
      policy: CHECKPOINT_PRESETS.everything,
      pauses: { current: null, set: () => undefined },
      get capBytes() {
        return settings.capBytes;
      },
      excludedDirectories: () => settings.excluded,
      outside: { isCaptured: false, home: undefined, otherRoots: () => [] },
      coverage: { isNamed: false, coverAll: () => undefined },
      interrupt: undefined,
      progress: undefined,
      ended: [],
      unrecorded: () => [],
      parsers: new Parsers(),
      dropped: [],
      makeRoom: (missingBytes, keep) => settings.makeRoom(missingBytes, keep),
      workingCopy: new WorkingCopy(this.workingCopyOptions(store)),
    };
  }

  /** What the working copy is looked at with, for tests below it. */
  workingCopyOptions(store: Store = this.store): WorkingCopyOptions {
    const { settings } = this;
    return {
      root: absolutePath(this.root),
      objects: store.objects,
      everyLook: () => everyLook({ store, excludedDirectories: () => settings.excluded }),
      cachePath: below(absolutePath(join(this.#base, "store")), "stat-cache"),
      storeId: store.id,
      limits: () => settings.limits,
      commandPath: "/usr/bin:/bin",
      hasCheckpoint: (id, snapshot) => hasCheckpoint(store.db, id, snapshot),
    };
  }

  write(path: string, content: string | Uint8Array): void {
    mkdirSync(dirname(join(this.root, path)), { recursive: true });
    writeFileSync(join(this.root, path), content);
  }

  remove(path: string): void {
    rmSync(join(this.root, path), { recursive: true });
  }

  /** A checkpoint of what is on disk. */
  take(look: Look = {}, context = this.context): Recorded {
    return withCapture(context, look, (capture) =>
      capture.record({ request: {}, description: "of the lab" }),
    );
  }

  /** The files of a snapshot and what is in them. */
  files(snapshot: ObjectHash, objects: ObjectSource = this.store.objects): Record<string, string> {
    const files: Record<string, string> = {};
    for (const { path, entry } of walkTree(objects, snapshot))
      if (entry.kind === "file" || entry.kind === "symlink")
        files[displayPath(path)] = objects.read(entry.hash).toString();
    return files;
  }

  /** The directories of a snapshot and the names of their trees; the root is "". */
  trees(snapshot: ObjectHash, objects: ObjectSource = this.store.objects): Map<string, ObjectHash> {
    const trees = new Map([["", snapshot]]);
    for (const { path, entry } of walkTree(objects, snapshot))
      if (entry.kind === "directory") trees.set(displayPath(path), entry.hash);
    return trees;
  }

  /** How many rows a table has. */
  count(table: "checkpoint" | "object" | "pack" | "lease" | "operation"): number {
    return Number(this.store.db.get(`SELECT count(*) AS n FROM ${table}`)?.["n"]);
  }

  close(): void {
    for (const store of this.#stores) store[Symbol.dispose]();
    rmSync(this.#base, { recursive: true, force: true });
  }
}
