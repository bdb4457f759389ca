/** Puts together what every operation on a workspace needs. */
import { everyLook, type Context } from "../capture/context.ts";
import { WorkingCopy } from "../capture/working-copy.ts";
import { below, type AbsolutePath } from "../fs/absolute-path.ts";
import { cookiePlace } from "../fs/watch-cookie.ts";
import { hasCheckpoint, rulesName } from "../history/checkpoints.ts";
import { addDoubts } from "../history/gaps-and-doubts.ts";
import { coverAll, readCoverage } from "../history/coverage.ts";
import { Parsers } from "../merge/parsers.ts";
import type { WorkspaceId } from "../model/ids.ts";
import type { StepSummary } from "../model/plan.ts";
import { decodeRules, type ExcludedDirectory, type RecordedRules } from "../model/rules.ts";
import type { System } from "../model/system.ts";
import { STAGE_PREFIX } from "../rules/hard-excludes.ts";
import type { WorkspaceSettings } from "../settings/workspace-settings.ts";
import { openRegistry } from "../store/registry.ts";
import { statCacheName, type Store } from "../store/store.ts";
import { makeRoom } from "../upkeep/make-room.ts";
import type { Workspace } from "./interface/workspace.ts";
import type { PlanBook } from "./plan-book.ts";
import type { Runner } from "./runner.ts";

/** How the working copies of a workspace reach each other. */
export interface WorkingCopies {
  /** `$BELAY_HOME`. */
  readonly home: AbsolutePath;
  /** Opens another working copy of the same store, at the place where it is now. */
  open(copy: { workingCopy: number; root: AbsolutePath }): Workspace & { readonly runner: Runner };
}

/** What a workspace in this process is made of. */
export interface LocalWorkspaceParts {
  readonly id: WorkspaceId;
  readonly root: AbsolutePath;
  readonly store: Store;
  readonly settings: WorkspaceSettings;
  readonly system: System;
  readonly notices: readonly string[];
  readonly excludedDirectories: () => readonly ExcludedDirectory[];
  /** Where forks are registered, and how they are opened; left out for a store in memory, which has none. */
  readonly copies?: WorkingCopies | undefined;
  /** Patterns that are left out beside those of ignore files. */
  readonly ignore?: readonly string[] | undefined;
  /** Left out: plans are remembered for this opening alone. */
  readonly plans?: PlanBook | undefined;
}

/** The context of a workspace's operations; its policy and limits are read from the settings each time. */
export function createContext(parts: LocalWorkspaceParts): Context {
  const { root, store, settings, system, excludedDirectories, copies } = parts;
  const dropped: StepSummary[] = [];
  const coverage = coverageOf(store);
  return {
    system,
    store,
    coverage,
    get capBytes() {
      return settings.capBytes;
    },
    get policy() {
      return settings.policy;
    },
    pauses: settings.pauses,
    excludedDirectories,
    outside: {
      get isCaptured() {
        return settings.capturesOutside;
      },
      home: copies?.home,
      otherRoots: () => (copies === undefined ? [] : otherRoots(copies.home, { root, system })),
    },
    interrupt: undefined,
    progress: undefined,
    ended: [],
    unrecorded: () => [],
    parsers: new Parsers(),
    dropped,
    makeRoom: (missingBytes, keep) =>
      void dropped.push(...makeRoom(store, system, { capBytes: settings.capBytes, missingBytes, keep })),
    workingCopy: new WorkingCopy({
      root,
      objects: store.objects,
      everyLook: () =>
        everyLook({ store, excludedDirectories, ignore: parts.ignore, onlyNamed: coverage.isNamed }),
      cachePath:
        store.directory === undefined
          ? undefined
          : below(store.directory, statCacheName(store.db.workingCopy)),
      storeId: store.id,
      limits: () => settings.limits,
      commandPath: system.commandPath,
      hasCheckpoint: (id, snapshot) => hasCheckpoint(store.db, id, snapshot),
      watch: {
        rulesOf: (id) => rulesOf(store, id),
        noteDoubts: (id, doubts) => addDoubts(store.db, id, doubts),
        cookies: cookiePlace(store.directory, below(root, `${STAGE_PREFIX}cookies`)),
      },
    }),
  };
}

/** Read again while it is "named", because another process may have ended that; "all" stays. */
function coverageOf({ db }: Store): Context["coverage"] {
  let isNamed = readCoverage(db) === "named";
  return {
    get isNamed() {
      return isNamed && (isNamed = readCoverage(db) === "named");
    },
    coverAll: () => db.transaction(() => coverAll(db)),
  };
}

function otherRoots(home: AbsolutePath, { root, system }: Pick<LocalWorkspaceParts, "root" | "system">) {
  using registry = openRegistry(home, system.userId);
  return registry
    .listCopies()
    .filter(({ path, endedAt }) => endedAt === null && path !== root)
    .map(({ path }) => path);
}

/** undefined also when the rules are damaged: an operation that needs them reports it. */
function rulesOf({ db, objects }: Store, checkpoint: string): RecordedRules | undefined {
  const name = rulesName(db, checkpoint);
  try {
    return name === undefined ? undefined : decodeRules(objects.read(name), name);
  } catch {
    return undefined;
  }
}
