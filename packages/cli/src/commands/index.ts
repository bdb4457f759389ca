import type { Workspace } from "@belay/engine";
import { EXIT, usageError } from "@belay/protocol/errors";
import { count, size } from "@belay/tui/text";
import { ANY_NUMBER, defineCommand, type Call } from "../call/command.ts";
import { workspacePaths } from "../call/workspace-path.ts";
import { visible } from "../output/visible.ts";
import { closeIndex, dropIndex, indexOf, indexState, syncIndex } from "../search-index/workspace-indexes.ts";
import { withWorkspace } from "../wiring/open-workspace.ts";

export default defineCommand({
  usage: "index [status | sync | rebuild | off] | index add <paths…> | index remove <paths…>",
  about: `The index that \`belay find <question>\` searches. status: which files it has and how large it is. sync: compares it with the
files now. add, remove: single files. rebuild: throws it away and makes it again. off: removes it; it comes back with the
next \`belay find <question>\`. It is kept in step by itself, and never needed for going back.`,
  options: {},
  operands: { min: 0, max: ANY_NUMBER },
  examples: ["belay index", "belay index sync"],
  run: (call) => {
    const [verb = "status", ...paths] = call.operands;
    const way = WAYS[verb];
    const takesPaths = verb === "add" || verb === "remove";
    if (way === undefined || takesPaths !== paths.length > 0)
      throw usageError(
        way === undefined
          ? `There is no "belay index ${verb}".`
          : `${verb} takes ${takesPaths ? "" : "no "}paths.`,
        "`belay index --help` shows what there is.",
      );
    return withWorkspace(call, async (workspace) => {
      try {
        return await way(call, workspace, paths);
      } finally {
        if (call.hosted === undefined) await closeIndex(workspace);
      }
    });
  },
});

type Way = (call: Call, workspace: Workspace, paths: readonly string[]) => Promise<number>;

const WAYS: Readonly<Record<string, Way>> = { status, sync, add, remove, rebuild, off };

async function status(call: Call, workspace: Workspace): Promise<number> {
  const state = await indexState(call.home, workspace);
  const { exists, files, scope, bytes, embedder } = state;
  const which = scope === "touched" ? "that agents read or wrote" : "of this workspace";
  return told(
    call,
    state,
    exists
      ? `${count(files, "text file")} ${which} ${files === 1 ? "is" : "are"} indexed (${size(bytes)}, vectors: ${embedder}).`
      : "There is no index. `belay find <question>` makes it.",
  );
}

async function sync(call: Call, workspace: Workspace): Promise<number> {
  const synced = await syncIndex(call.home, workspace);
  return told(
    call,
    synced,
    `${count(synced.reindexed, "file")} indexed, ${synced.removed} taken out, ${synced.skipped} that are not text or too large left out.`,
  );
}

async function add(call: Call, workspace: Workspace, given: readonly string[]): Promise<number> {
  const index = await indexOf(call.home, workspace);
  const paths = workspacePaths(workspace, call.directory, given) ?? [];
  for (const path of paths) await index.indexFile(path);
  const known = new Set(index.files().map(({ path }) => path));
  const notIndexed = paths.filter((path) => !known.has(path));
  const added = paths.length - notIndexed.length;
  told(call, { added, notIndexed }, `${count(added, "file")} indexed.`);
  for (const path of notIndexed)
    call.output.warn(`Not indexed: ${visible(path)} is not there, is no text, or is over 1 MiB.`);
  return notIndexed.length === 0 ? EXIT.done : EXIT.refused;
}

async function remove(call: Call, workspace: Workspace, given: readonly string[]): Promise<number> {
  const index = await indexOf(call.home, workspace);
  let removed = 0;
  for (const path of workspacePaths(workspace, call.directory, given) ?? [])
    removed += (await index.removeFile(path)) ? 1 : 0;
  const isBack = removed > 0 && index.scope === "all";
  const until = isBack
    ? " until it is next compared with the files: all text files of this workspace are indexed"
    : "";
  return told(call, { removed }, `${count(removed, "file")} taken out of the index${until}.`);
}

async function rebuild(call: Call, workspace: Workspace): Promise<number> {
  const synced = await (await indexOf(call.home, workspace)).rebuild();
  return told(call, synced, `${count(synced.reindexed, "file")} indexed again.`);
}

async function off(call: Call, workspace: Workspace): Promise<number> {
  await dropIndex(workspace);
  return told(call, { exists: false }, "The index is removed. Files and checkpoints are untouched.");
}

function told({ json, output }: Call, report: object, sentence: string): number {
  if (json) output.json(report);
  else if (!output.quiet) output.print(sentence);
  return EXIT.done;
}
