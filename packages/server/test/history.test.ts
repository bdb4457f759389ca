/** The timeline over HTTP: pages, filters, the disk, the steps of a turn, and what is said to bad input. */
import { openWorkspace } from "@belay/engine";
import { expect, test } from "vitest";
import { served, type ServedProject } from "./support/served-project.ts";

/** One turn of a thread with one tool call that does `work`. */
async function turn(project: ServedProject, thread: string, prompt: string, work: () => void): Promise<void> {
  const at = `/api/threads/${thread}`;
  const call = { tool: "Write", toolUseId: prompt, description: "a file" };
  await project.ok("POST", `${at}/messages`, { content: prompt });
  await project.ok("POST", `${at}/tools`, { ...call, phase: "before" });
  work();
  await project.ok("POST", `${at}/tools`, { ...call, phase: "after" });
  await project.ok("POST", `${at}/stop`, {});
}

const open = async (project: ServedProject, agent: string): Promise<string> =>
  (await project.ok("POST", "/api/threads", { agent })).thread.id;

test(
  "[R214] [R216] [C63] rows with their counts, page by page, filtered; a turn's steps by seq or by its name",
  served(async (project) => {
    const [claude, codex] = [await open(project, "claude-code"), await open(project, "codex")];
    await turn(project, claude, "one", () => project.write("b.txt", "b\nb\n"));
    await turn(project, codex, "two", () => project.write("a.txt", "two\n"));
    const page = await project.ok("GET", "/api/history");
    expect(page).toMatchObject({
      total: 3,
      next: null,
      now: { changed: 0, first: null, working: [] },
      rows: [
        { ref: "T2", agent: "codex", modified: 1, plus: 1, minus: 1, steps: 1, sameAsNow: true },
        { ref: "T1", agent: "claude-code", added: 1, plus: 2, minus: 0, beforeSameAsNow: false },
        { kind: "initial", title: "Initial checkpoint" },
      ],
    });
    expect(page.days).toMatchObject([{ count: 3 }]);
    const refs = async (query: string) =>
      (await project.ok("GET", `/api/history?${query}`)).rows.map(({ ref }: { ref: string }) => ref);
    const first = await project.ok("GET", "/api/history?limit=1");
    expect(await refs(`limit=1&before=${first.next}`)).toEqual(["T1"]);
    expect(await refs(`after=${page.rows[1].seq}`)).toEqual(["T2"]);
    expect(await refs("agent=claude")).toEqual(["T1"]);
    expect(await refs(`thread=${codex}`)).toEqual(["T2"]);
    expect(await refs("q=file:b.txt")).toEqual(["T1"]);
    expect(await refs(`since=${encodeURIComponent(page.rows[0].at)}`)).toEqual(["T2"]);
    const steps = [
      { tool: "Write", summary: "a file", added: 1, plus: 2, minus: 0, after: expect.any(String) },
    ];
    for (const name of ["T1", page.rows[1].seq])
      expect(await project.ok("GET", `/api/history/${name}/steps`)).toMatchObject({ steps });
    // the resident process sees what a person changes
    project.write("mine.txt", "m\n");
    expect((await project.ok("GET", "/api/history")).now).toMatchObject({ changed: 1, first: "mine.txt" });
  }),
);

test(
  "[R40] bad input is refused: an unknown turn or thread, a limit of none, a time that is none",
  served(async (project) => {
    const refusal = async (path: string) => {
      const { status, body } = await project.call("GET", path);
      return `${status} ${body.error.code}`;
    };
    expect(await refusal("/api/history/T9/steps")).toBe("404 CHECKPOINT_NOT_FOUND");
    expect(await refusal("/api/history?thread=zzzz")).toBe("404 THREAD_NOT_FOUND");
    expect(await refusal("/api/history?limit=0")).toBe("400 BAD_REQUEST");
    expect(await refusal("/api/history?since=yesterday")).toBe("400 BAD_REQUEST");
  }),
);

