/** Names, notes and tags: facts about a checkpoint that are not part of it. */
import { EngineError } from "../model/errors.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import type { Database } from "../store/database.ts";
import { checkpointAt, TAG_PREFIX } from "./checkpoints.ts";
import { assertName } from "./references.ts";

/** Sets or clears the note of a checkpoint. */
export function setNote(db: Database, checkpoint: Checkpoint, note: string): void {
  db.run("UPDATE checkpoint SET note = ? WHERE seq = ?", note === "" ? null : note, checkpoint.seq);
}

/** Sets or clears the name of a checkpoint. */
export function setName(db: Database, checkpoint: Checkpoint, name: string): void {
  if (name !== "") assertName(name);
  db.run("UPDATE checkpoint SET name = ? WHERE seq = ?", name === "" ? null : name, checkpoint.seq);
}

/** Adds a tag. Tags are unique: repeating one on the same checkpoint is fine, on another it is refused. */
export function addTag(db: Database, checkpoint: Checkpoint, tag: string): void {
  assertTagFree(db, tag, checkpoint.seq);
  db.run("INSERT OR IGNORE INTO ref (name, checkpoint) VALUES (?, ?)", TAG_PREFIX + tag, checkpoint.seq);
}

/** Throws unless the tag may be added to a checkpoint (`seq` undefined: a new one). */
export function assertTagFree(db: Database, tag: string, seq?: number): void {
  assertName(tag);
  const holder = db.get("SELECT checkpoint FROM ref WHERE name = ?", TAG_PREFIX + tag);
  if (holder === undefined || holder["checkpoint"] === seq) return;
  const checkpoint = checkpointAt(db, Number(holder["checkpoint"]))?.id ?? "";
  throw new EngineError(
    "NAME_TAKEN",
    `The tag "${tag}" is on checkpoint ${checkpoint} already. Nothing was changed.`,
    { name: tag, checkpoint },
  );
}

/** What people wrote on a checkpoint; what is left out stays as it is, "" takes a name or note away. */
export interface Annotations {
  readonly name?: string;
  readonly note?: string;
  /** All tags that the checkpoint is to have. */
  readonly tags?: readonly string[];
}

/** Changes several annotations at once. */
export function setAnnotations(db: Database, checkpoint: Checkpoint, change: Annotations): void {
  if (change.name !== undefined) setName(db, checkpoint, change.name);
  if (change.note !== undefined) setNote(db, checkpoint, change.note);
  if (change.tags === undefined) return;
  for (const tag of checkpoint.tags.filter((each) => !change.tags!.includes(each))) removeTag(db, tag);
  for (const tag of change.tags) addTag(db, checkpoint, tag);
}

/** Removes a tag and returns the checkpoint that had it. */
export function removeTag(db: Database, tag: string): Checkpoint {
  const row = db.get("SELECT checkpoint FROM ref WHERE name = ?", TAG_PREFIX + tag);
  const checkpoint = row === undefined ? undefined : checkpointAt(db, Number(row["checkpoint"]));
  if (checkpoint === undefined) {
    throw new EngineError("CHECKPOINT_NOT_FOUND", `There is no tag "${tag}". Nothing was changed.`, {
      checkpoint: tag,
    });
  }
  db.run("DELETE FROM ref WHERE name = ?", TAG_PREFIX + tag);
  return checkpoint;
}
