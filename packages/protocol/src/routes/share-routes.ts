/** The routes of what is shared with others: checkpoints, by membership or by link, and threads that are handed over. */
import { z } from "zod";
import { identifier, path, text, workspaceQuery, type Route } from "./route-parts.ts";

const shareQuery = workspaceQuery.extend({ remote: identifier.optional() });
const share = z.looseObject({ id: z.string(), checkpoint: z.string() });

/** The routes of shares and handoffs. */
export const SHARES = {
  "GET /api/shares": {
    summary: "What is shared: links of the space, and checkpoints that are kept for its members.",
    query: shareQuery,
    response: z.looseObject({ shares: z.array(share) }),
  },
  "POST /api/shares": {
    summary:
      "Keeps a checkpoint for the members of the space or, with `link`, copies its files under a key of their own. The link is in this answer and nowhere else.",
    query: shareQuery,
    body: z.object({
      checkpoint: identifier,
      link: z.boolean().optional(),
      expires: text(20).min(1).optional(),
      paths: z.array(path).max(1000).optional(),
      includeSecrets: z.boolean().optional(),
    }),
    response: z.looseObject({ share }),
  },
  "DELETE /api/shares/:id": {
    summary:
      "Ends a share, by the id of its link or of its checkpoint. What was downloaded stays downloaded.",
    query: shareQuery,
    response: z.looseObject({ revoked: z.string() }),
  },
  "POST /api/threads/:id/handoff": {
    summary:
      "Hands a thread to another machine of the space, with its files, messages and transcript. With `take`, goes on here with one that was handed over: without `planId` the answer is what that would change, with it that is done, or 409 when the files moved on.",
    query: workspaceQuery,
    body: z.object({
      remote: identifier.optional(),
      transcript: z.boolean().optional(),
      take: z.boolean().optional(),
      planId: identifier.optional(),
    }),
    response: z.looseObject({}),
  },
  "POST /api/threads/:id/review": {
    summary:
      "Approves of a thread of another machine as it is now: its owner is told, and approves it there, where the files are.",
    query: workspaceQuery,
    body: z.object({
      remote: identifier,
      line: identifier.optional(),
      message: text(2000).min(1).optional(),
    }),
    response: z.looseObject({ review: z.looseObject({ thread: z.string(), checkpoint: z.string() }) }),
  },
} as const satisfies Readonly<Record<string, Route>>;
