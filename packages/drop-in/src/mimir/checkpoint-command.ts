/** The slash command `/checkpoint`. */
import { SnapshotManager } from "./conversation-snapshots.ts";
import type { Snapshot } from "./types.ts";

/** What a slash command answers. */
export interface CommandResult {
  success: boolean;
  message?: string;
}

const RESTORE_FLAGS: readonly string[] = ["--files-only", "--conversation-only"];

const USAGE = [
  "/checkpoint create [description]",
  "/checkpoint list",
  "/checkpoint show <id>",
  "/checkpoint restore <id> [--files-only | --conversation-only]",
  "/checkpoint diff <from> <to>",
  "/checkpoint timeline",
  "/checkpoint prune",
].join("\n");

/** Manages the snapshots of a conversation from a chat. */
export class CheckpointCommand {
  readonly name = "checkpoint";
  readonly description = "Manage conversation snapshots";
  readonly #manager: SnapshotManager;

  constructor(manager: SnapshotManager = new SnapshotManager()) {
    this.#manager = manager;
  }

  /** Runs a subcommand; without one it answers with the snapshots and what can be done. */
  async execute(args: string[], context: { conversation: { id: string } }): Promise<CommandResult> {
    const [subcommand, ...rest] = args;
    const { id } = context.conversation;
    try {
      return await this.#run(subcommand, rest, id);
    } catch (error) {
      return { success: false, message: error instanceof Error ? error.message : String(error) };
    }
  }

  async #run(subcommand: string | undefined, args: readonly string[], id: string): Promise<CommandResult> {
    switch (subcommand) {
      case undefined:
        return done(`${await this.#list(id)}\n\n${USAGE}`);
      case "create":
        return done(
          `Created ${lineOf(await this.#manager.createSnapshot(id, "manual", args.join(" ") || undefined))}`,
        );
      case "list":
        return done(await this.#list(id));
      case "show":
        return this.#show(id, args);
      case "restore":
        return this.#restore(id, args);
      case "diff":
        return this.#diff(id, args);
      case "timeline":
        return done(await this.#timeline(id));
      case "prune":
        return done(`Pruned ${await this.#manager.pruneAll()} snapshots`);
      default:
        return { success: false, message: `Unknown subcommand: ${subcommand}` };
    }
  }

  async #list(id: string): Promise<string> {
    const snapshots = await this.#manager.listSnapshots(id);
    return snapshots.length === 0 ? "No snapshots yet." : snapshots.map(lineOf).join("\n");
  }

  async #show(id: string, [snapshotId]: readonly string[]): Promise<CommandResult> {
    if (snapshotId === undefined) return missing("show <id>");
    const snapshot = await this.#manager.getSnapshot(id, snapshotId);
    const { conversation, agent, tags = [], size, files } = snapshot;
    return done(
      [
        lineOf(snapshot),
        `${files.length} files, ${size} bytes, ${conversation.messageCount} messages`,
        ...(agent === undefined ? [] : [`Agent ${agent.id} (${agent.role}): ${agent.status}`]),
        ...(tags.length === 0 ? [] : [`Tags: ${tags.join(", ")}`]),
      ].join("\n"),
    );
  }

  async #restore(id: string, [snapshotId, ...flags]: readonly string[]): Promise<CommandResult> {
    const isKnown = flags.length <= 1 && flags.every((flag) => RESTORE_FLAGS.includes(flag));
    if (snapshotId === undefined || !isKnown) return missing(`restore <id> [${RESTORE_FLAGS.join(" | ")}]`);
    await this.#manager.restore(id, snapshotId, {
      filesOnly: flags.includes("--files-only"),
      conversationOnly: flags.includes("--conversation-only"),
    });
    return done(`Restored to snapshot ${snapshotId}`);
  }

  async #diff(id: string, [from, to]: readonly string[]): Promise<CommandResult> {
    if (from === undefined || to === undefined) return missing("diff <from> <to>");
    const { files } = await this.#manager.diff(id, from, to);
    return done(files.length === 0 ? "No differences." : files.map(({ diff }) => diff).join("\n"));
  }

  async #timeline(id: string): Promise<string> {
    const { snapshots, currentSnapshotId } = await this.#manager.getTimeline(id);
    if (snapshots.length === 0) return "No snapshots yet.";
    return snapshots
      .map(({ snapshot, agents = [], fileChanges }) => {
        const count = (type: string) => fileChanges.filter((change) => change.type === type).length;
        return [
          `${snapshot.id === currentSnapshotId ? "●" : "○"} ${lineOf(snapshot)}`,
          ...agents.map(({ role, startTime, endTime, status }) => {
            const seconds = (endTime.getTime() - startTime.getTime()) / 1000;
            return `    ${role} (${seconds.toFixed(1)}s) ${status}`;
          }),
          `    Files: ${count("modified")} modified, ${count("added")} added, ${count("deleted")} deleted`,
        ].join("\n");
      })
      .join("\n");
  }
}

function lineOf({ id, timestamp, type, description }: Snapshot): string {
  return `${id}  ${timestamp.toISOString()}  ${type}  ${description ?? ""}`.trimEnd();
}

function done(message: string): CommandResult {
  return { success: true, message };
}

function missing(usage: string): CommandResult {
  return { success: false, message: `Usage: /checkpoint ${usage}` };
}
