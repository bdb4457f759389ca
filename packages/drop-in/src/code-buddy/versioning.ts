/** Code Buddy's versions: on branches, with tags and comparisons. */
import { EventEmitter } from "node:events";
import { userInfo } from "node:os";
import type { Checkpoint as Taken, CheckpointId, Version as Kept } from "@belay/engine";
import type { DropInOptions } from "../frame/options.ts";
import { messageOf, Root } from "../frame/root.ts";
import { adopt } from "./adopt.ts";
import { checkpointOf, take, type Checkpoint, type Rewound } from "./checkpoint.ts";
import { rewindTo } from "./rewind-to.ts";
import { compareVersions, type VersionDiff } from "./version-diff.ts";
import { takenOver, takeOver, versionsFile, writeVersions } from "./versions-file.ts";

/** What is kept with a version. */
export interface VersionMetadata {
  author?: string;
  sessionId?: string;
  toolName?: string;
  /** Labels; `createTag` makes names that find a version. */
  tags: string[];
  custom: Record<string, unknown>;
}

/** A checkpoint that was put on a branch. */
export interface Version {
  id: string;
  name?: string;
  description: string;
  parentId: string | null;
  branchName: string;
  checkpoint: Checkpoint;
  metadata: VersionMetadata;
  createdAt: Date;
}

/** A line of versions. */
export interface Branch {
  name: string;
  /** "" when there is none yet. */
  headVersionId: string;
  createdAt: Date;
  description?: string;
}

/** Where the list for other tools is written, and how many versions a branch keeps. */
export interface VersioningConfig {
  /** `.codebuddy/versions` unless another is given. */
  storageDir?: string;
  maxVersionsPerBranch?: number;
  defaultBranch?: string;
  autoSave?: boolean;
}

/** The branch that every store begins with. */
const FIRST_BRANCH = "main";

/**
 * Versions are in the store at once, and so are tags, which are Belay's, and branches, which are Belay's too:
 * `belay branch` shows them. To switch moves no file; to check a version out does, strictly. Versions that Code Buddy
 * itself made are taken over by `load`, and before anything is written in their place.
 */
export class CheckpointVersioning extends EventEmitter {
  readonly #config: Required<VersioningConfig>;
  readonly #root: Root;

  constructor(
    {
      storageDir = ".codebuddy/versions",
      maxVersionsPerBranch = 100,
      defaultBranch = FIRST_BRANCH,
      autoSave = true,
    }: VersioningConfig = {},
    options: DropInOptions = {},
  ) {
    super();
    this.#config = { storageDir, maxVersionsPerBranch, defaultBranch, autoSave };
    this.#root = new Root(undefined, options);
  }

