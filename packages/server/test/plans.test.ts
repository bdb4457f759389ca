/** Plans of every kind by one route: what they tell before anything changes, and how they are carried out. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createInvoke } from "../../drop-in/src/moldable-client.ts";
import { served, type ServedProject } from "./support/served-project.ts";

interface Turn {
  readonly thread: string;
  /** The checkpoint before the prompt. */
  readonly before: string;
}

/** A whole turn of an agent in its own thread: a prompt, one tool that does the work, a stop. */
async function turn(project: ServedProject, agent: string, work: () => void): Promise<Turn> {
  const { thread } = await project.ok("POST", "/api/threads", { agent, externalId: agent });
  const at = `/api/threads/${thread.id}`;
  const { checkpoint } = await project.ok("POST", `${at}/messages`, { content: `work of ${agent}` });
  const tool = { tool: "Bash", toolUseId: `${agent}-${checkpoint.id}` };
  await project.ok("POST", `${at}/tools`, { phase: "before", ...tool });
  work();
  await project.ok("POST", `${at}/tools`, { phase: "after", ...tool });
  await project.ok("POST", `${at}/stop`, {});
  return { thread: thread.id, before: checkpoint.id };
}

const plan = async (project: ServedProject, body: object) =>
  (await project.ok("POST", "/api/plans", body)).plan;
const apply = (project: ServedProject, id: string, body: object = {}) =>
  project.ok("POST", `/api/plans/${id}/apply`, body);
const byPath = (files: readonly { path: string }[]) =>
  Object.fromEntries(files.map((file) => [file.path, file]));

test(
  "[R390] what is left out stays, everything else goes back with its directories; it is another request than a choice",
  served(
    async (project) => {
      const { before } = await turn(project, "claude-code", () => {
        project.write("a.txt", "two\n");
        project.write("made/1.txt", "1\n");
        project.write("made/2.txt", "2\n");
        project.write("more/3.txt", "3\n");
      });
      await turn(project, "codex", () => project.write("made/theirs.txt", "codex\n"));
      const restore = { kind: "restore", target: before };
      const shown = await plan(project, { ...restore, without: ["a.txt", "more"] });
      expect(shown.files.map(({ path }: any) => path)).toEqual(["made/1.txt", "made/2.txt"]);
      const both = await project.call("POST", "/api/plans", {
        ...restore,
        without: ["a.txt"],
        paths: ["made"],
      });
      expect([both.status, both.body.error.code]).toEqual([400, "BAD_REQUEST"]);
      await apply(project, shown.id);
      expect([project.read("a.txt"), project.read("more/3.txt")]).toEqual(["two\n", "3\n"]);
      expect(project.read("made/theirs.txt")).toBe("codex\n");
      const rest = await plan(project, { ...restore, exceptThreads: [], without: ["a.txt", "more/3.txt"] });
      await apply(project, rest.id);
      expect([existsSync(project.path("made")), project.read("more/3.txt")]).toEqual([false, "3\n"]);
    },
    { "a.txt": "one\n" },
  ),
);

test(
  "[R230] [R231] [Y14] [Y15] a restore tells each file with its lines and marks, leaves other threads' work alone, and can be undone",
  served(
    async (project) => {
      const claude = await turn(project, "claude-code", () => {
        project.write("a.txt", "one\ntwo\n");
        project.write("both.txt", "claude\n");
        project.write("new.txt", "n\n");
        project.write("package.json", '{ "scripts": { "test": "rm -rf ." } }\n');
        project.remove("old.txt");
      });
      const codex = await turn(project, "codex", () => {
        project.write("docs/flow.md", "flow\n");
        project.write("both.txt", "claude\ncodex\n");
      });
      project.write("a.txt", "one\ntwo\nby hand\n");
      const shown = await plan(project, { kind: "restore", target: claude.before });
      expect(shown.files.map(({ path, change, plus, minus }: any) => [path, change, plus, minus])).toEqual([
        ["new.txt", "delete", 0, 1],
        ["package.json", "change", 1, 1],
        ["a.txt", "change", 0, 2],
        ["both.txt", "change", 1, 2],
        ["old.txt", "create", 1, 0],
      ]);
      const diff = await project.ok("GET", `/api/plans/${shown.id}/diff?path=both.txt`);
      expect(diff.hunks[0].lines.map(({ type, text }: any) => type + text)).toEqual([
        "-claude",
        "-codex",
        "+both",
      ]);
      expect((await project.ok("GET", `/api/plans/${shown.id}/diff?path=docs/flow.md`)).file).toBeNull();
      const files: any = byPath(shown.files);
      expect(files["package.json"].marks).toEqual(["scripts"]);
      expect(files["a.txt"].marks).toEqual(["by hand too"]);
      expect(files["both.txt"]).toMatchObject({
        marks: ["codex too"],
        threads: [claude.thread, codex.thread],
      });
      expect(files["new.txt"]).toMatchObject({ marks: [], threads: [claude.thread] });
      expect(shown.leftAlone).toEqual([
        { thread: codex.thread, agent: "codex", files: [{ path: "docs/flow.md" }], filesTotal: 1 },
      ]);
      const done = await apply(project, shown.id);
      expect(done).toMatchObject({ outcome: "applied", created: 1, modified: 3, deleted: 1 });
      expect(project.read("docs/flow.md")).toBe("flow\n");
      expect(project.read("both.txt")).toBe("both\n");
      expect(project.read("new.txt")).toBeUndefined();
      const back = await plan(project, { kind: "undo" });
      await apply(project, back.id);
      expect(project.read("both.txt")).toBe("claude\ncodex\n");
      expect(project.read("a.txt")).toBe("one\ntwo\nby hand\n");
      expect(project.belay("verify").status).toBe(0);
    },
    {
      "a.txt": "one\n",
      "both.txt": "both\n",
      "old.txt": "old\n",
      "package.json": '{ "scripts": { "test": "vitest" } }\n',
    },
  ),
);

