/** Remotes: what is known of them, and jobs that exchange something with them. Commands do it, in processes of their own. */
import type { Hono } from "hono";
import { ContractError } from "@belay/protocol/errors";
import type { RouteAnswer, RouteName } from "@belay/protocol";
import { answerJson } from "../http/answer.ts";
import { serveRoute } from "../http/serve-route.ts";
import { Jobs } from "../hosting/jobs.ts";
import type { Served } from "./served.ts";

/** What may be the name of a remote, or of a line: never an option of a command. */
const WORD = /^[\w.@][\w.@/-]{0,199}$/;

/** Serves remotes and jobs. */
export function serveRemotes(app: Hono, served: Served): void {
  const jobs = new Jobs(served.work, Date.now);
  const ask = async <Name extends RouteName>(
    ref: string | undefined,
    words: readonly string[],
  ): Promise<RouteAnswer<Name>> => {
    const { workspace } = await served.host.find(ref);
    return (await served.work.run(workspace.root, words)) as RouteAnswer<Name>;
  };
  serveRoute(app, "GET /api/remotes", ({ query }) =>
    ask<"GET /api/remotes">(query.workspace, ["remote", "list"]),
  );
  serveRoute(app, "GET /api/remotes/:name/lines", ({ params, query }) =>
    ask<"GET /api/remotes/:name/lines">(query.workspace, ["remote", "lines", word(params.name)]),
  );
  serveRoute(app, "GET /api/remotes/:name/lines/:line/checkpoints", ({ params, query }) =>
    ask<"GET /api/remotes/:name/lines/:line/checkpoints">(query.workspace, [
      "remote",
      "lines",
      word(params.name),
      word(params.line),
    ]),
  );
  serveRoute(app, "POST /api/remotes/:name/fetch", ({ params, query, body }) =>
    ask<"POST /api/remotes/:name/fetch">(query.workspace, [
      "open",
      `${word(params.name)}/${word(body.reference)}`,
    ]),
  );
  for (const verb of ["push", "pull", "sync", "verify"] as const)
    serveRoute(app, `POST /api/remotes/:name/${verb}`, async ({ params, query }) => {
      const { workspace } = await served.host.find(query.workspace);
      const name = word(params.name);
      const words = verb === "verify" ? ["remote", "verify", name] : [verb, "--remote", name];
      // accepted, not done
      return answerJson({ job: jobs.start(workspace.root, words) }, 202) as never;
    });
  serveRoute(app, "GET /api/jobs/:id", async ({ params }) => {
    const job = jobs.find(params.id);
    if (job === undefined)
      throw new ContractError("ROUTE_NOT_FOUND", "There is no such job, or it ended long ago.");
    return { job };
  });
}

function word(text: string): string {
  if (WORD.test(text)) return text;
  throw new ContractError("BAD_REQUEST", "That cannot be the name of a remote, a line or a checkpoint.");
}