  /** Puts a checkpoint on the present branch. */
  createVersion(
    checkpoint: Checkpoint,
    options: { name?: string; description?: string; metadata?: Partial<VersionMetadata> } = {},
  ): Version {
    const { name, description, metadata } = options;
    const own = { author: authorName(), tags: [], custom: {}, ...metadata };
    const kept = this.#root.workspace.versions.create({
      checkpoint: adopt(this.#root, checkpoint).id,
      ...(name !== undefined && { name }),
      description: description ?? checkpoint.description,
      metadata: own,
    });
    this.#keepAtMost(this.#config.maxVersionsPerBranch, [kept.branch]);
    const version = this.getVersion(kept.id)!;
    this.#autoSave();
    this.emit("version-created", version);
    return version;
  }

  /** Gives a version a name that finds it. */
  createTag(versionId: string, tagName: string): void {
    const { checkpoint } = this.#expect(versionId);
    if (this.getTags().has(tagName)) throw new Error(`Tag already exists: ${tagName}`);
    this.#root.workspace.tag(checkpoint, tagName);
    this.#autoSave();
    this.emit("tag-created", { tagName, versionId });
  }

  /** Takes a tag away; false when there is none. */
  deleteTag(tagName: string): boolean {
    if (!this.getTags().has(tagName)) return false;
    this.#root.workspace.untag(tagName);
    this.#autoSave();
    return true;
  }

  /** The version of a tag. */
  getVersionByTag(tagName: string): Version | undefined {
    const id = this.getTags().get(tagName);
    return id === undefined ? undefined : this.getVersion(id);
  }

  /** All tags of versions, and their versions. */
  getTags(): Map<string, string> {
    const kept = this.#list();
    const workspace = this.#root.known;
    return new Map(
      kept.flatMap(({ id, checkpoint }) =>
        workspace!.resolve(checkpoint).tags.map((tag) => [tag, id] as const),
      ),
    );
  }

  /** Makes a branch that begins with a version, or with the present one. None begins with one that was taken over. */
  createBranch(name: string, fromVersionId?: string, description?: string): Branch {
    const from = fromVersionId === undefined ? this.#current() : this.#expect(fromVersionId);
    const isOwn = this.#own().some(({ id }) => id === from?.id);
    try {
      this.#root.workspace.createBranch(this.#belays(name), {
        ...(from !== undefined && (isOwn || fromVersionId !== undefined) && { from: from.checkpoint }),
        ...(description !== undefined && { description }),
      });
    } catch (error) {
      if ((error as { code?: string }).code !== "BRANCH_TAKEN") throw error;
      throw new Error(`Branch already exists: ${name}`, { cause: error });
    }
    const branch = this.#branch(name);
    this.#autoSave();
    this.emit("branch-created", branch);
    return branch;
  }

  /** Makes a branch the present one. The files stay as they are. */
  switchBranch(name: string): Branch {
    const branch = this.#branch(name);
    this.#goTo(name);
    this.#autoSave();
    this.emit("branch-switched", branch);
    return branch;
  }

  /** Deletes a branch; its versions are still found by their ids. For 30 days `belay branch` brings it back. */
  deleteBranch(name: string): boolean {
    if (name === this.#config.defaultBranch) throw new Error("Cannot delete default branch");
    if (name === this.getCurrentBranch()) throw new Error("Cannot delete current branch");
    if (!this.#isBelays(name)) return false;
    this.#root.workspace.deleteBranch(this.#belays(name));
    this.#autoSave();
    return true;
  }

  /** Brings the files back to a version: exactly, all of it or nothing. */
  async checkout(versionId: string): Promise<Rewound> {
    const version = this.getVersion(versionId);
    if (version === undefined)
      return { success: false, restored: [], errors: [`Version not found: ${versionId}`] };
    const rewound = rewindTo(this.#root, this.#root.workspace.resolve(versionId));
    if (!rewound.success) rewound.errors.push("Rolled back due to failure");
    this.emit("checkout", version, rewound.restored, rewound.errors);
    return rewound;
  }

  /** Compares two versions, file by file. */
  diff(fromVersionId: string, toVersionId: string): VersionDiff {
    const [from, to] = [this.#find(fromVersionId), this.#find(toVersionId)];
    if (from === undefined || to === undefined) throw new Error("One or both versions not found");
    return compareVersions(this.#root, from.checkpoint, to.checkpoint);
  }

  /** The nearest version that both come from. */
  findCommonAncestor(versionId1: string, versionId2: string): Version | undefined {
    const first = new Set(this.#line(this.#find(versionId1)).map(({ id }) => id));
    const common = this.#line(this.#find(versionId2)).find(({ id }) => first.has(id));
    return common && this.#show(common);
  }

  /**
   * Brings the newest version of a branch into the files and the present branch; one conflict changes nothing. `belay undo` takes
   * it out.
   */
  async merge(
    branchName: string,
    { message }: { message?: string } = {},
  ): Promise<{
    success: boolean;
    version?: Version;
    merged: string[];
    conflicts: string[];
    errors: string[];
  }> {
    const nothing = { success: false, merged: [], conflicts: [] };
    try {
      this.#branch(branchName);
      const { workspace } = this.#root;
      const name = this.#belays(branchName);
      const plan = workspace.planMerge([name], { states: this.#stateOf(name) });
      const conflicts = plan.merge.conflicts.map(({ path }) => this.#root.absolute(path));
      if (conflicts.length > 0) return { ...nothing, conflicts, errors: ["Conflicts: nothing was changed"] };
      const { outcome, plan: carriedOut, newCheckpoint } = workspace.merge(plan);
      const merged = carriedOut.edits.map(({ path }) => this.#root.absolute(path));
      if (outcome === "conflicts")
        return { ...nothing, conflicts: merged, errors: ["Conflicts: nothing was changed"] };
      const done = { success: true, merged, conflicts: [], errors: [] };
      const description = message ?? `Merge branch '${branchName}'`;
      const taken = newCheckpoint === null ? this.#unsaved(description) : workspace.resolve(newCheckpoint);
      if (taken === undefined) return done;
      return { ...done, version: this.createVersion(checkpointOf(this.#root, taken), { description }) };
    } catch (error) {
      this.#root.log("error", "merge", { reason: messageOf(error) });
      return { ...nothing, errors: [messageOf(error)] };
    }
  }

  /** Writes the list of versions for tools that read it, without contents. */
  async save(): Promise<void> {
    this.#write();
  }

  /** Versions are in the store; a list that Code Buddy itself wrote is taken over. One that cannot be read is told. */
  async load(): Promise<void> {
    try {
      const present = takeOver(this.#root, this.#file);
      const isFresh = this.#own().length === 0 && present !== this.getCurrentBranch();
      if (isFresh && this.getBranches().some(({ name }) => name === present)) this.#goTo(present!);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") this.emit("load-error", error);
    }
  }

  /** The versions of a branch, newest first, with those it comes from. */
  getVersionHistory({ limit = 50, branch }: { limit?: number; branch?: string } = {}): Version[] {
    const head = this.#head(branch ?? this.getCurrentBranch());
    return this.#line(head)
      .slice(0, limit)
      .map((kept) => this.#show(kept));
  }

  /** All branches. */
  getBranches(): Branch[] {
    const own = (this.#root.known?.branches() ?? []).map(({ name, createdAt, description }) => ({
      name: this.#shown(name),
      headVersionId: this.#head(this.#shown(name))?.id ?? "",
      createdAt: new Date(createdAt),
      ...(description !== null && { description }),
    }));
    const old = this.#old().filter(({ branch }) => !own.some(({ name }) => name === branch));
    const others = [...Map.groupBy(old, ({ branch }) => branch)].map(([name, [first]]) => ({
      name,
      headVersionId: this.#head(name)?.id ?? "",
      createdAt: new Date(first!.createdAt),
    }));
    return [...own, ...others];
  }

  /** The name of the present branch. */
  getCurrentBranch(): string {
    const current = this.#root.known?.branches().find((branch) => branch.current);
    return current === undefined ? this.#config.defaultBranch : this.#shown(current.name);
  }

  /** The newest version of the present branch. */
  getCurrentVersion(): Version | undefined {
    const kept = this.#current();
    return kept && this.#show(kept);
  }

  /** A version by its id. */
  getVersion(id: string): Version | undefined {
    const kept = this.#find(id);
    return kept && this.#show(kept);
  }

  /** A version in one line. */
  formatVersion({ id, name, description, metadata, createdAt }: Version): string {
    const labels = metadata.tags.length > 0 ? ` [${metadata.tags.join(", ")}]` : "";
    return `${id.slice(0, 10)}${name === undefined ? "" : ` (${name})`} - ${description}${labels} (${createdAt.toLocaleString()})`;
  }

  /** How many there are. */
  getStats(): {
    totalVersions: number;
    totalBranches: number;
    totalTags: number;
    versionsPerBranch: Record<string, number>;
  } {
    const versionsPerBranch: Record<string, number> = {};
    for (const { branch } of this.#list())
      versionsPerBranch[this.#shown(branch)] = (versionsPerBranch[this.#shown(branch)] ?? 0) + 1;
    return {
      totalVersions: this.#list().length,
      totalBranches: this.getBranches().length,
      totalTags: this.getTags().size,
      versionsPerBranch,
    };
  }

  /** Takes the oldest versions of each branch away, but none with a tag and no head; returns how many. */
  prune(keepCount = this.#config.maxVersionsPerBranch): number {
    return this.#keepAtMost(keepCount, [...new Set(this.#own().map(({ branch }) => branch))]);
  }

  /** Forgets its listeners. */
  dispose(): void {
    this.removeAllListeners();
  }

  #keepAtMost(count: number, branches: readonly string[]): number {
    const tagged = new Set(this.getTags().values());
    const heads = new Set(this.getBranches().map(({ headVersionId }) => headVersionId));
    const gone = branches.flatMap((branch) => {
      const versions = this.#own().filter((each) => each.branch === branch);
      return versions.slice(0, Math.max(0, versions.length - count)).map(({ id }) => id);
    });
    const dropped = gone.filter((id) => !tagged.has(id) && !heads.has(id));
    if (dropped.length > 0) this.#root.workspace.versions.remove(dropped);
    return dropped.length;
  }

  /** What was taken over comes before what was made here. */
  #list(): Kept[] {
    const old = this.#old();
    const own = this.#own().map((kept) => ({
      ...kept,
      parent: kept.parent ?? old.findLast(({ branch }) => branch === this.#shown(kept.branch))?.id ?? null,
    }));
    return [...old, ...own];
  }

  #own(): Kept[] {
    return this.#root.known?.versions.list() ?? [];
  }

  #old(): Kept[] {
    return takenOver(this.#root);
  }

  #find(id: string): Kept | undefined {
    return this.#list().find((kept) => kept.id === id);
  }

  #expect(id: string): Kept {
    const kept = this.#find(id);
    if (kept === undefined) throw new Error(`Version not found: ${id}`);
    return kept;
  }

  #current(): Kept | undefined {
    return this.#head(this.getCurrentBranch());
  }

  #head(branch: string): Kept | undefined {
    const own = this.#isBelays(branch) ? this.#root.known?.versions.head(this.#belays(branch)) : undefined;
    if (own) return this.#find(own.id);
    return this.#old().findLast((each) => each.branch === branch);
  }

  /** Whether Belay has a branch; those of versions that were taken over begin when they are switched to. */
  #isBelays(branch: string): boolean {
    return this.#root.known?.branches().some(({ name }) => name === this.#belays(branch)) ?? false;
  }

  #goTo(branch: string): void {
    const { workspace } = this.#root;
    if (!this.#isBelays(branch)) workspace.createBranch(this.#belays(branch));
    workspace.restore(workspace.planSwitch(this.#belays(branch), { keepFiles: true }));
  }

  #branch(name: string): Branch {
    const branch = this.getBranches().find((each) => each.name === name);
    if (branch === undefined) throw new Error(`Branch not found: ${name}`);
    return branch;
  }

  /** A version and those before it, newest first. */
  #line(from: Kept | undefined): Kept[] {
    const all = new Map(this.#list().map((kept) => [kept.id, kept]));
    const line: Kept[] = [];
    for (let kept = from && all.get(from.id); kept !== undefined; kept = all.get(kept.parent ?? ""))
      line.push(kept);
    return line;
  }

  #show(kept: Kept): Version {
    const { workspace } = this.#root;
    return {
      id: kept.id,
      ...(kept.name !== null && { name: kept.name }),
      description: kept.description,
      parentId: kept.parent,
      branchName: this.#shown(kept.branch),
      checkpoint: checkpointOf(this.#root, workspace.resolve(kept.checkpoint)),
      metadata: kept.metadata as unknown as VersionMetadata,
      createdAt: new Date(kept.createdAt),
    };
  }

  /** Code Buddy may call the first branch by another name. */
  #shown(name: string): string {
    return name === FIRST_BRANCH ? this.#config.defaultBranch : name;
  }

  #belays(name: string): string {
    return name === this.#config.defaultBranch ? FIRST_BRANCH : name;
  }

  /**
   * [R2601] A branch is what its newest version has, whatever was in the files when it was left: after a checkout that is an
   * older one. A version that was taken over has no more than some files of a state.
   */
  #stateOf(name: string): Map<string, CheckpointId> {
    const { workspace } = this.#root;
    const id = workspace.versions.head(name)?.checkpoint;
    const isWhole = id !== undefined && workspace.resolve(id).origin === null;
    return new Map(isWhole ? [[name, id]] : []);
  }

  /** A checkpoint of files that the present branch has in no version: to switch moves none, so they may be another branch's. */
  #unsaved(description: string): Taken | undefined {
    const from = this.#current()?.checkpoint;
    const { workspace } = this.#root;
    const isSaved = from !== undefined && workspace.diff({ from, detail: "names" }).files.length === 0;
    return isSaved ? undefined : take(this.#root, description, undefined);
  }

  get #file(): string {
    return versionsFile(this.#root, this.#config.storageDir);
  }

  #autoSave(): void {
    if (!this.#config.autoSave) return;
    try {
      this.#write();
    } catch (error) {
      this.#root.log("warning", "versions_not_written", { file: this.#file, reason: messageOf(error) });
    }
  }

  #write(): void {
    writeVersions(this.#root, this.#file, () => ({
      versions: this.#list().map((kept) => {
        const { checkpoint, ...version } = this.#show(kept);
        const { id, timestamp, description, workingDirectory } = checkpoint;
        return [
          kept.id,
          { ...version, checkpoint: { id, timestamp, description, workingDirectory, files: [] } },
        ];
      }),
      branches: this.getBranches().map((branch) => [branch.name, branch]),
      tags: [...this.getTags()],
      currentBranch: this.getCurrentBranch(),
    }));
  }
}

function authorName(): string {
  return process.env["USER"] ?? userInfo().username;
}

let instance: CheckpointVersioning | undefined;

/** The versioning of this process; the configuration counts for the first call. */
export function getCheckpointVersioning(
  config?: VersioningConfig,
  dropIn?: DropInOptions,
): CheckpointVersioning {
  return (instance ??= new CheckpointVersioning(config, dropIn));
}

/** Forgets the versioning of this process. */
export function resetCheckpointVersioning(): void {
  instance?.dispose();
  instance = undefined;
}