test(
  "[R310] of turns that overlap, each row and each step has its own changes only",
  served(
    async (project) => {
      const [claude, codex] = [await open(project, "claude-code"), await open(project, "codex")];
      const say = (thread: string, route: string, body: object) =>
        project.ok("POST", `/api/threads/${thread}/${route}`, body);
      const call = async (thread: string, toolUseId: string, work: () => void) => {
        const about = { tool: "Write", toolUseId, description: toolUseId };
        await say(thread, "tools", { ...about, phase: "before" });
        work();
        await say(thread, "tools", { ...about, phase: "after" });
      };
      await say(claude, "messages", { content: "one" });
      await call(claude, "first", () => project.write("claude.txt", "a\n"));
      await turn(project, codex, "two", () => project.write("codex.txt", "b\n"));
      await call(claude, "second", () => project.write("a.txt", "changed\n"));
      await say(claude, "stop", {});
      const { rows } = await project.ok("GET", "/api/history?q=kind:turn");
      const [theirs, own] = rows;
      expect([theirs.ref, own.ref]).toEqual(["T2", "T1"]);
      const paths = async (path: string) =>
        (await project.ok("GET", path)).files.map((file: { path: string }) => file.path);
      expect(await paths(`/api/checkpoints/${own.before}/files/${own.after}`)).toContain("codex.txt");
      expect(await paths("/api/history/T1/changes")).toEqual(["a.txt", "claude.txt"]);
      expect(await paths("/api/history/T2/changes")).toEqual(["codex.txt"]);
      expect(await project.ok("GET", "/api/history/T1/changes")).toMatchObject({
        filesTotal: 2,
        summary: { added: 1, modified: 1, deleted: 0, linesAdded: 2, linesDeleted: 1 },
      });
      const text = await project.ok("GET", "/api/history/T1/changes?detail=text");
      expect(text.files[0].diff).toContain("-one\n+changed\n");
      const { steps } = await project.ok("GET", "/api/history/T1/steps");
      expect(await paths(`/api/history/T1/changes?step=${steps[0].seq}`)).toEqual(["claude.txt"]);
      expect(await paths(`/api/history/T1/changes?step=${steps[1].seq}`)).toEqual(["a.txt"]);
      const one = await project.ok("GET", "/api/history/T1/changes/diff?path=a.txt");
      expect(one.hunks[0].lines.map(({ type, text: line }: any) => type + line)).toEqual([
        "-one",
        "+changed",
      ]);
      const other = await project.ok("GET", "/api/history/T1/changes/diff?path=codex.txt");
      expect(other).toMatchObject({ file: null, hunks: [] });
      const { patchBase64, files } = await project.ok("GET", "/api/history/T1/patch");
      const patch = Buffer.from(patchBase64, "base64").toString();
      expect([files, patch.match(/^diff --git .*/gm)]).toEqual([
        2,
        ["diff --git a/a.txt b/a.txt", "diff --git a/claude.txt b/claude.txt"],
      ]);
      const status = async (path: string) => (await project.call("GET", path)).status;
      expect(await status("/api/history/T9/patch")).toBe(404);
      expect(await status("/api/history/T9/changes")).toBe(404);
      expect(await status("/api/history/T1/changes/diff")).toBe(400);
      expect(await status("/api/history/T1/changes?step=x")).toBe(400);
      expect(await status("/api/history/T1/changes?detail=all")).toBe(400);
    },
    { "a.txt": "one\n" },
  ),
);

test(
  "[R311] turns that were not captured come with the rows around them, and say since when captures fail",
  served(async (project) => {
    const thread = await open(project, "claude-code");
    await turn(project, thread, "one", () => project.write("b.txt", "b\n"));
    const lost = async (prompt: string, at: number) => {
      await using workspace = await openWorkspace(project.project, { home: project.home });
      const { id } = await workspace.threads.get(thread);
      await workspace.threads.noteUncaptured(id, {
        prompt,
        at,
        until: at + 1,
        events: 2,
        problem: "no room",
      });
    };
    expect((await project.ok("GET", "/api/history")).now.failing).toBeNull();
    const began = Date.now();
    await lost("first lost", began);
    await lost("second lost", began + 1000);
    const since = new Date(began).toISOString();
    const failing = await project.ok("GET", "/api/history");
    expect(failing.now.failing).toEqual({ since, problem: "no room" });
    const prompts = (page: { uncaptured: { prompt: string }[] }) =>
      page.uncaptured.map(({ prompt }) => prompt);
    expect(prompts(failing)).toEqual(["second lost", "first lost"]);
    await turn(project, thread, "two", () => project.write("c.txt", "c\n"));
    const first = await project.ok("GET", "/api/history?limit=1");
    expect(first.rows[0].title).toBe("two");
    expect([first.now.failing, prompts(first)]).toEqual([null, []]);
    const second = await project.ok("GET", `/api/history?limit=1&before=${first.next}`);
    expect(prompts(second)).toEqual(["second lost", "first lost"]);
    expect(second.uncaptured[0].after).toBeGreaterThanOrEqual(second.rows[0].seq);
    expect(prompts(await project.ok("GET", `/api/history?before=${second.next}`))).toEqual([]);
    const codex = await open(project, "codex");
    expect(prompts(await project.ok("GET", `/api/history?thread=${codex}`))).toEqual([]);
    expect(prompts(await project.ok("GET", "/api/history?agent=claude"))).toHaveLength(2);
    expect(prompts(await project.ok("GET", "/api/history?q=lost"))).toEqual([]);
  }),
);
