/** Every use of an API that the documents of the five designs show: the same calls, in the same order. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { EventFactory, Project, VectorStoreManager, VersioningTracker } from "../src/agentsmithy.ts";
import {
  getCheckpointManager,
  getCheckpointVersioning,
  getGhostSnapshotManager,
  getPersistentCheckpointManager,
  resetCheckpointManager,
  resetCheckpointVersioning,
  resetGhostSnapshotManager,
  resetPersistentCheckpointManager,
} from "../src/code-buddy.ts";
import { configureDropIn } from "../src/index.ts";
import {
  AgentOrchestrator,
  CheckpointCommand,
  SnapshotManager,
  SnapshotRetentionManager,
} from "../src/mimir.ts";
import { configureMoldable, invoke } from "../src/moldable.ts";
import {
  CheckpointInterceptor,
  CheckpointManager,
  CheckpointStorage,
  RollbackEngine,
} from "../src/supervisor.ts";
import { makePlace } from "./support/place.ts";

test("[A25] AgentSmithy: creating a dialog", () => {
  const { root, options } = makePlace({ "main.py": "x\n" });
  const project = new Project(root, options);
  const dialog_id = project.create_dialog("My Feature");
  const dialog = project.load_dialogs_index().dialogs.find(({ id }) => id === dialog_id)!;
  expect(dialog["initial_checkpoint"]).toMatch(/^[k-z]{16}$/);
});

test("[A25] AgentSmithy: the tracker, a tool, and the chat service", () => {
  const { root, options, read } = makePlace({ "main.py": "x\n" });
  const project = new Project(root, options);
  const dialog_id = project.create_dialog("My Feature");

  const tracker = new VersioningTracker(root, dialog_id, options);
  const checkpoint = tracker.create_checkpoint("Before user message: ...");
  expect(checkpoint).toMatchObject({ message: "Before user message: ..." });
  tracker.approve_all("Feature complete");
  tracker.reset_to_approved();
  tracker.restore_checkpoint(checkpoint.commit_id);

  // write_file.py (simplified)
  const write_file = (file_path: string, write: () => void) => {
    const tool = new VersioningTracker(root, dialog_id, options);
    tool.start_edit([file_path]);
    try {
      write();
    } catch (error) {
      tool.abort_edit();
      throw error;
    }
    tool.finalize_edit();
  };
  const file_path = join(root, "main.py");
  expect(() =>
    write_file(file_path, () => {
      writeFileSync(file_path, "half");
      throw new Error("no space");
    }),
  ).toThrow("no space");
  expect(read("main.py")).toBe("x\n");
  write_file(file_path, () => writeFileSync(file_path, "whole\n"));
  expect(read("main.py")).toBe("whole\n");

  // chat_service.py (simplified)
  const query = "Create a TODO app with 3 files";
  const before = new VersioningTracker(root, dialog_id, options).create_checkpoint(
    `Before user message: ${query.slice(0, 50)}`,
  );
  const history = project.get_dialog_history(dialog_id);
  history.add_user_message(query, before.commit_id);
  expect(EventFactory.user({ content: query, checkpoint: before.commit_id, dialog_id })).toEqual({
    type: "user",
    content: query,
    checkpoint: before.commit_id,
    dialog_id,
  });
  expect(history.get_messages()[0]!.additional_kwargs.checkpoint).toBe(before.commit_id);
});

test("[A25] AgentSmithy: the session workflow, two sessions approved and given up", () => {
  const { root, options, write, exists } = makePlace({ "README.md": "x\n" });
  const project = new Project(root, options);
  const dialog_id = project.create_dialog("TODO");
  const tracker = new VersioningTracker(root, dialog_id, options);
  const history = project.get_dialog_history(dialog_id);
  const ask = (query: string, files: readonly string[]) => {
    const { commit_id, message } = tracker.create_checkpoint(`Before user message: ${query}`);
    history.add_user_message(query, commit_id);
    for (const file of files) write(file, `# ${query}\n`);
    return message;
  };
  const active = () => project.load_dialogs_index().dialogs[0]!["active_session"];
  expect(active()).toBe("session_1");
  expect(ask("Create a TODO app", ["main.py", "models.py", "tests.py"])).toBe(
    "Before user message: Create a TODO app",
  );
  ask("Add database", ["db.py"]);
  const approved = tracker.approve_all("Initial TODO app");
  expect([approved.new_session, active()]).toEqual(["session_2", "session_2"]);
  ask("Add authentication", ["auth.py"]);
  const reset = tracker.reset_to_approved();
  expect(reset).toMatchObject({ reset_to: approved.approved_commit, new_session: "session_3" });
  expect([active(), exists("auth.py"), exists("db.py"), exists("main.py")]).toEqual([
    "session_3",
    false,
    true,
    true,
  ]);
  expect(project.load_dialogs_index().dialogs[0]!["last_approved_at"]).not.toBeNull();
});

test("[A49] [A52] [A53] AgentSmithy: the example of the index, from the first reading to an edit by hand", async () => {
  const { root, options, write } = makePlace({
    "main.py": "def start_server():\n    pass\n",
    "config.py": "PORT = 8080\n",
  });
  const project = new Project(root, options);
  const tracker = new VersioningTracker(root, project.create_dialog(), options);
  const vectors = new VectorStoreManager(project);
  onTestFinished(() => vectors.close());
  const sources = async (query: string) =>
    (await vectors.similarity_search(query)).map(({ metadata }) => metadata.source);
  // 1. read
  for (const file of ["main.py", "config.py"]) await vectors.index_file(join(root, file));
  const first = vectors.get_indexed_files()["main.py"];
  // 2. replace_in_file
  const { commit_id } = tracker.create_checkpoint("Before user message: Modify main.py");
  write("main.py", "def launch_rocket():\n    pass\n");
  await vectors.reindex_file("main.py");
  expect(vectors.get_indexed_files()["main.py"]).not.toBe(first);
  expect((await sources("launch rocket"))[0]).toBe("main.py");
  // 3. restore
  tracker.restore_checkpoint(commit_id);
  expect((await sources("start server"))[0]).toBe("main.py");
  expect(vectors.get_indexed_files()["main.py"]).toBe(first);
  // 4. and 5. by hand, found before the next message
  write("config.py", "LOGGING_LEVEL = 'debug'\n");
  expect(await vectors.sync_files_if_needed()).toMatchObject({ checked: 2, reindexed: 1, removed: 0 });
  expect((await sources("logging level"))[0]).toBe("config.py");
});

test("[A25] [A29] [A63] AgentSmithy: restore to checkpoint B, then on in the same session", () => {
  const { root, options, write, read } = makePlace({ "main.py": "0\n" });
  const tracker = new VersioningTracker(root, new Project(root, options).create_dialog(), options);
  tracker.create_checkpoint("Before: Add feature X");
  write("main.py", "X\n");
  const b = tracker.create_checkpoint("Before: Add feature Y");
  write("main.py", "XY\n");
  tracker.create_checkpoint("Before: Fix bug");
  write("main.py", "XY, fixed\n");
  expect(tracker.restore_checkpoint(b.commit_id)).toEqual(["main.py"]);
  expect(read("main.py")).toBe("X\n");
  const messages = tracker.list_checkpoints().map(({ message }) => message);
  expect(messages.at(-1)).toBe(`Restored to checkpoint ${b.commit_id.slice(0, 8)}`);
  expect(messages).toContain("Before: Fix bug");
});

test("[C01] [C10] Code Buddy: in-memory checkpoints", () => {
  const { options, write, read, root, enter } = makePlace({ "src/my-file.ts": "before\n" });
  enter();
  const manager = getCheckpointManager({}, options);
  manager.checkpointBeforeEdit("src/my-file.ts", "Before refactoring function X");
  write("src/my-file.ts", "after\n");
  const result = manager.rewindToLast();
  if (!result.success) throw new Error(`Failed to rewind: ${result.errors.join()}`);
  expect(result.restored).toEqual([join(root, "src/my-file.ts")]);
  expect(read("src/my-file.ts")).toBe("before\n");
  expect(manager.formatCheckpointList()).toContain("Before refactoring function X");
  resetCheckpointManager();
});

test("[C17] [C21] Code Buddy: persistent checkpoints", () => {
  const { options, write, read, enter } = makePlace({ a: "before\n" });
  enter();
  const manager = getPersistentCheckpointManager({}, options);
  expect(manager.formatCheckpointList()).toBe("No checkpoints available.");
  const { id } = manager.createCheckpoint("Before attempting complex refactor");
  write("a", "after\n");
  resetPersistentCheckpointManager();
  const result = getPersistentCheckpointManager({}, options).restore(id);
  expect([result.success, result.checkpoint?.description]).toEqual([
    true,
    "Before attempting complex refactor",
  ]);
  expect(read("a")).toBe("before\n");
  resetPersistentCheckpointManager();
});

test("[C53] Code Buddy: versioning, with the manager of the session, in a project that was not protected", async () => {
  const { options, write, read, root, enter } = makePlace({ "index.ts": "one\n" });
  enter();
  const versioning = getCheckpointVersioning({}, options);
  const checkpointManager = getCheckpointManager({}, options);
  await versioning.load();
  const initialCp = checkpointManager.createCheckpoint("Initial project setup");
  const v1 = versioning.createVersion(initialCp, { name: "v1.0", description: "First stable version" });
  versioning.createTag(v1.id, "release-1.0");
  versioning.createBranch("feature/new-ui", v1.id);
  versioning.switchBranch("feature/new-ui");
  write("ui.ts", "new\n");
  const featureCp = checkpointManager.createCheckpoint("Added new UI component");
  const v2 = versioning.createVersion(featureCp, { description: "New UI component added" });
  const diffResult = versioning.diff(v1.id, v2.id);
  expect(diffResult).toMatchObject({ added: [join(root, "ui.ts")], modified: [], deleted: [] });
  expect(await versioning.checkout(v1.id)).toMatchObject({
    success: true,
    restored: [`Deleted: ${join(root, "ui.ts")}`],
  });
  expect(read("index.ts")).toBe("one\n");
  await versioning.save();
  resetCheckpointVersioning();
  resetCheckpointManager();
});

test("[C35] Code Buddy: ghost snapshots", async () => {
  const { root, options, write, read, enter } = makePlace({ "index.ts": "one\n" });
  enter();
  execFileSync("git", ["init", "-q"], { cwd: root, timeout: 30_000 });
  const manager = getGhostSnapshotManager(root, options);
  await manager.initialize();
  if (!manager.isGitRepo) throw new Error("Not in a Git repository, ghost snapshots are disabled.");
  await manager.createSnapshot("Agent turn 1: Implemented feature X");
  write("index.ts", "by the agent\n");
  const undone = await manager.undoLastTurn();
  expect([undone?.description, read("index.ts")]).toEqual(["Agent turn 1: Implemented feature X", "one\n"]);
  const redone = await manager.redoLastTurn();
  expect([redone?.description, read("index.ts")]).toEqual([
    "Agent turn 1: Implemented feature X",
    "by the agent\n",
  ]);
  resetGhostSnapshotManager();
});

test("[Y31] [Y46] [Y50] [Y52] the supervisor: the interceptor before its tools, the plan, the rollback, the storage", async () => {
  const { root, options, write, read, exists } = makePlace({ "a.ts": "x\n", "b.ipynb": "{}\n" });
  const supervisor = { projectDir: root, ...options };
  const manager = new CheckpointManager(supervisor);
  const interceptor = new CheckpointInterceptor(manager);
  const session = { id: "s1", messageIndex: 2 };

  const destructive = [
    ["Edit", { file_path: join(root, "a.ts") }],
    ["Write", { file_path: join(root, "new.ts") }],
    ["Bash", { command: "rm b.ipynb" }],
    ["NotebookEdit", { notebook_path: join(root, "b.ipynb") }],
  ] as const;
  for (const [tool, input] of destructive) await interceptor.beforeToolExecution(session, tool, input);
  await interceptor.beforeToolExecution(session, "Read", { file_path: join(root, "a.ts") });
  const listed = await manager.listCheckpoints("s1");
  expect(listed.map(({ type }) => type)).toEqual(["auto", "auto", "auto", "auto"]);

  const target = await manager.createManualCheckpoint(session, {
    name: "before",
    annotation: "the refactor",
  });
  write("a.ts", "y\n");
  write("new.ts", "new\n");
  execFileSync("rm", [join(root, "b.ipynb")]);
  const engine = new RollbackEngine(supervisor);
  const plan = await engine.createRollbackPlan(session, target);
  expect(plan.operations.map(({ type, path }) => `${type} ${path}`).toSorted()).toEqual([
    "create b.ipynb",
    "delete new.ts",
    "restore a.ts",
  ]);
  expect(plan).toMatchObject({ checkpointId: target.id, warnings: [] });
  expect(plan.affectedFiles.toSorted()).toEqual(["a.ts", "b.ipynb", "new.ts"]);
  expect(plan.operations.find(({ type }) => type === "restore")).toMatchObject({
    content: "x\n",
    fromContent: "y\n",
  });
  await engine.executeRollback(plan);
  expect([read("a.ts"), exists("new.ts"), read("b.ipynb")]).toEqual(["x\n", false, "{}\n"]);

  const storage = new CheckpointStorage("s1", supervisor);
  const loaded = await storage.loadCheckpoint(target.id);
  expect(loaded).toMatchObject({ id: target.id, name: "before", annotation: "the refactor" });
  await storage.storeCheckpoint({
    ...loaded,
    id: "own-1",
    files: [{ path: "a.ts", content: "stored\n", encoding: "utf-8", mode: 420, hash: "any" }],
  });
  expect((await storage.loadCheckpoint("own-1")).files).toMatchObject([
    { path: "a.ts", content: "stored\n" },
  ]);
  await storage.pruneOldCheckpoints(0, 0);
  expect((await manager.listCheckpoints("s1")).map(({ type }) => type)).toContain("manual");
});

test("[L01] [L09] [L15] Moldable: the hook's calls around each message, and a click on restore", async () => {
  const { root, options, write, read, exists } = makePlace({ "index.tsx": "home\n" });
  configureDropIn(options);
  configureMoldable({});
  const app = { appId: "todo", conversationId: "conv-1" };
  const createCheckpoint = (messageId: string) =>
    invoke<{ fileCount: number }>("create_checkpoint", {
      ...app,
      appDir: root,
      messageId,
      modifiedFiles: ["ignored.tsx"],
    });
  await createCheckpoint("A");
  write("button.tsx", "button\n");
  expect(await createCheckpoint("B")).toMatchObject({ messageId: "B", fileCount: 2 });
  write("button.tsx", "red\n");
  write("global.css", "css\n");
  await createCheckpoint("C");
  write("header.tsx", "header\n");
  await createCheckpoint("D");
  const list = await invoke<{ messageId: string; hasChanges: boolean }[]>("list_checkpoints", app);
  expect(list.map(({ messageId, hasChanges }) => [messageId, hasChanges])).toEqual([
    ["A", true],
    ["B", true],
    ["C", true],
    ["D", false],
  ]);
  expect(await invoke("restore_checkpoint", { ...app, messageId: "B" })).toMatchObject({
    filesRestored: 1,
    filesDeleted: 2,
  });
  expect([read("button.tsx"), exists("global.css"), exists("header.tsx")]).toEqual([
    "button\n",
    false,
    false,
  ]);
  expect(await invoke("cleanup_checkpoints", { ...app, keepLastN: 1 })).toMatchObject({
    snapshotsDeleted: 3,
  });
  await invoke("delete_app_checkpoints", { appId: "todo" });
  expect(await invoke("list_checkpoints", app)).toEqual([]);
});

test("[M38] [M41] [M59] [M74] Mimir: before an agent, by hand, the slash command, and retention", async () => {
  const { root, options, write, read } = makePlace({ "src/auth.ts": "one\n" });
  const snapshotManager = new SnapshotManager({ directory: root, ...options });
  const [conversationId, agentId] = ["conv-1", "ag-1"];
  await snapshotManager.createAgentSnapshot(conversationId, agentId);
  await snapshotManager.createSnapshot(conversationId, "manual", "Before refactoring");

  const told: string[] = [];
  const logger = { debug: (text: string) => told.push(text), error: (text: string) => told.push(text) };
  const orchestrator = new AgentOrchestrator({ snapshotManager, conversationId, logger });
  const agent = (execute: () => void) => ({
    id: "ag-2",
    role: "thinker",
    execute: async (task: string) => {
      execute();
      return { text: task };
    },
  });
  expect(
    await orchestrator.executeAgent(
      agent(() => write("src/auth.ts", "two\n")),
      "go",
    ),
  ).toEqual({ text: "go" });
  const failing = agent(() => {
    throw new Error("no");
  });
  await expect(orchestrator.executeAgent(failing, "go")).rejects.toThrow("no");
  expect(told.at(-1)).toMatch(/^Agent ag-2 failed\. Snapshot snap-[k-z]{16} available for rollback\.$/);

  const [newest, , manual] = await snapshotManager.listSnapshots(conversationId);
  const command = new CheckpointCommand(snapshotManager);
  const context = { conversation: { id: conversationId } };
  for (const line of [
    "",
    "list",
    `show ${newest!.id}`,
    `diff ${manual!.id} ${newest!.id}`,
    "timeline",
    `restore ${manual!.id} --conversation-only`,
    `restore ${manual!.id} --files-only`,
    `restore ${manual!.id}`,
    "prune",
  ])
    expect([line, await command.execute(line.split(" ").filter(Boolean), context)]).toMatchObject([
      line,
      { success: true },
    ]);
  expect(read("src/auth.ts")).toBe("one\n");

  const retention = new SnapshotRetentionManager(snapshotManager);
  expect(await retention.pruneConversation(conversationId, { keepForHours: 24, keepMinimum: 5 })).toBe(0);
  expect(await retention.pruneAllConversations()).toBe(0);
});
