/** The synchronous face: the same engine, whose answers are there when a call returns. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findWorkspaceSync, openWorkspaceSync, type SyncWorkspace } from "@belay/engine/sync";
import { expect, onTestFinished, test } from "vitest";
import { openWorkspace } from "../src/index.ts";

interface Place {
  readonly root: string;
  readonly home: string;
  readonly workspace: SyncWorkspace;
  write(name: string, text: string): void;
  read(name: string): string;
}

function place(): Place {
  const directory = mkdtempSync(join(tmpdir(), "belay-sync-"));
  const [root, home] = [join(directory, "project"), join(directory, "home")];
  openDirectory(root);
  const workspace = openWorkspaceSync(root, { home });
  onTestFinished(() => {
    workspace.close();
    rmSync(directory, { recursive: true, force: true });
  });
  return {
    root,
    home,
    workspace,
    write: (name, text) => writeFileSync(join(root, name), text),
    read: (name) => readFileSync(join(root, name), "utf8"),
  };
}

function openDirectory(root: string): void {
  mkdirSync(root);
  writeFileSync(join(root, "a"), "0\n");
}

test("[R351] a turn, its undo and its redo, without a promise", () => {
  const { workspace, write, read } = place();
  const { id: thread } = workspace.threads.create({ agent: "test", externalId: "one" });
  const { checkpoint } = workspace.turns.prompt(thread, { content: "change it" });
  write("a", "1\n");
  write("b", "new\n");
  workspace.turns.end(thread);
  expect(workspace.undo()).toMatchObject({ outcome: "applied", modified: 1, deleted: 1 });
  expect(read("a")).toBe("0\n");
  expect(workspace.redo()).toMatchObject({ outcome: "applied" });
  expect(read("b")).toBe("new\n");
  const plan = workspace.planRestore(checkpoint!.id);
  expect(workspace.restore(plan)).toMatchObject({ outcome: "applied", restoredTo: checkpoint!.id });
  expect(workspace.diff({ from: checkpoint!.id, detail: "names" }).files).toEqual([]);
  expect([...workspace.files(checkpoint!.id)].map(({ path }) => path)).toEqual(["a"]);
});

test("[R351] both faces see the same history, and find the same workspace", async () => {
  const { root, home, workspace, write } = place();
  write("a", "1\n");
  const { id } = workspace.checkpoint({ name: "here" });
  await using other = await openWorkspace(root, { home });
  expect((await other.resolve("here")).id).toBe(id);
  expect(await other.list()).toEqual(workspace.list());
  const found = findWorkspaceSync(join(root, "nowhere"), { home });
  expect(found.id).toBe(workspace.id);
  found.close();
});

test("[R351] listeners are called after files went back, each until it is taken away", () => {
  const { workspace, write } = place();
  const seen: string[] = [];
  const first = workspace.afterRestore((paths) => seen.push(`first ${paths.join()}`));
  workspace.afterRestore((paths) => seen.push(`second ${paths.join()}`));
  write("a", "1\n");
  workspace.restoreTo("1");
  first();
  write("a", "2\n");
  workspace.restoreTo("1");
  expect(seen).toEqual(["first a", "second a", "second a"]);
});

test("[R351] events are read from a place on", () => {
  const { workspace, write } = place();
  const before = workspace.eventsAfter(0).at(-1)?.seq ?? 0;
  write("a", "1\n");
  const { id } = workspace.checkpoint();
  expect(workspace.eventsAfter(before)).toMatchObject([{ type: "checkpoint_created", checkpoint: { id } }]);
  expect(workspace.eventsAfter(workspace.eventsAfter(0).at(-1)!.seq)).toEqual([]);
});

test("[R351] nothing of the face waits, and no method of it returns a promise", () => {
  const dist = join(import.meta.dirname, "../dist/sync");
  const modules = readdirSync(dist, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".js"),
  );
  expect(modules).toContain(join("workspace", "local-workspace.js"));
  for (const name of modules) {
    const code = readFileSync(join(dist, name), "utf8").replaceAll(/\/\*[^]*?\*\/|\/\/.*/g, "");
    expect(code, name).not.toMatch(/\b(async|await)\b/);
  }
  const { workspace } = place();
  const { id: thread } = workspace.threads.open({ agent: "test" });
  const answers = [
    workspace.status(),
    workspace.upkeep.stats(),
    workspace.upkeep.prune({ dryRun: true }),
    workspace.timeline.rows(),
    workspace.approvals.session(thread),
    workspace.approvals.approve(thread),
    workspace.approvals.reset(thread),
    workspace.branches(),
    workspace.createBranch("x"),
    workspace.planUndo(),
  ];
  for (const answer of answers) expect(answer).not.toBeInstanceOf(Promise);
});
