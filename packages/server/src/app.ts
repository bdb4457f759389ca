/** The application: the canonical routes and the two reference mounts, over one set of actions. */
import { answerJson } from "./http/answer.ts";
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { BODY_LIMIT_BYTES } from "./http/guard.ts";
import { mountDialogs } from "./mounts/dialogs.ts";
import { mountSessions } from "./mounts/sessions.ts";
import { serveApproval } from "./routes/approval.ts";
import { serveCheckpoints } from "./routes/checkpoints.ts";
import type { Served } from "./routes/served.ts";
import { serveThreads } from "./routes/threads.ts";
import { serveWorkspaces } from "./routes/workspaces.ts";
import type { Log } from "./resident/log.ts";
import { ServerError, STATUS_OF } from "./server-error.ts";
import type { WorkspaceHost } from "./workspace-host.ts";

/** An error as the contract shows it. */
export interface Explained {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  readonly facts: Readonly<Record<string, unknown>>;
}

export type Explain = (error: unknown) => Explained;

/** More routes, from whoever puts the process together. */
export type Extension = (app: Hono, host: WorkspaceHost) => void;

export function createApp(served: Served, explain: Explain, log: Log, extend?: Extension): Hono {
  const app = new Hono();
  app.use(
    bodyLimit({
      maxSize: BODY_LIMIT_BYTES,
      onError: () => {
        throw new ServerError("BODY_TOO_LARGE", 413, "The body is larger than 1 MiB. Nothing was changed.");
      },
    }),
  );
  serveThreads(app, served);
  serveCheckpoints(app, served);
  serveApproval(app, served);
  serveWorkspaces(app, served);
  mountDialogs(app, served);
  mountSessions(app, served);
  extend?.(app, served.host);
  app.notFound(() => {
    throw new ServerError(
      "ROUTE_NOT_FOUND",
      404,
      "There is nothing at this address. `GET /openapi.json` lists what there is.",
    );
  });
  app.onError((error) => {
    const { status, body } = answerTo(error, explain);
    if (status >= 500) log.error("request failed", { error: String(error.stack ?? error) });
    return answerJson(body, status);
  });
  return app;
}

function answerTo(error: Error, explain: Explain): { status: number; body: object } {
  if (error instanceof ServerError) {
    const { code, status, message, facts } = error;
    return {
      status,
      body: { error: { ...facts, code, message, hint: HINTS[code] ?? "Nothing was changed." } },
    };
  }
  const { code, message, hint, facts } = explain(error);
  const status = (STATUS_OF as Readonly<Record<string, number>>)[code] ?? 500;
  return { status, body: { error: { ...facts, code, message, hint } } };
}

const HINTS: Readonly<Record<string, string>> = {
  WORKSPACE_REQUIRED: "Add ?workspace=<id or path>; GET /api/workspaces lists them.",
  WORKSPACE_NOT_FOUND: "GET /api/workspaces lists them; `belay init` protects a directory.",
  THREAD_NOT_FOUND: "GET /api/threads lists the threads of a workspace.",
  CHECKPOINT_NOT_FOUND: "GET …/checkpoints lists the checkpoints of a thread.",
  PLAN_STALE: "Ask for the preview again and use its plan.",
  CONFLICTS: "Look at the conflicts, or ask for bestEffort to leave these paths out.",
};
