/** Takes a history that was found into a workspace. */
import type { Workspace } from "@belay/engine";
import type { Output } from "../output/output.ts";
import { visible } from "../output/visible.ts";
import type { FoundHistory } from "./importer.ts";

/** How much came, and how much of it had come before. */
export interface Taken {
  threads: number;
  checkpoints: number;
  alreadyThere: number;
  files: number;
  bytes: number;
}

/** Imports threads one by one, and gives their checkpoints their old names. */
export async function takeHistory(
  output: Output,
  { threads, names = [] }: Pick<FoundHistory, "threads" | "names">,
  workspace: Workspace,
): Promise<Taken> {
  const sum = { threads: 0, checkpoints: 0, alreadyThere: 0, files: 0, bytes: 0 };
  for (const thread of threads) {
    const imported = await workspace.importThread(thread);
    sum.threads += 1;
    sum.checkpoints += imported.checkpoints.length;
    sum.alreadyThere += imported.alreadyThere;
    sum.files += imported.files;
    sum.bytes += imported.bytes;
    for (const { tag, reason } of imported.leftOut)
      output.warn(`${visible(tag)} was left out: ${visible(reason)}`);
  }
  await addNames(workspace, names);
  return sum;
}

/** A short name that several checkpoints have in the old place means the first of them. */
async function addNames(workspace: Workspace, names: FoundHistory["names"] & {}): Promise<void> {
  for (const origin of new Set(names.map((each) => each.origin))) {
    const known = await workspace.aliases(origin);
    for (const { name, of } of names.filter((each) => each.origin === origin)) {
      const checkpoint = known.get(of);
      if (known.has(name) || checkpoint === undefined) continue;
      await workspace.addAlias(checkpoint.id, { origin, name });
      known.set(name, checkpoint);
    }
  }
}
