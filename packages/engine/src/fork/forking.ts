/** What making and removing forks needs beside the context of the working copy at hand. */
import type { Context } from "../capture/context.ts";
import type { AbsolutePath } from "../fs/absolute-path.ts";
import type { ForkRow } from "../history/forks.ts";
import { readForkedRoot } from "../history/forks.ts";
import type { Fork, ForkSettings } from "../model/fork.ts";
import type { WorkspaceId } from "../model/ids.ts";
import { displayAbsolute } from "../fs/absolute-path.ts";
import { openRegistry, rootIdentity, type Registry } from "../store/registry.ts";

/** The workspace whose forks they are, and how to reach its other working copies. */
export interface Forking {
  readonly id: WorkspaceId;
  /** `$BELAY_HOME`. */
  readonly home: AbsolutePath;
  readonly settings: ForkSettings;
  /** The id of a working copy among those of all workspaces. */
  copyId(workingCopy: number): string;
  /** Runs work on another working copy of this store, at the place where it is now. */
  inCopy<Result>(
    copy: Pick<ForkRow, "workingCopy" | "root">,
    work: (context: Context) => Promise<Result>,
  ): Promise<Result>;
}

/** Runs work on the registry of workspaces and forks. */
export function withRegistry<Result>(
  { system }: Pick<Context, "system">,
  { home }: Pick<Forking, "home">,
  work: (registry: Registry) => Result,
): Result {
  using registry = openRegistry(home, system.userId);
  return work(registry);
}

/** The root of the workspace, whichever working copy is at hand. */
export function workspaceRoot({ store: { db }, workingCopy }: Context): AbsolutePath {
  return readForkedRoot(db) ?? workingCopy.root;
}

/** Whether the directory of a fork is where its row says. */
export function isForkThere({
  root,
  dev,
  ino,
  birth,
}: Pick<ForkRow, "root" | "dev" | "ino" | "birth">): boolean {
  const found = root === "" ? undefined : rootIdentity(root);
  return found !== undefined && found.dev === dev && found.ino === ino && found.birth === birth;
}

/** A fork as other programs see it. */
export function describeFork(row: ForkRow, { copyId }: Pick<Forking, "copyId">): Fork {
  const { name, files, bytes, bytesOnDisk, dependencies, git, port, method, durationMs } = row;
  const isThere = row.state === "making" || isForkThere(row);
  return {
    id: copyId(row.workingCopy),
    name,
    path: displayAbsolute(row.root),
    branch: row.branchName,
    base: row.base,
    head: row.head,
    state: isThere && row.state !== "spare" ? row.state : "gone",
    method,
    files,
    bytes,
    bytesOnDisk,
    dependencies,
    git,
    port,
    run: row.run,
    durationMs,
    createdAt: row.createdAt,
    removedAt: row.removedAt,
  };
}

/** The variables for everything that Belay starts in a fork. */
export function forkEnvironment(
  context: Context,
  { id, settings }: Forking,
  { name, branchName, port }: ForkRow,
): Record<string, string> {
  const own: Record<string, string> = {
    BELAY_WORKSPACE: id,
    BELAY_ROOT: displayAbsolute(workspaceRoot(context)),
    BELAY_FORK: name,
    BELAY_BRANCH: branchName,
    ...(port === null ? {} : { BELAY_PORT: String(port) }),
  };
  const filled = Object.entries(settings.env).map(([variable, text]) => [
    variable,
    text.replaceAll(
      /\$(?:\{(BELAY_[A-Z]+)\}|(BELAY_[A-Z]+))/g,
      (whole, a?: string, b?: string) => own[a ?? b ?? ""] ?? whole,
    ),
  ]);
  return { ...own, ...Object.fromEntries(filled) };
}
