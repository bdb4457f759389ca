/** A row says that a person undid it where that is known: in the page, by this process or by another that carries it out. */
import { expect, test } from "vitest";
import { served, type ServedProject } from "./support/served-project.ts";

/** As many as another process is started for. */
const MANY = 500;

async function playTurn(project: ServedProject, files: number): Promise<void> {
  const { thread } = await project.ok("POST", "/api/threads", { agent: "claude-code", title: "Files" });
  await project.ok("POST", `/api/threads/${thread.id}/messages`, { content: "Make files" });
  const call = { tool: "Bash", toolUseId: "call-1" };
  await project.ok("POST", `/api/threads/${thread.id}/tools`, { ...call, phase: "before" });
  for (let file = 0; file < files; file += 1) project.write(`made/${file}.txt`, `${file}\n`);
  await project.ok("POST", `/api/threads/${thread.id}/tools`, { ...call, phase: "after" });
  await project.ok("POST", `/api/threads/${thread.id}/stop`, {});
}

/** Asks as a page does: with a key of its own. */
async function asPage<Result>(project: ServedProject, work: () => Promise<Result>): Promise<Result> {
  const { token } = project;
  const { code } = await project.ok("POST", "/api/pages/codes", {});
  const answer = await fetch(`${project.url}/api/pages`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: project.url, connection: "close" },
    body: JSON.stringify({ code }),
  });
  project.token = ((await answer.json()) as { key: string }).key;
  try {
    return await work();
  } finally {
    project.token = token;
  }
}

async function carryOut(project: ServedProject, kind: "undo" | "redo"): Promise<void> {
  const { plan } = await project.ok("POST", "/api/plans", { kind });
  await project.ok("POST", `/api/plans/${plan.id}/apply`, {});
}

async function turn(project: ServedProject): Promise<{ state: string; undoneBy?: string }> {
  const { rows } = await project.ok("GET", "/api/history?all=1");
  return rows.find(({ kind }: { kind: string }) => kind === "turn");
}

test.for([1, MANY])(
  "[R2369] a turn that made %i files and was undone in the page says so; undone elsewhere it does not",
  { timeout: 180_000 },
  (files) =>
    served(async (project) => {
      await playTurn(project, files);
      await asPage(project, () => carryOut(project, "undo"));
      expect(await turn(project)).toMatchObject({ state: "undone", undoneBy: "page" });
      await asPage(project, () => carryOut(project, "redo"));
      expect(await turn(project)).not.toHaveProperty("undoneBy");
      expect(project.belay("undo", "--yes").status).toBe(0);
      const elsewhere = await turn(project);
      expect(elsewhere).toMatchObject({ state: "undone" });
      expect(elsewhere).not.toHaveProperty("undoneBy");
      await carryOut(project, "redo");
      await carryOut(project, "undo");
      expect(await turn(project)).not.toHaveProperty("undoneBy");
      expect(project.belay("verify").status).toBe(0);
    })(),
);
