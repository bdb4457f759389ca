/** Puts together what every operation on a workspace needs. */
import { below, type AbsolutePath } from "./fs/absolute-path.ts";
import type { WorkspaceId } from "./model/ids.ts";
import type { CheckpointPolicy } from "./model/policy.ts";
import { RETENTION_PRESETS, type RetentionPolicy } from "./model/retention.ts";
import type { ExcludedDirectory } from "./model/rules.ts";
import type { System } from "./model/system.ts";
import { checkpointPolicy, type Settings } from "./settings.ts";
import type { Store } from "./store/store.ts";
import { makeRoom } from "./upkeep/make-room.ts";
import type { Context } from "./worktree/context.ts";
import { Worktree } from "./worktree/worktree.ts";

export interface LocalWorkspaceParts {
  readonly id: WorkspaceId;
  readonly root: AbsolutePath;
  readonly store: Store;
  readonly settings: Settings;
  /** Instead of what the settings say. */
  readonly policy?: CheckpointPolicy | undefined;
  readonly system: System;
  readonly notices: readonly string[];
  readonly excludedDirectories: () => readonly ExcludedDirectory[];
}

export function retentionOf(settings: Settings): RetentionPolicy {
  return RETENTION_PRESETS[settings["retention.policy"]]!;
}

export function createContext(parts: LocalWorkspaceParts): Context {
  const { root, store, settings, system, policy, excludedDirectories } = parts;
  const capBytes = settings["disk.capBytes"];
  const { fileBytes = Infinity, checkpointBytes = Infinity } = retentionOf(settings);
  return {
    system,
    store,
    capBytes,
    policy: policy ?? checkpointPolicy(settings),
    excludedDirectories,
    makeRoom: (missingBytes, keep) => makeRoom(store, system, { capBytes, missingBytes, keep }),
    worktree: new Worktree({
      root,
      cachePath: store.directory === undefined ? undefined : below(store.directory, "stat-cache"),
      storeId: store.id,
      limits: {
        fileBytes: Math.min(settings["limits.fileBytes"], fileBytes),
        checkpointBytes: Math.min(settings["limits.checkpointBytes"], checkpointBytes),
      },
      commandPath: system.commandPath,
      hasCheckpoint: (known, snapshot) =>
        store.db.get(
          "SELECT 1 FROM checkpoint WHERE id = ? AND snapshot = ?",
          known,
          Buffer.from(snapshot, "hex"),
        ) !== undefined,
    }),
  };
}
