/** Code Buddy's ghost snapshots: a turn each, as commits that no branch of the user's repository has. */
import type { Ghost, Message, ThreadId } from "@belay/engine";
import type { SyncWorkspace } from "@belay/engine/sync";
import type { DropInOptions } from "../frame/options.ts";
import { begunThread, findThread } from "../frame/references.ts";
import { messageOf, Root } from "../frame/root.ts";
import { AGENT, THREAD } from "./checkpoint.ts";
import { repositoryOf } from "./repository.ts";

/** The state of the files before a turn. */
export interface GhostSnapshot {
  id: string;
  /** The commit: HEAD's where nothing differed from it. */
  commitHash: string;
  description: string;
  timestamp: Date;
  turn: number;
}

/**
 * Every snapshot begins a turn, so `undoLastTurn` takes back exactly what happened since. The repository's index, HEAD and
 * hooks stay as they are. After a restart the snapshots are read from the repository's refs.
 */
export class GhostSnapshotManager {
  readonly #root: Root;
  #isGitRepo = false;
  #lastError: string | null = null;

  constructor(cwd?: string, options: DropInOptions = {}) {
    this.#root = new Root(cwd, options);
  }

  /** Whether the directory is in a git repository; known after `initialize`. */
  get isGitRepo(): boolean {
    return this.#isGitRepo;
  }

  /** Why the last call did nothing; null when it did what it says. */
  get lastError(): string | null {
    return this.#lastError;
  }

  /** Looks for a git repository; stores nothing. */
  async initialize(): Promise<boolean> {
    this.#isGitRepo = repositoryOf(this.#root.directory) !== undefined;
    this.#lastError = this.#isGitRepo ? null : `${this.#root.directory} is not in a git repository.`;
    return this.#isGitRepo;
  }

