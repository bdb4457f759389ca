/** The routes of the search index. */
import { z } from "zod";
import { identifier, number, path, text, workspaceQuery, type Route } from "./route-parts.ts";
import * as shapes from "../shapes.ts";

/** Search in the files, and the index behind it. */
export const INDEX = {
  "GET /api/find": {
    summary:
      "Pieces of files that answer a question, best first; `at` searches a checkpoint. The first use makes the index.",
    query: workspaceQuery.extend({
      q: text(2000),
      k: number(100).min(1).optional(),
      at: identifier.optional(),
    }),
    response: shapes.found,
  },
  "GET /api/index": {
    summary: "The search index: whether there is one, of which files, and how large.",
    query: workspaceQuery,
    response: shapes.searchIndex,
  },
  "POST /api/index/sync": {
    summary: "Compares the search index with the files, and makes it if there is none.",
    query: workspaceQuery,
    body: z.object({ workspace: path.optional() }),
    response: shapes.synced,
  },
} as const satisfies Record<string, Route>;
