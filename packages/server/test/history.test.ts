/** The timeline over HTTP: pages, filters, the disk, the steps of a turn, and what is said to bad input. */
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
      now: { changed: 0, working: [] },
      rows: [
        { ref: "T2", agent: "codex", modified: 1, plus: 1, minus: 1, steps: 1, sameAsNow: true },
        { ref: "T1", agent: "claude-code", added: 1, plus: 2, minus: 0, beforeSameAsNow: false },
        { kind: "initial", title: "First checkpoint" },
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
    expect((await project.ok("GET", "/api/history")).now).toMatchObject({ changed: 1 });
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
