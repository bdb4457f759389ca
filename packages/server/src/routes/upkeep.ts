/** Care of a store: what it takes, dropping, freeing, proving and forgetting. What may take long is done elsewhere. */
import { onceOnly, RETENTION_PRESETS } from "@belay/engine";
import type { RouteAnswer, RouteName } from "@belay/protocol";
import { ContractError } from "@belay/protocol/errors";
import type { Hono } from "hono";
import { serveRoute } from "../http/serve-route.ts";
import { checkpointJson, isoTime, storageJson, unpruneJson } from "../json/index.ts";
import { annotate } from "./checkpoints.ts";
import { inWorkspace, type Served } from "./served.ts";

/** How many files a search describes unless another number is asked for. */
const FOUND_FILES = 200;

/** Serves the routes of upkeep, and those that annotate or drop one checkpoint. */
export function serveUpkeep(app: Hono, served: Served): void {
  serveCheckpoint(app, served);
  servePruning(app, served);
  serveRoute(app, "GET /api/storage", ({ query }) =>
    inWorkspace(served, query.workspace, async (workspace) => storageJson(await workspace.upkeep.stats())),
  );
  serveRoute(app, "GET /api/storage/usage", ({ query }) =>
    elsewhere<"GET /api/storage/usage">(served, query.workspace, ["stats", "--by", query.by]),
  );
  serveRoute(app, "POST /api/gc", ({ query, body }) =>
    elsewhere<"POST /api/gc">(served, query.workspace, ["gc", body.dryRun === true ? "--dry-run" : "--yes"]),
  );
  serveRoute(app, "POST /api/verify", ({ query, body }) =>
    elsewhere<"POST /api/verify">(served, query.workspace, [
      "verify",
      ...(body.full === true ? ["--full"] : []),
    ]),
  );
  serveRoute(app, "GET /api/verify", async ({ query }) => {
    const { workspace } = await served.host.find(query.workspace);
    const work = served.work.underWay(workspace.root, "verify");
    if (work === undefined) return { running: null };
    return { running: { since: isoTime(work.since), done: work.done ?? 0, total: work.total ?? null } };
  });
  serveRoute(app, "GET /api/content", ({ query }) => {
    const { q, text = q, regex, file, at, ignoreCase, history, limit } = query;
    const words = Object.entries({ text, regex, file, at, limit: limit ?? FOUND_FILES }).flatMap(
      ([name, value]) => (value === undefined ? [] : [`--${name}=${value}`]),
    );
    return elsewhere<"GET /api/content">(served, query.workspace, [
      "search",
      ...words,
      ...(ignoreCase === true ? ["--ignore-case"] : []),
      ...(history === true ? ["--history"] : []),
    ]);
  });
  serveRoute(app, "GET /api/doctor", ({ query }) =>
    elsewhere<"GET /api/doctor">(served, query.workspace, ["doctor"]),
  );
  serveRoute(app, "POST /api/forget", async ({ query, body }) => {
    const { path, checkpoint, dryRun = false, sameContent = false, always = false } = body;
    if (!dryRun && body.confirm === undefined)
      throw new ContractError(
        "CONFIRMATION_REQUIRED",
        'Forgetting cannot be undone: send "confirm": "forget". Nothing was changed.',
      );
    const options = [
      dryRun ? "--dry-run" : "--yes",
      ...(sameContent ? ["--same-content"] : []),
      ...(always ? ["--always"] : []),
    ];
    const { workspace } = await served.host.find(query.workspace);
    const named = path?.startsWith("/") === true ? path : `./${path}`;
    const target = path === undefined ? (await workspace.resolve(checkpoint!)).id : named;
    return elsewhere<"POST /api/forget">(served, query.workspace, ["forget", ...options, "--", target]);
  });
}

function serveCheckpoint(app: Hono, served: Served): void {
  serveRoute(app, "PUT /api/checkpoints/:cid", ({ params, query, body }) =>
    inWorkspace(served, query.workspace, async (workspace) => ({
      checkpoint: checkpointJson(await annotate(workspace, params.cid, body), { workspace: workspace.id }),
    })),
  );
  serveRoute(app, "DELETE /api/checkpoints/:cid", ({ params, query }) =>
    inWorkspace(served, query.workspace, async (workspace) => ({
      deleted: (await workspace.upkeep.deleteCheckpoint(params.cid)).id,
    })),
  );
}

function servePruning(app: Hono, served: Served): void {
  serveRoute(app, "GET /api/prune", ({ query }) =>
    elsewhere<"GET /api/prune">(served, query.workspace, ["prune", "--dry-run"]),
  );
  serveRoute(app, "POST /api/prune", ({ query, body }) =>
    inWorkspace(served, query.workspace, async (workspace) => {
      const policy = policyOf(body);
      const { dryRun = false } = body;
      const thread = body.thread === undefined ? undefined : (await workspace.threads.get(body.thread)).id;
      const { pruned, ...report } = await workspace.upkeep.prune({
        dryRun,
        ...(policy && { policy }),
        ...(thread && { thread }),
      });
      const ids = pruned.map(({ id }) => id);
      return { pruned: ids, prunedTotal: ids.length, ...report };
    }),
  );
  serveRoute(app, "POST /api/prune/undo", ({ query }) =>
    inWorkspace(served, query.workspace, async (workspace) =>
      unpruneJson(await workspace.upkeep.unprune(), workspace.id),
    ),
  );
}

/** Runs a command on the workspace that a request names, without keeping other requests waiting. */
async function elsewhere<Name extends RouteName>(
  { host, work }: Served,
  ref: string | undefined,
  words: readonly string[],
): Promise<RouteAnswer<Name>> {
  const { workspace } = await host.find(ref);
  // the command prints the shape of its route
  return (await work.run(workspace.root, words)) as RouteAnswer<Name>;
}

/** Undefined = the one of the settings. */
function policyOf(body: {
  policy?: string | undefined;
  olderThanHours?: number | undefined;
  keepLast?: number | undefined;
}) {
  const { policy, olderThanHours, keepLast } = body;
  if (olderThanHours === undefined && keepLast === undefined)
    return policy === undefined ? undefined : presetOf(policy);
  if (policy !== undefined)
    throw new ContractError("BAD_REQUEST", "Name a policy, or an age or a number. Nothing was pruned.");
  return onceOnly({
    ...(olderThanHours !== undefined && { olderThanMs: olderThanHours * 3_600_000 }),
    ...(keepLast !== undefined && { keepLast }),
  });
}

function presetOf(name: string) {
  if (!Object.hasOwn(RETENTION_PRESETS, name))
    throw new ContractError("BAD_REQUEST", `Unknown policy "${name}". Nothing was pruned.`, {
      facts: { known: Object.keys(RETENTION_PRESETS) },
    });
  return RETENTION_PRESETS[name];
}