test(
  "[R230] [Y69] [M27] other threads' work goes back where it is chosen: the thread is not excepted, or the file is named",
  served(async (project) => {
    const claude = await turn(project, "claude-code", () => project.write("a.txt", "two\n"));
    await turn(project, "codex", () => {
      project.write("docs/x.md", "x\n");
      project.write("docs/y.md", "y\n");
    });
    const target = claude.before;
    const all = await plan(project, { kind: "restore", target, exceptThreads: [] });
    expect(all.leftAlone).toEqual([]);
    expect(all.files.map(({ path }: any) => path)).toEqual(["docs/x.md", "docs/y.md", "a.txt"]);
    expect(all.otherThreads).toHaveLength(1);
    const one = await plan(project, { kind: "restore", target, paths: ["a.txt", "docs/x.md"] });
    await apply(project, one.id);
    expect(project.read("docs/x.md")).toBeUndefined();
    expect(project.read("docs/y.md")).toBe("y\n");
    expect(project.read("a.txt")).toBe("one\n");
  }),
);

test(
  "[L05] an undo and a revert need no thread, a redo follows, a reset takes out what is pending",
  served(async (project) => {
    const first = await turn(project, "claude-code", () => project.write("a.txt", "two\n"));
    await turn(project, "codex", () => project.write("b.txt", "b\n"));
    const undo = await plan(project, { kind: "undo" });
    expect(undo).toMatchObject({ kind: "undo", steps: [{ agent: "codex", prompt: "work of codex" }] });
    expect(await apply(project, undo.id)).toMatchObject({ outcome: "applied", canRedo: true });
    expect(project.read("b.txt")).toBeUndefined();
    await apply(project, (await plan(project, { kind: "redo" })).id);
    expect(project.read("b.txt")).toBe("b\n");
    const rows = (await project.ok("GET", `/api/threads/${first.thread}/checkpoints`)).checkpoints;
    const target = rows.find(({ kind }: any) => kind === "turn").id;
    await apply(project, (await plan(project, { kind: "revert", target })).id);
    expect(project.read("a.txt")).toBe("one\n");
    project.write("b.txt", "by hand\n");
    const reset = await plan(project, { kind: "reset", thread: first.thread });
    expect(await apply(project, reset.id)).toMatchObject({ newSession: "session_2" });
  }),
);

test(
  "[R42] [R231] [Y16] a plan tells who works now, git, and is refused when the files moved on; bad input is explained",
  served(async (project) => {
    expect(await plan(project, { kind: "undo" })).toBeNull();
    for (const args of [
      ["init", "-qb", "main"],
      ["add", "a.txt"],
    ])
      expect(spawnSync("git", args, { cwd: project.project }).status).toBe(0);
    const { before, thread } = await turn(project, "claude-code", () => project.write("a.txt", "two\n"));
    await project.ok("POST", `/api/threads/${thread}/messages`, { content: "more" });
    const shown = await plan(project, { kind: "restore", target: before });
    expect(shown.working).toEqual([{ thread, agent: "claude-code" }]);
    expect(shown.warnings[0]).toBe(
      "claude-code is working right now. What it writes while you restore stays as it wrote it, and is listed.",
    );
    expect(shown.git).toMatchObject({
      target: { staged: ["a.txt"] },
      now: { branch: "main", staged: ["a.txt"] },
    });
    expect(shown.warnings.at(-1)).toMatch(/staged in git \(1 file\)/);
    project.write("a.txt", "three\n");
    const stale = await project.call("POST", `/api/plans/${shown.id}/apply`, {});
    expect(stale).toMatchObject({ status: 409, body: { error: { code: "PLAN_STALE" } } });
    expect(project.read("a.txt")).toBe("three\n");
    for (const [body, words] of [
      [{ kind: "restore" }, /needs "target"/],
      [{ kind: "reset" }, /needs "thread"/],
      [{ kind: "undo", keepNew: true }, /"keepNew" means nothing/],
      [{ kind: "sideways" }, /invalid/],
    ] as const) {
      const { status, body: answer } = await project.call("POST", "/api/plans", body);
      expect([status, answer.error.code]).toEqual([400, "BAD_REQUEST"]);
      expect(answer.error.message).toMatch(words);
    }
  }),
);

