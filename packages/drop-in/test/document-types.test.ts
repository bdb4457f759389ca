/**
 * The types that the documents print, copied from them letter by letter, and programs that know nothing else. The
 * compiler proves that the fronts fit; the tests run the programs.
 */
import { join } from "node:path";
import { expect, test } from "vitest";
import * as codeBuddy from "../src/code-buddy.ts";
import { configureDropIn } from "../src/index.ts";
import * as mimir from "../src/mimir.ts";
import * as moldable from "../src/moldable.ts";
import * as supervisor from "../src/supervisor.ts";
import { makePlace } from "./support/place.ts";

namespace Mimir {
  export type AgentRole = string;
  export type AgentStatus = string;
  export interface Snapshot {
    id: string;
    timestamp: Date;
    type: "manual" | "auto-agent" | "auto-checkpoint";
    files: FileSnapshot[];
    conversation: { messageCount: number; lastMessageId: string; artifacts: string[] };
    agent?: { id: string; role: AgentRole; status: AgentStatus; cost: number; tokens: number };
    description?: string;
    tags?: string[];
    size: number;
  }
  export interface FileSnapshot {
    path: string;
    content: Buffer;
    hash: string;
    mimeType?: string;
  }
  export interface ISnapshotManager {
    createSnapshot(
      conversationId: string,
      type: "manual" | "auto-agent" | "auto-checkpoint",
      description?: string,
    ): Promise<Snapshot>;
    createAgentSnapshot(conversationId: string, agentId: string): Promise<Snapshot>;
    listSnapshots(conversationId: string): Promise<Snapshot[]>;
    getSnapshot(conversationId: string, snapshotId: string): Promise<Snapshot>;
    getCurrentSnapshot(conversationId: string): Promise<Snapshot | null>;
    getTimeline(conversationId: string): Promise<SnapshotTimeline>;
    restore(conversationId: string, snapshotId: string, options?: RestoreOptions): Promise<void>;
    restoreFiles(conversationId: string, snapshotId: string, filePaths: string[]): Promise<void>;
    diff(conversationId: string, fromSnapshotId: string, toSnapshotId: string): Promise<SnapshotDiff>;
    prune(conversationId: string, policy: RetentionPolicy): Promise<number>;
    pruneAll(): Promise<number>;
  }
  export interface RestoreOptions {
    filesOnly?: boolean;
    conversationOnly?: boolean;
    selectiveFiles?: string[];
    preview?: boolean;
  }
  export interface SnapshotTimeline {
    snapshots: SnapshotTimelineItem[];
    currentSnapshotId: string;
  }
  export interface SnapshotTimelineItem {
    snapshot: Snapshot;
    agents?: AgentActivity[];
    fileChanges: FileChange[];
  }
  export interface AgentActivity {
    agentId: string;
    role: AgentRole;
    startTime: Date;
    endTime: Date;
    status: AgentStatus;
    snapshotsBefore: string[];
    snapshotsAfter: string[];
  }
  export interface FileChange {
    path: string;
    type: "added" | "modified" | "deleted";
    linesAdded: number;
    linesDeleted: number;
  }
  export interface SnapshotDiff {
    files: FileDiff[];
    conversationDiff: { messagesAdded: number; artifactsAdded: string[] };
  }
  export interface FileDiff {
    path: string;
    type: "added" | "modified" | "deleted";
    diff: string;
    linesAdded: number;
    linesDeleted: number;
  }
  export interface RetentionPolicy {
    keepForHours: number;
    keepMinimum: number;
  }
  export interface MergeConflict {
    path: string;
    agents: string[];
    severity: "low" | "medium" | "high" | "critical";
    autoResolvable: boolean;
    reason: string;
  }
  export interface ReviewIssue {
    severity: "critical" | "high" | "medium" | "low";
    message: string;
    file: string;
    line: number;
    suggestion?: string;
  }
  export interface FixResult {
    success: boolean;
    code?: string;
    totalRetries?: number;
    ignoredIssues?: ReviewIssue[];
    rollback?: boolean;
    manualFix?: boolean;
  }
}

