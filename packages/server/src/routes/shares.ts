/** Shares and handoffs: commands make them, in processes of their own. */
import type { Hono } from "hono";
import type { RouteAnswer } from "@belay/protocol";
import { commandOption, commandWord } from "../http/command-word.ts";
import { serveRoute } from "../http/serve-route.ts";
import { threadOf, type Served } from "./served.ts";

/** Serves shares and handoffs. */
export function serveShares(app: Hono, served: Served): void {
  const run = async (ref: string | undefined, words: readonly string[]): Promise<object> => {
    const { workspace } = await served.host.find(ref);
    return served.work.run(workspace.root, words);
  };
  serveRoute(app, "GET /api/shares", async ({ query }) => {
    const words = ["share", "--list", ...commandOption("remote", query.remote)];
    return (await run(query.workspace, words)) as RouteAnswer<"GET /api/shares">;
  });
  serveRoute(app, "POST /api/shares", async ({ query, body }) => {
    const { checkpoint, link, expires, paths = [], includeSecrets } = body;
    const answer = await run(query.workspace, [
      "share",
      commandWord(checkpoint),
      ...(link === true ? ["--link"] : []),
      ...commandOption("expires", expires),
      ...paths.flatMap((one) => commandOption("paths", one)),
      ...(includeSecrets === true ? ["--include-secrets"] : []),
      ...commandOption("remote", query.remote),
    ]);
    // [T17] the one answer that has a link, which every other one leaves out as a secret
    return (link === true ? Response.json(answer) : answer) as never;
  });
  serveRoute(app, "DELETE /api/shares/:id", async ({ params, query }) => {
    const id = commandWord(params.id);
    const words = ["share", `--revoke=${id}`, ...commandOption("remote", query.remote)];
    return (await run(query.workspace, words)) as RouteAnswer<"DELETE /api/shares/:id">;
  });
  serveRoute(app, "POST /api/threads/:id/handoff", async ({ params, query, body }) => {
    type Answer = RouteAnswer<"POST /api/threads/:id/handoff">;
    if (body.take === true) return (await run(query.workspace, takeWords(params.id, body))) as Answer;
    const { workspace } = await served.host.findThread(params.id);
    const words = [
      "handoff",
      await threadOf(workspace, params.id),
      ...(body.transcript === false ? ["--no-transcript"] : []),
      ...commandOption("remote", body.remote),
    ];
    const answer = await served.work.run(workspace.root, words);
    return answer as Answer;
  });
  serveRoute(app, "POST /api/threads/:id/review", async ({ params, query, body }) => {
    const { remote, line, message } = body;
    const thread = [remote, ...(line === undefined ? [] : [line]), params.id].map(commandWord).join("/");
    const words = ["approve", `--thread=${thread}`, ...commandOption("message", message)];
    return (await run(query.workspace, words)) as RouteAnswer<"POST /api/threads/:id/review">;
  });
}

/** What is taken over is asked about first: without the id of its plan nothing is changed. */
function takeWords(
  thread: string,
  { remote, planId }: { readonly remote?: string | undefined; readonly planId?: string | undefined },
): string[] {
  const reference = [...(remote === undefined ? [] : [remote]), thread].map(commandWord).join("/");
  const how = planId === undefined ? ["--dry-run"] : ["--yes", ...commandOption("plan", planId)];
  return ["handoff", `--take=${reference}`, ...how];
}
