/** Resolves references that people and programs write to checkpoints. */
import { EngineError } from "../model/errors.ts";
import { isId, isIdPrefix } from "../model/ids.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import type { Database } from "../store/database.ts";
import { assertSealed } from "./checkpoint-seal.ts";
import { findCheckpointsWhere, TAG_PREFIX } from "./checkpoints.ts";
import { listCheckpoints } from "./list-checkpoints.ts";
import { findBranch } from "./branches.ts";
import { onLine } from "./line.ts";
import type { Step } from "./step-rows.ts";
import { parseTime, TIME_FORMS, type Clock } from "./time-text.ts";
import { findTurn } from "./turn-numbers.ts";

/** Where references are looked up, and by which clock. */
export interface References {
  readonly store: { readonly db: Database };
  readonly system: Clock;
}

/**
 * Finds the state a reference means. Beside checkpoints that is "T3" or "@turn", the state before that turn, and a time,
 * the state on disk then: the newest checkpoint of the line here at or before it.
 */
export function resolveState({ store: { db }, system }: References, ref: string): Checkpoint {
  const turn = findTurn(db, ref);
  if (turn !== undefined) return beforeTurn(db, turn, ref);
  const time = /^@([a-z0-9].*)$/is.exec(ref)?.[1];
  return time === undefined ? resolveCheckpoint(db, ref) : atTime(db, { ref, time }, system);
}

function beforeTurn(db: Database, turn: Step, ref: string): Checkpoint {
  const namesake = /^T\d+$/.test(ref) ? candidates(db, ref) : [];
  const [before] = findCheckpointsWhere(db, "c.seq = ?", turn.before ?? 0);
  if (namesake.length > 0) throw ambiguous(ref, [...namesake, ...(before === undefined ? [] : [before])]);
  if (before === undefined)
    throw notFound(ref, `The checkpoint before ${ref} was dropped. Nothing was changed.`);
  assertSealed(db, before);
  return before;
}

function atTime(db: Database, { ref, time }: { ref: string; time: string }, clock: Clock): Checkpoint {
  const span = parseTime(time, clock);
  if (span === undefined)
    throw notFound(
      ref,
      `"${ref}" is neither a checkpoint nor a time. Times are written like ${TIME_FORMS}. Nothing was changed.`,
    );
  // a day means its end: the state it was left in
  const until = span.until === span.from ? span.until : span.until - 1;
  const [newest] = findCheckpointsWhere(
    db,
    `c.seq = (SELECT max(seq) FROM checkpoint k WHERE pruned_at IS NULL AND created_at <= ?
       AND ${onLine(db, { seq: "k.seq", branch: "k.branch" })})`,
    until,
  );
  if (newest === undefined)
    throw notFound(ref, `There is no checkpoint from "${time}" or before. Nothing was changed.`);
  assertSealed(db, newest);
  return newest;
}

function notFound(ref: string, message: string): EngineError<"CHECKPOINT_NOT_FOUND"> {
  return new EngineError("CHECKPOINT_NOT_FOUND", message, { checkpoint: ref });
}

/** Finds the checkpoint a reference names; throws with the candidates when it is ambiguous. */
export function resolveCheckpoint(db: Database, ref: string): Checkpoint {
  const found = candidates(db, ref);
  if (found.length === 1) {
    assertSealed(db, found[0]!);
    return found[0]!;
  }
  if (found.length === 0) throw notFound(ref, `There is no checkpoint "${ref}". Nothing was changed.`);
  throw ambiguous(ref, found);
}

function ambiguous(ref: string, found: readonly Checkpoint[]): EngineError<"CHECKPOINT_AMBIGUOUS"> {
  const isBeginning = found.every(({ id }) => id.startsWith(ref));
  return new EngineError(
    "CHECKPOINT_AMBIGUOUS",
    `${isBeginning ? `The ids of ${found.length} checkpoints begin with "${ref}"` : `"${ref}" means ${found.length} checkpoints`}. Nothing was changed.`,
    {
      checkpoint: ref,
      candidates: found.map(({ id, seq, description }) => ({ id, seq, description })),
    },
  );
}

/** Shorter beginnings of aliases are not looked up. */
const ALIAS_PREFIX_LENGTH = 7;

/** What begins so names the head of a branch. */
const BRANCH_PREFIX = "branch/";

/** Exact matches come before id prefixes: a tag may be a single letter too. */
function candidates(db: Database, ref: string): Checkpoint[] {
  if (ref.startsWith(BRANCH_PREFIX)) {
    const { head } = findBranch(db, ref.slice(BRANCH_PREFIX.length));
    return findCheckpointsWhere(db, "c.seq = ?", head ?? 0);
  }
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
  const elsewhere = byAlias(db, ref);
  if (elsewhere.length > 0) return elsewhere;
  const before = byEvent(db, ref);
  if (before.length > 0) return before;
  const ids = isIdPrefix(ref) ? findCheckpointsWhere(db, "c.id >= ?1 AND c.id < ?1 || '{'", ref) : [];
  return ids.length > 0 || ref.length < ALIAS_PREFIX_LENGTH ? ids : byAliasPrefix(db, ref);
}

/** What a checkpoint is called in another program. */
function byAlias(db: Database, ref: string): Checkpoint[] {
  return findCheckpointsWhere(db, "c.seq IN (SELECT checkpoint FROM alias WHERE name = ?)", ref);
}

/** As git does with commits. */
function byAliasPrefix(db: Database, ref: string): Checkpoint[] {
  return findCheckpointsWhere(
    db,
    "c.seq IN (SELECT checkpoint FROM alias WHERE name >= ?1 AND name < ?1 || char(1114111))",
    ref,
  );
}

/** A message or tool-use id means the checkpoint before it. */
function byEvent(db: Database, ref: string): Checkpoint[] {
  const found = findCheckpointsWhere(
    db,
    "c.message_id = ?1 OR c.tool_use_id = ?1 OR c.seq IN (SELECT checkpoint FROM message WHERE id = ?1)",
    ref,
  );
  const here = found.filter(({ origin }) => origin === null);
  const meant = here.length > 0 ? here : found;
  const before = meant.filter(({ phase }) => phase !== "after");
  return before.length > 0 ? before.slice(-1) : meant.slice(-1);
}

/** Throws unless `name` can be distinguished from every other kind of reference. */
export function assertName(name: string): void {
  const reason =
    name.trim() === ""
      ? "is empty"
      : name.startsWith("@")
        ? 'starts with "@"'
        : name.startsWith(BRANCH_PREFIX)
          ? "is the name of a branch"
          : /^\d+$/.test(name)
            ? "is a number"
            : /^T\d+$/.test(name)
              ? "is the name of a turn"
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