test("[M08] [M12] [M35] Mimir: its interfaces, its timeline as it draws it, its resolver and its loop", async () => {
  const { root, options, write, read } = makePlace({ "src/auth.ts": "one\n" });
  const manager = new mimir.SnapshotManager({ directory: root, ...options });
  const snapshotManager: Mimir.ISnapshotManager = manager;
  const ours: mimir.ISnapshotManager = snapshotManager;
  const conversationId = "conv-1";
  const orchestrator = new mimir.AgentOrchestrator({ snapshotManager: manager, conversationId });
  const thinker = {
    id: "ag-1",
    role: "thinker",
    execute: async () => {
      write("src/auth.ts", "two\n");
      write("src/new.ts", "new\n");
      return {};
    },
  };
  await orchestrator.executeAgent(thinker, "go");
  const last: Mimir.Snapshot = await ours.createSnapshot(conversationId, "manual", "After");

  // TimelineUI
  const draw = (timeline: Mimir.SnapshotTimeline): string[] =>
    timeline.snapshots.flatMap(({ snapshot, agents, fileChanges }) => {
      const icon = snapshot.id === timeline.currentSnapshotId ? "●" : "○";
      const count = (type: string) => fileChanges.filter((f) => f.type === type).length;
      return [
        `${icon} ${snapshot.description ?? `Snapshot ${snapshot.id.slice(0, 8)}`}`,
        ...(agents ?? []).map((agent) => {
          const duration = (agent.endTime.getTime() - agent.startTime.getTime()) / 1000;
          const status = agent.status === "completed" ? "✓" : agent.status === "failed" ? "✗" : "⚠";
          return `├─► ${agent.role} (${duration >= 0}) ${status}`;
        }),
        `Files: ${count("modified")} modified, ${count("added")} added, ${count("deleted")} deleted`,
      ];
    });
  expect(draw(await snapshotManager.getTimeline(conversationId))).toEqual([
    "● After",
    "Files: 1 modified, 1 added, 0 deleted",
    expect.stringMatching(/^○ /),
    "├─► thinker (true) ✓",
    "Files: 0 modified, 0 added, 0 deleted",
  ]);

  const [newest, before] = await snapshotManager.listSnapshots(conversationId);
  const compared: Mimir.SnapshotDiff = await snapshotManager.diff(conversationId, before!.id, newest!.id);
  expect(compared.files.map(({ path, type, linesAdded }) => [path, type, linesAdded])).toEqual([
    ["src/auth.ts", "modified", 1],
    ["src/new.ts", "added", 1],
  ]);
  const selected: Mimir.RestoreOptions = { selectiveFiles: ["src/auth.ts"], filesOnly: true };
  await snapshotManager.restore(conversationId, before!.id, selected);
  expect([read("src/auth.ts"), read("src/new.ts")]).toEqual(["one\n", "new\n"]);
  await snapshotManager.restoreFiles(conversationId, last.id, ["src/auth.ts"]);
  expect(read("src/auth.ts")).toBe("two\n");

  const severity: mimir.ConflictSeverity = mimir.ConflictSeverity.HIGH;
  const conflict: Mimir.MergeConflict = {
    path: "src/auth.ts",
    agents: ["ag-1", "ag-2"],
    severity,
    autoResolvable: false,
    reason: "Overlapping logic changes",
  };
  const ui = {
    show: async (conflicts: Mimir.MergeConflict[]) =>
      conflicts.map(({ path }) => ({ path, resolution: "user", content: "three\n" })),
  };
  const resolution = await new mimir.MergeConflictResolver({ ui }).resolveConflicts([conflict]);
  expect(resolution).toMatchObject({
    autoResolved: [],
    mergerResolved: [],
    userResolved: [{ path: "src/auth.ts", content: "three\n" }],
    success: false,
  });

  const issue: Mimir.ReviewIssue = { severity: "low", message: "no semicolon", file: "a.ts", line: 1 };
  const loop = new mimir.ReviewerAutoFixLoop({
    snapshotManager: manager,
    conversationId,
    config: { agentOrchestration: { autoFix: { enabled: true, maxTotalRetries: 10 } } },
    ui: { prompt: async () => "m" },
    getFixer: async () => ({ fixIssues: async (code) => `${code};` }),
    getReviewer: async () => ({
      review: async (code) => {
        const issues = code.endsWith(";") ? [] : [issue];
        return { hasIssues: issues.length > 0, issues };
      },
    }),
  });
  const fixed: Mimir.FixResult = await loop.fixIssues("let a", [issue]);
  expect(fixed).toEqual({ success: true, code: "let a;", totalRetries: 1 });
  const pruned: number = await snapshotManager.prune(conversationId, { keepForHours: 24, keepMinimum: 5 });
  expect(pruned).toBe(0);
});

namespace Epic {
  export interface Checkpoint {
    id: string;
    sessionId: string;
    type: "auto" | "manual";
    name?: string;
    annotation?: string;
    messageIndex: number;
    toolUseId?: string;
    files: CheckpointFile[];
    git?: { branch: string; commitHash: string; hasUncommittedChanges: boolean; stagedFiles: string[] };
    createdAt: string;
    sizeBytes: number;
  }
  export interface CheckpointFile {
    path: string;
    content: string | null;
    encoding: "utf-8" | "base64";
    mode: number;
    hash: string;
  }
  export interface RollbackPlan {
    checkpointId: string;
    targetCheckpointId?: string;
    operations: RollbackOperation[];
    affectedFiles: string[];
    warnings: string[];
  }
  export interface RollbackOperation {
    type: "restore" | "delete" | "create";
    path: string;
    content?: string;
    fromContent?: string;
  }
}