const LINES = Array.from({ length: 30 }, (_, at) => `${at}\n`).join("");

test(
  "[R233] [Y69] one hunk of one file: counted on a plan, refused on other files, undone byte for byte",
  served(
    async (project) => {
      const changed = LINES.replace("2\n", "two\n").replace("27\n", "twenty-seven\n");
      const { before } = await turn(project, "claude-code", () => project.write("f.txt", changed));
      const whole = await plan(project, { kind: "restore", target: before });
      const diff = await project.ok("GET", `/api/plans/${whole.id}/diff?path=f.txt`);
      expect(diff).toMatchObject({ choices: 2, file: { path: "f.txt", linesAdded: 2, linesDeleted: 2 } });
      expect(diff.hunks[1].lines).toContainEqual({ type: "+", text: "27", old: null, new: 28 });
      const chosen = {
        kind: "restore",
        target: before,
        paths: ["*.txt"],
        hunks: [{ path: "f.txt", hunks: [1] }],
        basedOn: whole.id,
      };
      const one = await plan(project, chosen);
      expect(one).toMatchObject({
        hunks: [{ path: "f.txt", hunks: [1] }],
        files: [{ path: "f.txt", change: "change", plus: 1, minus: 1 }],
      });
      await apply(project, one.id);
      expect(project.read("f.txt")).toBe(LINES.replace("2\n", "two\n"));
      const stale = await project.call("POST", "/api/plans", chosen);
      expect(stale).toMatchObject({ status: 409, body: { error: { code: "PLAN_STALE" } } });
      await apply(project, (await plan(project, { kind: "undo" })).id);
      expect(project.read("f.txt")).toBe(changed);
      const part = { kind: "undo", paths: ["f.txt"], hunks: [{ path: "f.txt", hunks: [0] }] };
      await apply(project, (await plan(project, part)).id);
      expect(project.read("f.txt")).toBe(LINES.replace("27\n", "twenty-seven\n"));
      expect(project.belay("verify").status).toBe(0);
    },
    { "f.txt": LINES },
  ),
);

test(
  "[R280] conflicts are decided in the request of a plan; a text has to be there",
  served(async (project) => {
    await turn(project, "claude-code", () => project.write("a.txt", "two\n"));
    project.write("a.txt", "by hand\n");
    expect((await plan(project, { kind: "undo" })).conflicts).toMatchObject([{ path: "a.txt" }]);
    const refused = await project.call("POST", "/api/plans", {
      kind: "undo",
      decisions: [{ path: "a.txt", take: "text" }],
    });
    expect([refused.status, refused.body.error.code]).toEqual([400, "BAD_REQUEST"]);
    const decided = await plan(project, {
      kind: "undo",
      decisions: [{ path: "a.txt", take: "text", text: "mine\n" }],
    });
    expect(decided.conflicts).toEqual([]);
    await apply(project, decided.id);
    expect(project.read("a.txt")).toBe("mine\n");
    await apply(project, (await plan(project, { kind: "undo" })).id);
    expect(project.read("a.txt")).toBe("by hand\n");
  }),
);

test(
  "a choice of nothing is refused, and so is a thread that does not exist: neither is taken for something larger",
  served(async (project) => {
    const { before, thread } = await turn(project, "claude-code", () => project.write("a.txt", "two\n"));
    const refused = async (body: object) => {
      const { status, body: answer } = await project.call("POST", "/api/plans", body);
      return [status, answer.error.code];
    };
    const restore = { kind: "restore", target: before };
    expect(await refused({ ...restore, paths: [] })).toEqual([400, "BAD_REQUEST"]);
    expect(await refused({ ...restore, exceptThreads: ["nosuch"] })).toEqual([404, "THREAD_NOT_FOUND"]);
    const known = await plan(project, { ...restore, exceptThreads: [thread.slice(0, 8)] });
    expect(known.leftAlone).toMatchObject([{ thread, files: [{ path: "a.txt" }] }]);
  }),
);

