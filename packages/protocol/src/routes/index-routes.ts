/** The routes of the search index. */
import { z } from "zod";
import {
  identifier,
  MESSAGE_CHARACTERS,
  number,
  path,
  type Route,
  text,
  workspaceQuery,
} from "./route-parts.ts";
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
  "GET /api/index/files": {
    summary:
      "The files of the search index, each with the SHA-256 of its content; none where there is no index.",
    query: workspaceQuery,
    response: shapes.indexedFiles,
  },
  "POST /api/index/files": {
    summary:
      "Indexes files, as they are or one with this content; `known` leaves files out that are not in the index. One that is made by it covers no others.",
    query: workspaceQuery,
    body: z.object({
      paths: z.array(path).max(10_000),
      content: text(MESSAGE_CHARACTERS).optional(),
      known: z.boolean().optional(),
    }),
    response: shapes.indexing,
  },
  "POST /api/index/remove": {
    summary: "Takes files out of the search index; the files themselves are untouched.",
    query: workspaceQuery,
    body: z.object({ paths: z.array(path).max(10_000) }),
    response: z.looseObject({ removed: z.int().min(0) }),
  },
  "POST /api/index/sync": {
    summary: "Compares the search index with the files, and makes it if there is none.",
    query: workspaceQuery,
    body: z.object({ workspace: path.optional() }),
    response: shapes.synced,
  },
} as const satisfies Record<string, Route>;
