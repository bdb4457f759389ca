/** The names that checkpoints have in other programs: git commits, ids of the program that a history came from. */
import type { Checkpoint } from "../model/checkpoint.ts";
import { EngineError } from "../model/errors.ts";
import type { Database } from "../store/database.ts";
import { checkpointAt, findCheckpointsWhere } from "./checkpoints.ts";

/** A name of a checkpoint in another program; names of different origins may be the same. */
export interface Alias {
  /** Which program gave the name. */
  readonly origin: string;
  readonly name: string;
}

/** Gives a checkpoint a further name. A name of an origin that another checkpoint has is refused. */
export function addAlias(db: Database, { seq }: Checkpoint, { origin, name }: Alias): void {
  assertUsable(name);
  const holder = db.get("SELECT checkpoint FROM alias WHERE origin = ? AND name = ?", origin, name);
  if (holder === undefined) {
    db.run("INSERT INTO alias (origin, name, checkpoint) VALUES (?, ?, ?)", origin, name, seq);
    return;
  }
  if (holder["checkpoint"] === seq) return;
  const checkpoint = checkpointAt(db, Number(holder["checkpoint"]))?.id ?? "";
  throw new EngineError(
    "NAME_TAKEN",
    `The alias "${name}" of ${origin} means checkpoint ${checkpoint} already. Nothing was changed.`,
    { name, checkpoint },
  );
}

/** The seq of the checkpoint that has a name of an origin, dropped or not. */
export function aliasedSeq(db: Database, { origin, name }: Alias): number | undefined {
  const row = db.get("SELECT checkpoint FROM alias WHERE origin = ? AND name = ?", origin, name);
  return row === undefined ? undefined : Number(row["checkpoint"]);
}

/** The checkpoints that have a name of this origin, by that name; dropped ones are left out. */
export function aliasedCheckpoints(db: Database, origin: string): Map<string, Checkpoint> {
  const rows = db.all(
    "SELECT name, checkpoint FROM alias WHERE origin = ? ORDER BY checkpoint, name",
    origin,
  );
  return new Map(
    rows.flatMap((row) => {
      const [checkpoint] = findCheckpointsWhere(db, "c.seq = ?", Number(row["checkpoint"]));
      return checkpoint === undefined ? [] : [[String(row["name"]), checkpoint] as const];
    }),
  );
}

function assertUsable(name: string): void {
  if (name.trim() !== "" && name.length <= 500) return;
  throw new EngineError(
    "NAME_INVALID",
    `The alias "${name.slice(0, 50)}" ${name.trim() === "" ? "is empty" : "is longer than 500 characters"}. Nothing was changed.`,
    { name },
  );
}
