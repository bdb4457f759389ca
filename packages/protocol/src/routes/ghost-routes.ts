/** The routes of ghosts: checkpoints that the git repository has as commits. */
import { z } from "zod";
import { text, path, identifier, workspaceQuery, type Route } from "./route-parts.ts";
import * as shapes from "../shapes.ts";

/** The routes of ghosts. */
export const GHOSTS = {
  "GET /api/ghosts": {
    summary: "The ghosts of the workspace, newest first.",
    query: workspaceQuery,
    response: z.looseObject({ ghosts: z.array(shapes.ghost) }),
  },
  "POST /api/ghosts": {
    summary: "Makes the ghost of a checkpoint; without one the present is captured first.",
    query: workspaceQuery,
    body: z.object({
      workspace: path.optional(),
      checkpoint: identifier.optional(),
      description: text(10_000).optional(),
    }),
    response: z.looseObject({ ghost: shapes.ghost }),
  },
  "DELETE /api/ghosts/:id": {
    summary: "Takes a ghost away, or all of the workspace (`all`); the checkpoints stay.",
    query: workspaceQuery,
    response: z.looseObject({ dropped: z.number() }),
  },
} as const satisfies Readonly<Record<string, Route>>;
