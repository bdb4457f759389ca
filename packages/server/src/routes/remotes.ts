/** Remotes: what is known of them, and jobs that exchange something with them. Commands do it, in processes of their own. */
import type { Hono } from "hono";
import { ContractError } from "@belay/protocol/errors";
import type { RouteAnswer, RouteName } from "@belay/protocol";
import { answerJson } from "../http/answer.ts";
import { commandOption, commandWord } from "../http/command-word.ts";
import { serveRoute } from "../http/serve-route.ts";
import { Jobs } from "../hosting/jobs.ts";
import type { Served } from "./served.ts";

/** Serves remotes and jobs. */
export function serveRemotes(app: Hono, served: Served): void {
  serveJobs(app, served);
  const ask = async <Name extends RouteName>(
    ref: string | undefined,
    words: readonly string[],
    input?: Uint8Array,
  ): Promise<RouteAnswer<Name>> => {
    const { workspace } = await served.host.find(ref);
    return (await served.work.run(workspace.root, words, input)) as RouteAnswer<Name>;
  };
  serveRoute(app, "GET /api/remotes", ({ query }) =>
    ask<"GET /api/remotes">(query.workspace, ["remote", "list"]),
  );
  serveRoute(app, "POST /api/remotes", ({ query, body }) => {
    const { name, url, records, recoveryFile } = body;
    const options = [...commandOption("records", records), ...commandOption("recovery-file", recoveryFile)];
    // [T17] an invitation is a secret: other programs of this user see the words of a command
    return ask<"POST /api/remotes">(
      query.workspace,
      ["remote", "add", commandWord(name), "-", ...options],
      Buffer.from(url),
    );
  });
  serveRoute(app, "GET /api/remotes/:name", async ({ params, query }) => {
    const { remotes } = await ask<"GET /api/remotes">(query.workspace, ["remote", "list"]);
    const remote = remotes.find(({ name }) => name === params.name);
    if (remote === undefined) throw notFound(params.name);
    return { remote };
  });
  serveRoute(app, "DELETE /api/remotes/:name", ({ params, query }) =>
    ask<"DELETE /api/remotes/:name">(query.workspace, ["remote", "remove", commandWord(params.name)]),
  );
  serveRoute(app, "GET /api/remotes/:name/lines", ({ params, query }) =>
    ask<"GET /api/remotes/:name/lines">(query.workspace, ["remote", "lines", commandWord(params.name)]),
  );
  serveRoute(app, "GET /api/remotes/:name/members", ({ params, query }) =>
    ask<"GET /api/remotes/:name/members">(query.workspace, [
      "remote",
      "keys",
      "list",
      "--remote",
      commandWord(params.name),
    ]),
  );
  serveRoute(app, "GET /api/remotes/:name/lines/:line/checkpoints", ({ params, query }) =>
    ask<"GET /api/remotes/:name/lines/:line/checkpoints">(query.workspace, [
      "remote",
      "lines",
      commandWord(params.name),
      commandWord(params.line),
    ]),
  );
  serveRoute(app, "POST /api/remotes/:name/lines/:line/adopt", ({ params, query }) =>
    ask<"POST /api/remotes/:name/lines/:line/adopt">(query.workspace, [
      "remote",
      "adopt",
      commandWord(params.line),
      "--remote",
      commandWord(params.name),
      "--yes",
    ]),
  );
  serveRoute(app, "POST /api/remotes/:name/fetch", ({ params, query, body }) =>
    ask<"POST /api/remotes/:name/fetch">(query.workspace, [
      "open",
      `${commandWord(params.name)}/${commandWord(body.reference)}`,
    ]),
  );
}

/** Serves what takes as long as a network. */
function serveJobs(app: Hono, served: Served): void {
  const jobs = new Jobs(served.work, Date.now);
  serveRoute(app, "POST /api/remotes/:name/rotate", async ({ params, query, body }) => {
    const { workspace } = await served.host.find(query.workspace);
    const rewrite = body.rewrite === true ? ["--rewrite", "--yes"] : [];
    const words = ["remote", "keys", "rotate", "--remote", commandWord(params.name), ...rewrite];
    return answerJson({ job: jobs.start(workspace.root, words) }, 202) as never;
  });
  for (const verb of ["push", "pull", "sync", "verify", "gc"] as const)
    serveRoute(app, `POST /api/remotes/:name/${verb}`, async ({ params, query }) => {
      const { workspace } = await served.host.find(query.workspace);
      const words = WORDS[verb](commandWord(params.name));
      // accepted, not done
      return answerJson({ job: jobs.start(workspace.root, words) }, 202) as never;
    });
  serveRoute(app, "GET /api/jobs/:id", async ({ params }) => {
    return { job: known(jobs.find(params.id)) };
  });
  serveRoute(app, "DELETE /api/jobs/:id", async ({ params }) => ({ job: known(jobs.stop(params.id)) }));
}

/** The command of each job. */
const WORDS = {
  push: (name: string) => ["push", "--remote", name],
  pull: (name: string) => ["pull", "--remote", name],
  sync: (name: string) => ["sync", "--remote", name],
  verify: (name: string) => ["remote", "verify", name],
  gc: (name: string) => ["remote", "gc", name, "--dry-run"],
} as const;

function known<Job>(job: Job | undefined): Job {
  if (job !== undefined) return job;
  throw new ContractError("ROUTE_NOT_FOUND", "There is no such job, or it ended long ago.");
}

function notFound(name: string): ContractError {
  return new ContractError("REMOTE_NOT_FOUND", `There is no remote "${name}" here. Nothing was changed.`, {
    facts: { remotes: [] },
  });
}
