/** Puts together what the operations on one workspace share. */
import { below, type AbsolutePath } from "./fs/absolute-path.ts";
import { cookiePlace } from "./fs/watch-cookie.ts";
import { insertDoubts } from "./history/checkpoints.ts";
import type { Doubt } from "./model/checkpoint.ts";
import { hashFromBytes } from "./model/object-hash.ts";
import { decodeRules, type ExcludedDirectory, type RecordedRules } from "./model/rules.ts";
import type { System } from "./model/system.ts";
import type { Settings } from "./settings.ts";
import type { Store } from "./store/store.ts";
import { makeRoom } from "./upkeep/make-room.ts";
import type { Context } from "./worktree/context.ts";
import { STAGE_PREFIX } from "./worktree/hard-excludes.ts";
import { Worktree } from "./worktree/worktree.ts";

export interface ContextParts {
  readonly root: AbsolutePath;
  readonly store: Store;
  readonly settings: Settings;
  readonly system: System;
  readonly excludedDirectories: () => readonly ExcludedDirectory[];
}

export function createContext({ root, store, settings, system, excludedDirectories }: ContextParts): Context {
  const capBytes = settings["disk.capBytes"];
  return {
    system,
    store,
    capBytes,
    excludedDirectories,
    makeRoom: (missingBytes, keep) => makeRoom(store, system, { capBytes, missingBytes, keep }),
    worktree: new Worktree({
      root,
      cachePath: store.directory === undefined ? undefined : below(store.directory, "stat-cache"),
      storeId: store.id,
      limits: {
        fileBytes: settings["limits.fileBytes"],
        checkpointBytes: settings["limits.checkpointBytes"],
      },
      commandPath: system.commandPath,
      hasCheckpoint: (id, snapshot) =>
        store.db.get(
          "SELECT 1 FROM checkpoint WHERE id = ? AND snapshot = ?",
          id,
          Buffer.from(snapshot, "hex"),
        ) !== undefined,
      watch: {
        rulesOf: (id) => rulesOf(store, id),
        noteDoubts: (id, doubts) => noteDoubts(store, id, doubts),
        cookies: cookiePlace(store.directory, below(root, `${STAGE_PREFIX}cookies`)),
      },
    }),
  };
}

function noteDoubts({ db }: Store, checkpoint: string, doubts: readonly Doubt[]): void {
  db.transaction(() => {
    const seq = db.get("SELECT seq FROM checkpoint WHERE id = ?", checkpoint)?.["seq"];
    if (seq !== undefined) insertDoubts(db, Number(seq), doubts);
  });
}

function rulesOf({ db, objects }: Store, checkpoint: string): RecordedRules | undefined {
  const name = db.get("SELECT rules FROM checkpoint WHERE id = ?", checkpoint)?.["rules"];
  if (!(name instanceof Uint8Array)) return undefined;
  const hash = hashFromBytes(name);
  try {
    return decodeRules(objects.read(hash), hash);
  } catch {
    // damage is for those to report who need what is damaged
    return undefined;
  }
}
