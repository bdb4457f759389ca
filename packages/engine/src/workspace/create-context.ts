/** Puts together what every operation on a workspace needs. */
import { below, type AbsolutePath } from "../fs/absolute-path.ts";
import { cookiePlace } from "../fs/watch-cookie.ts";
import { insertDoubts } from "../history/checkpoints.ts";
import type { Doubt } from "../model/checkpoint.ts";
import type { WorkspaceId } from "../model/ids.ts";
import { hashFromBytes } from "../model/object-hash.ts";
import type { StepSummary } from "../model/plan.ts";
import { PAUSED, type CheckpointPolicy } from "../model/policy.ts";
import { RETENTION_PRESETS, type RetentionPolicy } from "../model/retention.ts";
import { decodeRules, type ExcludedDirectory, type RecordedRules } from "../model/rules.ts";
import type { System } from "../model/system.ts";
import type { CurrentSettings } from "../settings/current-settings.ts";
import { holdStill } from "../settings/hold-still.ts";
import { CurrentPauses } from "../settings/pauses.ts";
import { checkpointPolicy, type Settings } from "../settings/settings.ts";
import type { Store } from "../store/store.ts";
import { makeRoom } from "../upkeep/make-room.ts";
import type { Context } from "../capture/context.ts";
import { STAGE_PREFIX } from "../rules/hard-excludes.ts";
import { Worktree } from "../capture/worktree.ts";
import type { WorktreeLimits } from "../scan/worktree-options.ts";

export interface LocalWorkspaceParts {
  readonly id: WorkspaceId;
  readonly root: AbsolutePath;
  readonly store: Store;
  readonly settings: CurrentSettings;
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
  const dropped: StepSummary[] = [];
  const capBytes = () => settings.values["disk.capBytes"];
  const pauses = new CurrentPauses(settings.home, parts.id, system.now);
  const isPaused = holdStill(() => pauses.current !== null);
  return {
    system,
    store,
    get capBytes() {
      return capBytes();
    },
    get policy() {
      return isPaused() ? PAUSED : (policy ?? checkpointPolicy(settings.values));
    },
    pauses,
    excludedDirectories,
    interrupt: undefined,
    interrupted: [],
    dropped,
    makeRoom: (missingBytes, keep) =>
      void dropped.push(...makeRoom(store, system, { capBytes: capBytes(), missingBytes, keep })),
    worktree: new Worktree({
      root,
      cachePath: store.directory === undefined ? undefined : below(store.directory, "stat-cache"),
      storeId: store.id,
      limits: () => limitsOf(settings.values),
      commandPath: system.commandPath,
      hasCheckpoint: (known, snapshot) =>
        store.db.get(
          "SELECT 1 FROM checkpoint WHERE id = ? AND snapshot = ?",
          known,
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

function limitsOf(settings: Settings): WorktreeLimits {
  const { fileBytes = Infinity, checkpointBytes = Infinity } = retentionOf(settings);
  return {
    fileBytes: Math.min(settings["limits.fileBytes"], fileBytes),
    checkpointBytes: Math.min(settings["limits.checkpointBytes"], checkpointBytes),
    ignored: {
      fileBytes: settings["limits.ignoredFileBytes"],
      files: settings["limits.ignoredFiles"],
      bytes: settings["limits.ignoredBytes"],
    },
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