test("[Y31] [Y39] the supervisor: a program that knows only the printed types stores, loads, plans and rolls back", async () => {
  const { root, options, write, read, exists } = makePlace({ "a.ts": "x\n" });
  const place = { projectDir: root, ...options };
  const manager = new supervisor.CheckpointManager(place);
  const session = { id: "s1", messageIndex: 4 };
  const target: Epic.Checkpoint = await manager.createManualCheckpoint(session, { name: "start" });
  write("a.ts", "y\n");
  write("new.ts", "new\n");
  const engine = new supervisor.RollbackEngine(place);
  // a plan that went through JSON, as a server hands it to its page and gets it back
  const planned: Epic.RollbackPlan = await engine.createRollbackPlan(session, target);
  const plan = JSON.parse(JSON.stringify(planned)) as Epic.RollbackPlan;
  await engine.executeRollback(plan);
  expect([read("a.ts"), exists("new.ts")]).toEqual(["x\n", false]);
  const file: Epic.CheckpointFile = {
    path: "a.ts",
    content: "own\n",
    encoding: "utf-8",
    mode: 0o644,
    hash: "h1",
  };
  const own: Epic.Checkpoint = {
    id: "own-2",
    sessionId: "s1",
    type: "manual",
    messageIndex: 5,
    files: [file, { ...file, path: "gone.ts", content: null, hash: "deleted" }],
    createdAt: "2026-05-01T10:00:00.000Z",
    sizeBytes: 4,
  };
  const storage = new supervisor.CheckpointStorage("s1", place);
  await storage.storeCheckpoint(own);
  const loaded: Epic.Checkpoint = await storage.loadCheckpoint("own-2");
  expect(loaded.files.map(({ path, content }) => [path, content])).toEqual([
    ["a.ts", "own\n"],
    ["gone.ts", null],
  ]);
});

namespace CodeBuddy {
  export interface FileSnapshot {
    path: string;
    content: string;
    existed: boolean;
  }
  export interface Checkpoint {
    id: string;
    timestamp: Date;
    description: string;
    files: FileSnapshot[];
    workingDirectory: string;
  }
}

test("[C01] [C40] Code Buddy: a checkpoint object of the program's own becomes a version, and is checked out", async () => {
  const { root, options, read, enter, write } = makePlace({ "a.ts": "now\n" });
  enter();
  const manager = codeBuddy.getCheckpointManager({}, options);
  const made: CodeBuddy.Checkpoint = manager.checkpointBeforeCreate("b.ts");
  expect(made.files).toMatchObject([{ path: join(root, "b.ts"), content: "", existed: false }]);
  const own: CodeBuddy.Checkpoint = {
    id: "cp_1_own",
    timestamp: new Date(0),
    description: "from elsewhere",
    files: [{ path: join(root, "a.ts"), content: "then\n", existed: true }],
    workingDirectory: root,
  };
  const versioning = codeBuddy.getCheckpointVersioning({}, options);
  const version = versioning.createVersion(own, { name: "then" });
  write("a.ts", "later\n");
  expect(await versioning.checkout(version.id)).toMatchObject({ success: true });
  expect(read("a.ts")).toBe("then\n");
  codeBuddy.resetCheckpointVersioning();
  codeBuddy.resetCheckpointManager();
});

test("[L14] [L16] Moldable: the commands by name, and the shapes of its files", async () => {
  const { root, options, write } = makePlace({ "src/app/page.tsx": "page\n" });
  configureDropIn(options);
  moldable.configureMoldable({});
  const result: { id: string; messageId: string; fileCount: number; totalBytes: number } =
    await moldable.create_checkpoint("todo", root, "conv-abc123", "msg-xyz789");
  write("src/app/page.tsx", "changed\n");
  const manifest: {
    conversationId: string;
    appId: string;
    createdAt: string;
    updatedAt: string;
    snapshots: {
      id: string;
      messageId: string;
      createdAt: string;
      fileCount: number;
      totalBytes: number;
      hasChanges: boolean;
    }[];
  } = await moldable.get_manifest("todo", "conv-abc123");
  expect(manifest).toMatchObject({
    conversationId: "conv-abc123",
    appId: "todo",
    snapshots: [{ id: result.id, messageId: "msg-xyz789", fileCount: 1, totalBytes: 5, hasChanges: true }],
  });
  const snapshot: {
    appDir: string;
    files: { path: string; hash: string | null; size: number; mode: number; exists: boolean }[];
  } = await moldable.get_snapshot("todo", "conv-abc123", "msg-xyz789");
  expect(snapshot).toMatchObject({
    appDir: root,
    files: [
      {
        path: "src/app/page.tsx",
        hash: expect.stringMatching(/^[0-9a-f]{64}$/),
        size: 5,
        mode: 33188,
        exists: true,
      },
    ],
  });
  expect(await moldable.cleanup_checkpoints("todo", "conv-abc123", 50)).toMatchObject({
    snapshotsDeleted: 0,
  });
  await moldable.delete_app_checkpoints("todo");
});