test(
  "[L01] [L09] [R1406] Moldable's commands over HTTP: its shell need not be a Node program",
  served(async (project) => {
    const app = join(project.base, "app");
    mkdirSync(app);
    const file = join(app, "button.tsx");
    writeFileSync(file, "old\n");
    const invoke = createInvoke(project);
    const about = { appId: "todo", conversationId: "c1" };
    const made = await invoke("create_checkpoint", {
      ...about,
      appDir: app,
      messageId: "A",
      modifiedFiles: [],
    });
    expect(made).toMatchObject({ messageId: "A", fileCount: 1 });
    writeFileSync(file, "new\n");
    writeFileSync(join(app, "made.tsx"), "made\n");
    expect(await invoke("list_checkpoints", about)).toMatchObject([{ messageId: "A", hasChanges: true }]);
    expect(await invoke("restore_checkpoint", { ...about, messageId: "A" })).toMatchObject({
      filesRestored: 1,
      filesDeleted: 1,
    });
    expect([readFileSync(file, "utf8"), existsSync(join(app, "made.tsx"))]).toEqual(["old\n", false]);
    expect(await invoke("delete_app_checkpoints", { appId: "todo" })).toBeNull();
    await expect(invoke("restore_checkpoint", { ...about, messageId: "unknown" })).rejects.toThrow(/unknown/);
    await expect(invoke("format_disk", about)).rejects.toThrow("There is no command format_disk.");
    await expect(
      createInvoke({ url: project.url, token: "x" })("list_checkpoints", about),
    ).rejects.toMatchObject({ code: "TOKEN_REQUIRED" });
  }),
);

test(
  "[Y87] [R844] files outside over HTTP: in the plan, written with a whole restore only, taken back by the safety checkpoint",
  served(
    async (project) => {
      const file = join(project.base, "elsewhere.toml");
      const content = () => readFileSync(file, "utf8");
      writeFileSync(file, "old\n");
      project.belay("config", "outside.capture", "on");
      const { thread } = await project.ok("POST", "/api/threads", { agent: "claude-code", externalId: "a" });
      const tool = { tool: "Write", toolUseId: "t1", paths: [file] };
      const tools = `/api/threads/${thread.id}/tools`;
      const { checkpoint } = await project.ok("POST", tools, { phase: "before", ...tool });
      writeFileSync(file, "new\n");
      await project.ok("POST", tools, { phase: "after", ...tool });

      const restore = { kind: "restore", target: checkpoint.id };
      const left = await plan(project, restore);
      expect(left).toMatchObject({ outside: [{ path: file, type: "restore" }], writesOutside: false });
      expect(await apply(project, left.id)).toMatchObject({ outcome: "unchanged" });
      expect(content()).toBe("new\n");
      const whole = { ...restore, outside: true, exceptThreads: [] };
      for (const part of [
        { exceptThreads: undefined },
        { paths: ["a.txt"] },
        { keepNew: true },
        { hunks: [] },
      ]) {
        const refused = await project.call("POST", "/api/plans", { ...whole, ...part });
        expect([refused.status, refused.body.error.code]).toEqual([400, "BAD_REQUEST"]);
      }
      const preview = `/api/threads/${thread.id}/checkpoints/${checkpoint.id}/rollback/preview?outside=1`;
      expect((await project.call("GET", `${preview}&keepNew=1`)).status).toBe(400);
      expect((await project.ok("GET", preview)).plan).toMatchObject({ writesOutside: true });

      const shown = await plan(project, whole);
      writeFileSync(file, "newer\n");
      expect((await project.call("POST", `/api/plans/${shown.id}/apply`, {})).body.error.code).toBe(
        "PLAN_STALE",
      );
      const again = await plan(project, whole);
      const done = await apply(project, again.id);
      expect(done).toMatchObject({ outcome: "applied", outside: { written: [{ path: file }], skipped: [] } });
      expect(content()).toBe("old\n");
      const back = await plan(project, { ...whole, target: done.safetyCheckpoint });
      await apply(project, back.id);
      expect(content()).toBe("newer\n");
      const forget = (request: object) => project.ok("POST", "/api/forget", { path: file, ...request });
      expect((await forget({ dryRun: true })).checkpoints.length).toBeGreaterThan(1);
      await forget({ confirm: "forget" });
      expect((await plan(project, restore)).outside).toEqual([]);
    },
    { "a.txt": "one\n" },
  ),
);
