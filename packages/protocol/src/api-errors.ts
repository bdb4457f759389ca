/** The rows of the errors that only the HTTP API has. */
import type { ErrorRow } from "./error-row.ts";
import { EXIT } from "./exit-code.ts";

const NOTHING_CHANGED = "Nothing was changed.";
const NOTHING_DONE = "Nothing was done.";

/** Errors of the HTTP API. */
export const API_ROWS = {
  BAD_REQUEST: { exit: EXIT.usage, status: 400, hint: NOTHING_CHANGED },
  WORKSPACE_REQUIRED: {
    exit: EXIT.usage,
    status: 400,
    hint: "Add ?workspace=<id or path>; GET /api/workspaces lists them.",
  },
  ROUTE_NOT_FOUND: { exit: EXIT.usage, status: 404, hint: NOTHING_CHANGED },
  CONFLICTS: {
    exit: EXIT.refused,
    status: 409,
    hint: "Look at the conflicts, or set bestEffort to skip these paths.",
  },
  TOKEN_REQUIRED: { exit: EXIT.failed, status: 401, hint: NOTHING_DONE },
  CODE_REFUSED: { exit: EXIT.failed, status: 401, hint: "`belay ui` opens the page with a new code." },
  PAGE_ENDED: { exit: EXIT.failed, status: 401, hint: "`belay ui` opens the page again." },
  PAGE_REFUSED: {
    exit: EXIT.failed,
    status: 403,
    hint: "This is for the user's own programs, which have the token.",
  },
  PROGRAMS_REFUSED: {
    exit: EXIT.failed,
    status: 403,
    hint: "No program is started over HTTP unless the user's config.json has `runs.http`: true.",
  },
  TOO_MANY_TRIES: { exit: EXIT.failed, status: 429, hint: "Wait a minute, then run `belay ui` again." },
  HOST_REFUSED: { exit: EXIT.failed, status: 403, hint: NOTHING_DONE },
  ORIGIN_REFUSED: { exit: EXIT.failed, status: 403, hint: NOTHING_DONE },
  METHOD_REFUSED: { exit: EXIT.usage, status: 405, hint: NOTHING_DONE },
  BODY_TOO_LARGE: { exit: EXIT.usage, status: 413, hint: NOTHING_CHANGED },
  FILE_TOO_LARGE: {
    exit: EXIT.failed,
    status: 413,
    hint: "`belay export <checkpoint> --tar <file>` writes files of any size.",
  },
  NOT_JSON: { exit: EXIT.usage, status: 415, hint: NOTHING_DONE },
} as const satisfies Readonly<Record<string, ErrorRow<never>>>;
