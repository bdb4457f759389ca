/** Code Buddy's rewind points: the files, the conversation, both, or a branch from there. */
import { join } from "node:path";
import type { Checkpoint as Taken } from "@belay/engine";
import type { DropInOptions } from "../frame/options.ts";
import { messageOf, Root } from "../frame/root.ts";
import { adopt } from "./adopt.ts";
import { rewindTo } from "./rewind-to.ts";

/** What goes back: the conversation, the files, both, or nothing, and a branch begins there instead. */
export type RewindMode = "conversation" | "code" | "full" | "fork";

/** A place to go back to. */
export interface RewindPoint {
  id: string;
  timestamp: Date;
  description: string;
  turnIndex: number;
  messages: unknown[];
  checkpointId: string;
}

/** What a rewind did. */
export interface RewindResult {
  success: boolean;
  mode: RewindMode;
  restoredTurn?: number;
  restoredFiles?: string[];
  branchId?: string;
  error?: string;
}

/** Remembers points of this process; the states they lead to are in the store. */
export class RewindManager {
  readonly #root: Root;
  readonly #points = new Map<string, { point: RewindPoint; taken: Taken }>();
  #made = 0;

  constructor(options: DropInOptions = {}) {
    this.#root = new Root(undefined, options);
  }

  /** Remembers a point: a checkpoint of the store, or else the given files, which are imported. Paths may be absolute. */
  createRewindPoint(
    conversation: { messages: unknown[]; turnIndex: number },
    files: { checkpointId: string; files: Map<string, string> },
    description = `Turn ${conversation.turnIndex}`,
  ): string {
    this.#made += 1;
    const id = `rw-${this.#made}`;
    const timestamp = new Date();
    const taken = adopt(this.#root, {
      id: files.checkpointId,
      timestamp,
      description,
      workingDirectory: this.#root.directory,
      files: [...files.files].map(([path, content]) => ({
        path: join(this.#root.directory, this.#root.insideAll([path])[0]!),
        content,
        existed: true,
      })),
    });
    const { messages, turnIndex } = conversation;
    const { checkpointId } = files;
    this.#points.set(id, {
      point: { id, timestamp, description, turnIndex, messages: [...messages], checkpointId },
      taken,
    });
    return id;
  }

  /** Goes back. The host takes its conversation from the point; the files are put back here, strictly. */
  rewind(pointId: string, mode: RewindMode): RewindResult {
    const found = this.#points.get(pointId);
    if (found === undefined) return { success: false, mode, error: `Rewind point not found: ${pointId}` };
    const { point, taken } = found;
    const turn = { restoredTurn: point.turnIndex };
    if (mode === "conversation") return { success: true, mode, ...turn };
    if (mode === "fork") return this.#fork(pointId, taken, turn);
    const { success, restored, errors } = rewindTo(this.#root, taken);
    if (!success) return { success, mode, error: errors.join("; ") };
    return { success, mode, restoredFiles: restored, ...(mode === "full" && turn) };
  }

  /** The points, oldest first. */
  getRewindPoints(): RewindPoint[] {
    return [...this.#points.values()].map(({ point }) => point);
  }

  /** The newest point. */
  getLatestPoint(): RewindPoint | undefined {
    return this.getRewindPoints().at(-1);
  }

  /** Forgets the points; checkpoints stay. */
  clearHistory(): void {
    this.#points.clear();
  }

  #fork(pointId: string, { id }: Taken, turn: { restoredTurn: number }): RewindResult {
    try {
      const { workspace } = this.#root;
      const taken = new Set(workspace.branches({ deleted: true }).map(({ name }) => name));
      let number = 1;
      while (taken.has(`${pointId}-${number}`)) number += 1;
      const { name: branchId } = workspace.createBranch(`${pointId}-${number}`, { from: id });
      return { success: true, mode: "fork", branchId, ...turn };
    } catch (error) {
      this.#root.log("error", "fork", { reason: messageOf(error) });
      return { success: false, mode: "fork", error: messageOf(error) };
    }
  }
}
