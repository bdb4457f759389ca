/** [R1401] Which files outside a restore is writing, for the command that comes after a crash. */
import type { Context } from "../capture/context.ts";
import { entryOf } from "../capture/save-outside.ts";
import { absolutePath } from "../fs/absolute-path.ts";
import { settleOutside, type ReadOutside } from "../fs/outside-file.ts";
import { checkpointAt } from "../history/checkpoints.ts";
import { readOutside } from "../history/outside-files.ts";
import { sameNode } from "../model/entry.ts";
import type { OutsideFile } from "../model/outside.ts";
import type { Database } from "../store/database.ts";
import { readMeta, removeMeta, writeMeta } from "../store/store.ts";

/** A restore that writes outside. */
export interface OutsideUnderWay {
  readonly operation: string;
  /** The seq of the checkpoint that has what is replaced. */
  readonly safety: number;
  readonly paths: readonly string[];
}

/** Of one working copy: another one has its own restores. */
const keyOf = ({ workingCopy }: Database) => `outside_under_way_${workingCopy}`;

/** Notes that these files outside the workspace are being written. */
export function beginOutside(db: Database, underWay: OutsideUnderWay): void {
  writeMeta(db, keyOf(db), JSON.stringify(underWay));
}

/** Notes that no file outside the workspace is being written any more. */
export function endOutside(db: Database): void {
  removeMeta(db, keyOf(db));
}

/** Whether a restore was writing outside when it ended. */
export function isOutsideUnderWay(db: Database): boolean {
  return readMeta(db, keyOf(db)) !== undefined;
}

/** Settles what a killed restore left outside; returns sentences for the user. */
export function recoverOutside({ store: { db } }: Context): string[] {
  const found = readMeta(db, keyOf(db));
  if (found === undefined) return [];
  const { operation, safety, paths } = JSON.parse(found) as OutsideUnderWay;
  const saved = readOutside(db, safety);
  const left = paths.flatMap((path) => settle(path, { operation, saved }) ?? []);
  db.transaction(() => endOutside(db));
  const checkpoint = checkpointAt(db, safety)?.id;
  const advice =
    checkpoint === undefined ? "" : ` \`belay restore ${checkpoint} --outside\` takes them back.`;
  return [
    `A restore was interrupted while it wrote ${filesOf(paths)} outside the workspace: each is whole, as it was or as restored.${advice}`,
    ...left,
  ];
}

function settle(
  path: string,
  { operation, saved }: { operation: string; saved: readonly OutsideFile[] },
): string | undefined {
  const known = saved.find((file) => file.path === path)?.entry;
  const isSaved = (aside: ReadOutside | undefined) => sameNode(aside && entryOf(aside), known);
  try {
    return settleOutside(absolutePath(path), { operation, isSaved });
  } catch (error) {
    return `${path} could not be looked at: ${(error as Error).message}.`;
  }
}

const filesOf = ({ length }: readonly string[]) => (length === 1 ? "1 file" : `${length} files`);
