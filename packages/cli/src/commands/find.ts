import { EXIT, usageError } from "@belay/protocol/errors";
import { count } from "@belay/tui/text";
import { defineCommand } from "../call/command.ts";
import { printHits } from "../output/hits.ts";
import { closeIndex, findInFiles, isIndexed } from "../search-index/workspace-indexes.ts";
import { withWorkspace } from "../wiring/open-workspace.ts";

const MOST = 100;

export default defineCommand({
  usage: "find <question> [-k n] [--at checkpoint]",
  about: `Finds the pieces of files that answer a question, best first: by words, parts of names, paths and likeness. The
files are those on disk, or of a checkpoint with --at. The first use indexes the text files of the workspace; from then
on the index is kept in step. \`belay index\` shows it. To find out when a text was where: \`belay search -S <text>\`.`,
  options: {
    number: { type: "string", short: "k", value: "n", about: "how many pieces; defaults to 10" },
    at: { type: "string", value: "checkpoint", about: "search the files of this checkpoint" },
  },
  operands: { min: 1, max: 50 },
  examples: [
    "belay find 'where are retries counted'",
    "belay find parser -k 3",
    "belay find parser --at @-2",
  ],
  run: (call) => {
    const query = call.operands.join(" ").trim();
    if (query === "") throw usageError("The question is empty.", "Usage: belay find <question>");
    const { at, number = "10" } = call.options;
    const k = Number(number);
    if (!/^\d+$/.test(number) || k < 1 || k > MOST)
      throw usageError(
        `-k takes a number from 1 to ${MOST}.`,
        "`belay find -k 8 <question>` shows eight places.",
      );
    return withWorkspace(call, async (workspace) => {
      if (!(await isIndexed(call.home, workspace)))
        call.output.note(
          "Indexing the text files of this workspace; from now on the index is kept in step. `belay index off` removes it.",
        );
      try {
        const found = await findInFiles(call.home, workspace, { query, k, ...(at !== undefined && { at }) });
        if (call.json) call.output.json(found);
        else printHits(call.output, found.hits);
        if (found.notIndexed > 0)
          call.output.note(
            `${count(found.notIndexed, "file")} of that checkpoint had contents that were never indexed.`,
          );
        return EXIT.done;
      } finally {
        if (call.hosted === undefined) await closeIndex(workspace);
      }
    });
  },
});
