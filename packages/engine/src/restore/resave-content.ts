/**
 * [N0] What a safety checkpoint refers to must be readable before the original is touched. Content that the store
 * names but can no longer read is saved again from the working copy, where it still stands.
 */
import { below } from "../fs/absolute-path.ts";
import { EngineError } from "../model/errors.ts";
import type { Conflict, Edit, Plan } from "../model/plan.ts";
import { createReplacingSink } from "../store/content-sink.ts";
import { ObjectWriter } from "../store/object-writer.ts";
import type { Store } from "../store/store.ts";
import type { Context } from "../capture/context.ts";
import { readFileContent, readLinkContent } from "../capture/read-content.ts";

/** The plan with the present content of every edit in the store; where that cannot be, the edit becomes a conflict. */
export function withSavedContent(context: Context, plan: Plan): Plan {
  const unsaved = plan.edits.filter(
    (edit) => !isReadable(context.store, edit.from) && !saveAgain(context, edit),
  );
  if (unsaved.length === 0) return plan;
  const conflicts = unsaved.map(({ path }): Conflict => ({ path, reason: "cannot be saved" }));
  return {
    ...plan,
    edits: plan.edits.filter((edit) => !unsaved.includes(edit)),
    conflicts: [...plan.conflicts, ...conflicts],
  };
}

/** Every byte is read and hashed: a name whose bytes are damaged saves nothing. */
function isReadable({ objects }: Store, entry: Edit["from"]): boolean {
  if (entry?.kind !== "file" && entry?.kind !== "symlink") return true;
  try {
    for (const _ of objects.pieces(entry.hash));
    return true;
  } catch (error) {
    if (error instanceof EngineError) return false;
    throw error;
  }
}

/** True when the content is in the store now. Rows and bytes change in one transaction. */
function saveAgain({ store, system, workingCopy }: Context, { path, from }: Edit): boolean {
  const writer = new ObjectWriter(store.db, store.objects, system.owner);
  const read = from?.kind === "symlink" ? readLinkContent : readFileContent;
  return store.db.transaction(() => {
    read(below(workingCopy.root, path), createReplacingSink(store.db, writer));
    writer.commit(() => undefined);
    return isReadable(store, from);
  });
}