  /** Saves the files before a turn; null, and why in `lastError`, where there can be no ghost. */
  async createSnapshot(description = "Agent turn"): Promise<GhostSnapshot | null> {
    return this.#trying(null, () => {
      if (repositoryOf(this.#root.directory) === undefined)
        return this.#not(null, `${this.#root.directory} is not in a git repository.`);
      const { workspace } = this.#root;
      const listed = workspace.ghosts();
      if ("missing" in listed) return this.#not(null, listed.missing);
      const { checkpoint } = workspace.turns.prompt(this.#thread(workspace), { content: description });
      if (checkpoint === null) return this.#not(null, "Captures are paused.");
      const ghost = workspace.ghost(checkpoint.id, { description });
      if ("missing" in ghost) return this.#not(null, ghost.missing);
      return this.listSnapshots().find(({ id }) => id === nameOf(ghost)) ?? null;
    });
  }

  /** Brings the files back to a snapshot: exactly, files made since are removed. False, and why in `lastError`, when it cannot. */
  async restoreSnapshot(snapshotId: string): Promise<boolean> {
    return this.#trying(false, () => {
      const ghost = meant(this.#ghosts(), snapshotId);
      if (ghost === undefined) return this.#not(false, `Snapshot not found: ${snapshotId}`);
      const { workspace } = this.#root;
      // the store may have pruned it: then the commit has the files
      const checkpoint = workspace.importGhost(ghost.id);
      if ("missing" in checkpoint) return this.#not(false, checkpoint.missing);
      const { outcome, conflicts } = workspace.restoreTo(checkpoint.id);
      if (outcome !== "conflicts") return true;
      return this.#not(
        false,
        `Changed meanwhile: ${conflicts.map(({ path }) => this.#root.absolute(path)).join(", ")}`,
      );
    });
  }

  /** Takes the last turn out of the files; null when there is none, or when other work is in the way. */
  async undoLastTurn(): Promise<GhostSnapshot | null> {
    return this.#move("undo");
  }

  /** Puts the turn that was last undone back in. */
  async redoLastTurn(): Promise<GhostSnapshot | null> {
    return this.#move("redo");
  }

  /** All snapshots, and where among them the files are. */
  getTimeline(): { snapshots: GhostSnapshot[]; currentIndex: number; canUndo: boolean; canRedo: boolean } {
    const snapshots = this.listSnapshots();
    const workspace = this.#root.known;
    const thread = workspace && findThread(workspace, AGENT, THREAD)?.id;
    if (workspace === undefined || thread === undefined)
      return { snapshots, currentIndex: snapshots.length - 1, canUndo: false, canRedo: false };
    const undone = this.#messages(workspace, thread).filter(({ rolledBack }) => rolledBack).length;
    return {
      snapshots,
      currentIndex: snapshots.length - 1 - undone,
      canUndo: workspace.planUndo({ thread }) !== null,
      canRedo: workspace.planRedo({ thread }) !== null,
    };
  }

  /** All snapshots, oldest first. */
  listSnapshots(): GhostSnapshot[] {
    return this.#snapshots().map(({ snapshot }) => snapshot);
  }

  #snapshots(): { snapshot: GhostSnapshot; ghost: Ghost }[] {
    const ghosts = this.#ghosts().toReversed();
    const workspace = ghosts.length === 0 ? undefined : this.#root.known;
    const thread = workspace && findThread(workspace, AGENT, THREAD)?.id;
    const messages = workspace === undefined || thread === undefined ? [] : this.#messages(workspace, thread);
    // a ghost that is HEAD's own commit has no words: what began its turn has
    const said = new Map(messages.map(({ checkpoint, content }) => [checkpoint, content]));
    return ghosts.map((ghost, index) => ({
      ghost,
      snapshot: {
        id: nameOf(ghost),
        commitHash: ghost.commit,
        description: said.get(ghost.checkpoint) ?? ghost.description,
        timestamp: new Date(ghost.createdAt),
        turn: index + 1,
      },
    }));
  }

  #move(way: "undo" | "redo"): GhostSnapshot | null {
    return this.#trying(null, () => {
      const workspace = this.#root.known;
      const thread = workspace && findThread(workspace, AGENT, THREAD)?.id;
      const plan =
        workspace &&
        thread &&
        (way === "undo" ? workspace.planUndo({ thread }) : workspace.planRedo({ thread }));
      if (workspace === undefined || thread === undefined || !plan)
        return this.#not(null, `There is nothing to ${way}.`);
      // the turn that is moved: the last one that counts, or the first one that does not
      const before = this.#messages(workspace, thread).filter(({ rolledBack }) => !rolledBack).length;
      const { outcome, conflicts } = workspace.restore(plan);
      if (outcome === "conflicts")
        return this.#not(
          null,
          `Changed meanwhile: ${conflicts.map(({ path }) => this.#root.absolute(path)).join(", ")}`,
        );
      const moved = this.#messages(workspace, thread)[way === "undo" ? before - 1 : before];
      return this.#snapshots().find(({ ghost }) => ghost.checkpoint === moved?.checkpoint)?.snapshot ?? null;
    });
  }

  /** What began turns, oldest first. */
  #messages(workspace: SyncWorkspace, thread: ThreadId): Message[] {
    const { messages } = workspace.threads.history(thread, { limit: Number.MAX_SAFE_INTEGER });
    return messages.filter(({ role, checkpoint }) => role === "user" && checkpoint !== null);
  }

  #ghosts(): Ghost[] {
    const listed = this.#root.known?.ghosts() ?? [];
    return "missing" in listed ? [] : listed;
  }

  #thread(workspace: SyncWorkspace): ThreadId {
    return begunThread(workspace, AGENT, THREAD);
  }

  #trying<Result>(nothing: Result, work: () => Result): Result {
    this.#lastError = null;
    try {
      return work();
    } catch (error) {
      return this.#not(nothing, messageOf(error));
    }
  }

  #not<Result>(nothing: Result, reason: string): Result {
    this.#lastError = reason;
    this.#root.log("warning", "ghost", { reason });
    return nothing;
  }
}

/** Code Buddy's form of an id: the time, and the beginning of Belay's id. */
function nameOf({ id, createdAt }: Ghost): string {
  return `${new Date(createdAt).toISOString().replaceAll(/[:.]/g, "-")}-${id.slice(0, 4)}`;
}

/** The ghost of a snapshot's id. One without its checkpoint has the commit's time instead of that: the end of the id tells it. */
function meant(ghosts: readonly Ghost[], id: string): Ghost | undefined {
  const ending = /^\d{4}-\d\d-\d\dT.*-([k-z]{4})$/.exec(id)?.[1];
  const alike = ghosts.filter((each) => ending !== undefined && each.id.startsWith(ending));
  return (
    ghosts.find((each) => nameOf(each) === id || each.id === id) ??
    (alike.length === 1 ? alike[0] : undefined)
  );
}

const instances = new Map<string, GhostSnapshotManager>();

/** The manager of a directory in this process. */
export function getGhostSnapshotManager(cwd?: string, dropIn?: DropInOptions): GhostSnapshotManager {
  const place = cwd ?? process.cwd();
  const known = instances.get(place) ?? new GhostSnapshotManager(cwd, dropIn);
  instances.set(place, known);
  return known;
}

/** Forgets the managers of this process. */
export function resetGhostSnapshotManager(): void {
  instances.clear();
}
