/** What a route is, and the inputs that many routes take. */
import { z } from "zod";

/** One route: its input and its answer. */
export interface Route {
  readonly summary: string;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodObject;
  /** undefined: not JSON, but what `media` says */
  readonly response?: z.ZodObject;
  /** undefined: a stream of events */
  readonly media?: string;
  /** Only for the user's own programs: the key of a page in a browser does not open it. */
  readonly ownProgramsOnly?: true;
}

/** True or false in an address. */
export const flag = z.enum(["0", "1", "true", "false"]).transform((text) => text === "1" || text === "true");
/** A whole number in an address, at most this one. */
export const number = (most: number) => z.coerce.number().int().min(0).max(most);
/** A text that is at most so long. */
export const text = (longest: number) => z.string().max(longest);
/** A path of the system. */
export const path = text(4096).min(1);
/** An id, or another name of a checkpoint or thread. */
export const identifier = text(500).min(1);
/** The longest message. */
export const MESSAGE_CHARACTERS = 500_000;

/** A path of a file: its text, or its exact bytes where text cannot hold them. */
export const fileQuery = z
  .object({ path: path.optional(), pathBase64: z.base64().max(6000).min(1).optional() })
  .refine((query) => (query.path === undefined) !== (query.pathBase64 === undefined), {
    error: "name one file, as `path` or as `pathBase64`",
  });

/** Which workspace a request is about. */
export const workspaceQuery = z.object({ workspace: path.optional() });
/** How one file is compared. */
export const diffQuery = fileQuery.safeExtend({
  ...workspaceQuery.shape,
  context: number(100_000).optional(),
  whitespace: z.enum(["exact", "ignore"]).optional(),
  large: flag.optional(),
});
/** Which checkpoints to list. */
export const listQuery = z.object({
  limit: number(10_000).optional(),
  kind: text(40).optional(),
  search: text(500).optional(),
  fresh: flag.optional(),
});
/** What a restore brings back. */
export const planQuery = z
  .object({
    paths: z
      .union([path, z.array(path)])
      .transform((given) => (Array.isArray(given) ? given : [given]))
      .optional(),
    keepNew: flag.optional(),
    outside: flag.optional(),
    scope: z.enum(["files", "conversation", "both"]).optional(),
  })
  .refine(isWholeOutside, { error: "`outside` goes with a whole restore: not with `paths` or `keepNew`" });

/** What limits a restore. */
interface Limits {
  readonly outside?: boolean | undefined;
  readonly paths?: readonly string[] | undefined;
  readonly keepNew?: boolean | undefined;
  readonly scope?: string | undefined;
}

/** [R844] Files outside are written as a whole: what limits a restore does not choose among them. */
export function isWholeOutside({ outside, paths, keepNew, scope }: Limits): boolean {
  return outside !== true || (paths === undefined && keepNew !== true && scope !== "conversation");
}
/** How many steps to move. */
export const stepsQuery = z.object({ count: number(1000).min(1).optional(), includeShared: flag.optional() });
/** Which plan to carry out. */
export const carryOut = z.object({ planId: identifier, bestEffort: z.boolean().optional() });
/** A request without a body of its own. */
export const empty = z.object({});
/** What people call a checkpoint. */
export const annotation = z.object({
  name: text(200).optional(),
  annotation: text(10_000).optional(),
  tags: z.array(text(200).min(1)).max(50).optional(),
});
