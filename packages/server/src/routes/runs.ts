/**
 * Runs of agents' programs and loops of fixes. [R100] What starts a program is refused unless the user's settings allow
 * it, and takes names of those settings only: the command that does the work is one of Belay's own.
 */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import type { Workspace } from "@belay/engine";
import { ContractError } from "@belay/protocol/errors";
import type { Hono } from "hono";
import { serveRoute } from "../http/serve-route.ts";
import { diffJson, fixJson, runJson } from "../json/index.ts";
import { defined, inWorkspace, startable, type Served } from "./served.ts";

/** Serves runs and fixes. */
export function serveRuns(app: Hono, served: Served): void {
  const work = <Result>(ref: string | undefined, doing: (workspace: Workspace) => Promise<Result>) =>
    inWorkspace(served, ref, doing);
  serveRoute(app, "GET /api/runs", ({ query }) =>
    work(query.workspace, async ({ runs }) => ({
      runs: (await runs.list(defined({ batch: query.batch }))).map(runJson),
    })),
  );
  serveRoute(app, "GET /api/runs/:id", ({ params, query }) =>
    work(query.workspace, async ({ runs }) => ({ run: runJson(await runs.find(params.id)) })),
  );
  serveRoute(app, "GET /api/runs/:id/log", ({ params, query }) =>
    work(query.workspace, async ({ runs }) => {
      const { log, endedAt } = await runs.find(params.id);
      const { stream = "stdout", after = 0 } = query;
      const ended = endedAt !== null;
      const piece = log === null ? { text: "", next: after } : readPiece(log[stream], after, ended);
      return { ...piece, ended };
    }),
  );
  serveRoute(app, "POST /api/runs", async ({ query, body }) => {
    const { agent, prompt, role, limits = {} } = body;
    const root = await startable(served, body.workspace ?? query.workspace);
    const task = { agent, prompt, ...defined({ role }), limits };
    const input = Buffer.from(JSON.stringify([task]));
    const words = ["agents", "run", "--detach", "--yes", "--tasks", "-"];
    const { runs } = (await served.work.run(root, words, input)) as { runs: { id: string }[] };
    return runNow(served, root, runs[0]!.id);
  });
  serveRoute(app, "POST /api/runs/:id/stop", async ({ params, query, body }) => {
    const root = await rootOf(served, body.workspace ?? query.workspace);
    const { id } = (await runNow(served, root, params.id)).run;
    await served.work.run(root, ["agents", "stop", id]);
    return runNow(served, root, id);
  });
  serveRoute(app, "POST /api/runs/:id/resume", async ({ params, query, body }) => {
    const root = await startable(served, body.workspace ?? query.workspace);
    const { id, agent } = (await runNow(served, root, params.id)).run;
    const input = Buffer.from(JSON.stringify([{ agent, ...defined({ prompt: body.prompt }) }]));
    const words = ["agents", "resume", id, "--detach", "--yes", "--tasks", "-"];
    const { runs } = (await served.work.run(root, words, input)) as { runs: { id: string }[] };
    return runNow(served, root, runs[0]!.id);
  });
  serveFixes(app, served);
}

function serveFixes(app: Hono, served: Served): void {
  serveRoute(app, "GET /api/fixes", ({ query }) =>
    inWorkspace(served, query.workspace, async ({ fixes }) => ({ fixes: (await fixes.list()).map(fixJson) })),
  );
  serveRoute(app, "GET /api/fixes/:id", ({ params, query }) =>
    inWorkspace(served, query.workspace, async ({ fixes }) => ({
      fix: fixJson(await fixes.find(params.id)),
    })),
  );
  serveRoute(app, "POST /api/fixes", async ({ query, body }) => {
    const root = await startable(served, body.workspace ?? query.workspace);
    const agent = body.agent === undefined ? [] : ["--agent", body.agent];
    const words = ["fix", "--review", body.review, "--named", "--detach", "--yes", ...agent];
    const { fix } = (await served.work.run(root, words)) as { fix: { id: string } };
    return fixNow(served, root, fix.id);
  });
  serveRoute(app, "POST /api/fixes/:id/answer", async ({ params, query, body }) => {
    const ref = body.workspace ?? query.workspace;
    // one more attempt starts a program; the other answers do not
    const root = body.choice === "c" ? await startable(served, ref) : await rootOf(served, ref);
    const { id } = (await fixNow(served, root, params.id)).fix;
    try {
      await served.work.run(root, ["fix", "answer", id, body.choice, "--yes"]);
    } catch (error) {
      // after one more attempt the loop may ask again: its state says so
      if (!(error instanceof ContractError && error.code === "CONFIRMATION_REQUIRED")) throw error;
    }
    const answered = await fixNow(served, root, id);
    const { before } = answered.fix;
    if (body.choice !== "v") return answered;
    return { ...answered, diff: before === null ? null : await changedSince(served, root, before) };
  });
}

/** [M56] What changed since before the loop. */
function changedSince(served: Served, root: string, before: string) {
  return inWorkspace(served, root, async (workspace) =>
    diffJson(await workspace.diff({ from: before, detail: "text" })),
  );
}

function runNow(served: Served, root: string, id: string) {
  return inWorkspace(served, root, async ({ runs }) => ({ run: runJson(await runs.find(id)) }));
}

function fixNow(served: Served, root: string, id: string) {
  return inWorkspace(served, root, async ({ fixes }) => ({ fix: fixJson(await fixes.find(id)) }));
}

async function rootOf(served: Served, ref: string | undefined): Promise<string> {
  return (await served.host.find(ref)).workspace.root;
}

const PIECE_BYTES = 256 * 1024;
/** What follows the beginning of a key for longer is none. */
const LONGEST_KEY_BYTES = 20_000;

/** The file is Belay's own: its name comes from the store. */
function readPiece(path: string, after: number, ended: boolean): { text: string; next: number } {
  const file = openSync(path, "r");
  try {
    const size = Math.max(0, Math.min(PIECE_BYTES, fstatSync(file).size - after));
    const buffer = Buffer.alloc(size);
    const piece = buffer.subarray(0, readSync(file, buffer, 0, size, after));
    const bytes = ended && size < PIECE_BYTES ? piece.length : endOfLines(piece);
    return { text: piece.toString("utf8", 0, bytes), next: after + bytes };
  } finally {
    closeSync(file);
  }
}

/** [R168] Pieces are cut between lines, and not inside a key of many lines: half a secret is not recognised as one. */
function endOfLines(piece: Buffer): number {
  const text = piece.toString("latin1");
  const lines = text.slice(0, text.lastIndexOf("\n") + 1);
  const key = lines.lastIndexOf("-----BEGIN ");
  const isOpen = key >= 0 && lines.length - key < LONGEST_KEY_BYTES && lines.indexOf("-----END ", key) === -1;
  const end = isOpen ? lines.lastIndexOf("\n", key) + 1 : lines.length;
  // a line that is longer than a piece is cut all the same
  return end === 0 && piece.length === PIECE_BYTES ? PIECE_BYTES : end;
}
