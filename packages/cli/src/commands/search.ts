import type { FindOptions, Workspace } from "@belay/engine";
import { printCheckpoints } from "../command-parts/checkpoint-list.ts";
import { printFindings } from "../command-parts/found-files.ts";
import { ANY_NUMBER, defineCommand, type Call } from "../call/command.ts";
import { usageError } from "@belay/protocol/errors";
import { hasField, historySearch } from "../call/history-words.ts";
import { askedLimit, LIMIT_OPTIONS, shownLimit } from "../call/limit-option.ts";
import { workspacePaths } from "../call/workspace-path.ts";
import { createProgressBar } from "../output/progress-bar.ts";
import { withWorkspace } from "../wiring/open-workspace.ts";
import { visible } from "../output/visible.ts";

const OPTIONS = {
  text: {
    type: "string",
    short: "S",
    value: "text",
    about: "files that have had this text, in any checkpoint",
  },
  content: { type: "string", value: "text", about: "the same as -S" },
  regex: { type: "string", short: "G", value: "regex", about: "the same for a line that matches a regex" },
  file: {
    type: "string",
    value: "name",
    about: "files of this name or pattern, such as *.ts or src/**; alone: when they were last there",
  },
  at: {
    type: "string",
    value: "checkpoint",
    about: "with -S, -G and --file: only what this checkpoint has",
  },
  history: {
    type: "boolean",
    about: "with -S and -G: when each matching line was there, what brought it and what took it out",
  },
  "ignore-case": { type: "boolean", short: "i", about: "with -S and -G: upper and lower case are the same" },
  ...LIMIT_OPTIONS,
} as const;

type SearchCall = Call<typeof OPTIONS>;

export default defineCommand({
  usage:
    "search <words… | -S text | -G regex | --file name> [paths…] [-i] [--at checkpoint | --history] [--limit n | --all]",
  about: [
    "With words: checkpoints that have all of them in a name, note, tag, description, prompt or changed",
    "path, newest first. Quoted words are one. With a field (agent: thread: file: tag: kind: session: before:",
    "after: has: is:) it finds what happened, as `belay log` shows it.",
    "\n\n",
    "With -S, -G or --file: every file that had it in any checkpoint, since when, until when, what took it",
    "out, and the command that brings it back. Paths limit it to these files and directories, --at to one checkpoint.",
    "--history tells it line by line: when did this line exist, and whose was it?",
  ].join("\n"),
  options: OPTIONS,
  operands: { min: 0, max: ANY_NUMBER },
  examples: [
    "belay search parser",
    "belay search parser agent:claude after:yesterday",
    "belay search -S 'retryBudget'",
    "belay search -G 'retry[A-Z]\\w+ =' src/",
    "belay search --file '*.sql'",
    "belay search -S 'retryBudget' --at @-1",
    "belay search -S 'retryBudget' --history",
  ],
  run: (call) => {
    const { text = call.options.content, regex, file, history = false } = call.options;
    const isForFiles = text !== undefined || regex !== undefined || file !== undefined;
    if (call.options["ignore-case"] === true && text === undefined && regex === undefined)
      throw usageError("-i goes with -S or -G.", "Words are found in upper and lower case anyway.");
    const { at } = call.options;
    if (at !== undefined && !isForFiles)
      throw usageError("--at goes with -S, -G or --file.", "Words are looked for in all checkpoints.");
    if (history && text === undefined && regex === undefined)
      throw usageError("--history goes with -S or -G.", "`belay log <path>` tells what happened to a file.");
    if (history && at !== undefined)
      throw usageError(
        "--history and --at cannot be combined.",
        "The history of a line has every checkpoint.",
      );
    const limit = askedLimit(call);
    if (isForFiles) {
      const wanted = wantedBy(call);
      const wantedAt = { ...wanted, limit, history, ...(at !== undefined && { at }) };
      return withWorkspace(call, (workspace) => find(call, workspace, wantedAt));
    }
    const words = call.operands.filter((word) => word.trim() !== "");
    if (words.length === 0) throw usageError("The search text is empty.", "Usage: belay search <text>");
    return hasField(words)
      ? listHappenings(call, { words, limit })
      : withWorkspace(call, (workspace) => listMatching(call, workspace, { words, limit }));
  },
});

/** Everything that can be wrong with the words is said before a store is opened. */
function wantedBy({ options }: SearchCall): Pick<FindOptions, "text" | "pattern" | "files" | "ignoreCase"> {
  const { text = options.content, regex, file } = options;
  if (options.text !== undefined && options.content !== undefined)
    throw usageError("-S and --content are the same.", "Give one of them.");
  if (text !== undefined && regex !== undefined)
    throw usageError("-S and -G cannot be combined.", "-S takes literal text, -G a regex.");
  for (const [name, value] of Object.entries({ "-S": text, "-G": regex, "--file": file }))
    if (value === "") throw usageError(`${name} needs something to look for.`, "`belay search --help`");
  return {
    ...(text !== undefined && { text }),
    ...(regex !== undefined && { pattern: parsePattern(regex) }),
    ...(file !== undefined && { files: file }),
    ignoreCase: options["ignore-case"] === true,
  };
}

function parsePattern(regex: string): RegExp {
  try {
    return new RegExp(regex, "m");
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^.*: /, "") : String(error);
    throw usageError(
      `"${visible(regex)}" is not a regular expression: ${visible(why)}.`,
      "`-S` looks for literal text.",
    );
  }
}

async function find(
  call: SearchCall,
  workspace: Workspace,
  wanted: Omit<FindOptions, "limit"> & { readonly limit: number | undefined },
): Promise<number> {
  const limit = shownLimit(call, wanted.limit);
  const paths = workspacePaths(workspace, call.directory, call.operands);
  using bar = createProgressBar("Searching", "pack", !call.json && !call.output.quiet);
  const found = await workspace.find({
    ...wanted,
    limit,
    ...(paths && { paths }),
    progress: (done, total) => bar.update({ done, total }),
  });
  return printFindings(call, workspace, { ...found, isOfOne: wanted.at !== undefined });
}

/** Who, when and how it ended belong to turns, not to single checkpoints. */
async function listHappenings(
  call: SearchCall,
  { words, limit }: { readonly words: readonly string[]; readonly limit: number | undefined },
): Promise<number> {
  const q = await historySearch(words);
  const { printHistory } = await import("../command-parts/history-list.ts");
  const whenEmpty = `Nothing found for "${visible(words.join(" "))}". \`belay log\` shows everything.`;
  return withWorkspace(call, (workspace) =>
    printHistory(call, workspace, { filter: { q }, limit, whenEmpty }),
  );
}

function listMatching(
  call: SearchCall,
  workspace: Workspace,
  { words, limit }: { readonly words: readonly string[]; readonly limit: number | undefined },
): Promise<number> {
  return printCheckpoints(call, workspace, {
    filter: { search: words },
    limit,
    whenEmpty: `Nothing found for "${visible(words.join(" "))}". \`belay list\` shows all checkpoints; \`belay search -S <text>\` looks into files.`,
  });
}
