/** Resolves references that people and programs write to checkpoints. */
import { EngineError } from "../model/errors.ts";
import { isId, isIdPrefix } from "../model/ids.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import type { Database } from "../store/database.ts";
import { assertSealed, findCheckpointsWhere, listCheckpoints, TAG_PREFIX } from "./checkpoints.ts";

/** Finds the checkpoint a reference means; throws with the candidates when it is ambiguous. */
export function resolveCheckpoint(db: Database, ref: string): Checkpoint {
  const found = candidates(db, ref);
  if (found.length === 1) {
    assertSealed(db, found[0]!);
    return found[0]!;
  }
  if (found.length === 0) {
    throw new EngineError("CHECKPOINT_NOT_FOUND", `There is no checkpoint "${ref}". Nothing was changed.`, {
      checkpoint: ref,
    });
  }
  const isBeginning = found.every(({ id }) => id.startsWith(ref));
  throw new EngineError(
    "CHECKPOINT_AMBIGUOUS",
    `${isBeginning ? `The ids of ${found.length} checkpoints begin with "${ref}"` : `"${ref}" means ${found.length} checkpoints`}. Nothing was changed.`,
    {
      checkpoint: ref,
      candidates: found.map(({ id, seq, description }) => ({ id, seq, description })),
    },
  );
}

/** Exact matches come before id prefixes: a tag may be a single letter too. */
function candidates(db: Database, ref: string): Checkpoint[] {
  const relative = /^@(?:-(\d{1,9}))?$/.exec(ref);
  if (relative !== null)
    return listCheckpoints(db, { limit: Number(relative[1] ?? 0) + 1 }).slice(Number(relative[1] ?? 0));
  if (/^\d{1,15}$/.test(ref)) return findCheckpointsWhere(db, "c.seq = ?", Number(ref));
  const exact = findCheckpointsWhere(
    db,
    "c.id = ?1 OR c.name = ?1 OR c.seq IN (SELECT checkpoint FROM ref WHERE name = ?2)",
    ref,
    TAG_PREFIX + ref,
  );
  if (exact.length > 0) return exact;
  const before = byEvent(db, ref);
  if (before.length > 0 || !isIdPrefix(ref)) return before;
  return findCheckpointsWhere(db, "c.id >= ?1 AND c.id < ?1 || '{'", ref);
}

/** A message or tool-use id means the checkpoint before it. */
function byEvent(db: Database, ref: string): Checkpoint[] {
  const found = findCheckpointsWhere(
    db,
    "c.message_id = ?1 OR c.tool_use_id = ?1 OR c.seq IN (SELECT checkpoint FROM message WHERE id = ?1)",
    ref,
  );
  const before = found.filter(({ phase }) => phase !== "after");
  return before.length > 0 ? before.slice(-1) : found.slice(-1);
}

/** Throws unless `name` can be distinguished from every other kind of reference. */
export function assertName(name: string): void {
  const reason =
    name.trim() === ""
      ? "is empty"
      : name.startsWith("@")
        ? 'starts with "@"'
        : /^\d+$/.test(name)
          ? "is a number"
          : isId(name)
            ? "looks like an id"
            : name.length > 200
              ? "is longer than 200 characters"
              : undefined;
  if (reason === undefined) return;
  throw new EngineError("NAME_INVALID", `The name "${name.slice(0, 50)}" ${reason}. Nothing was changed.`, {
    name,
  });
}
