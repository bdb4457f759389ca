/**
 * What a shell offers at the cursor: commands, options and their values from the tables of the help; checkpoints, rows,
 * tags, threads and paths from the workspace. The shells' scripts call it with the words of the line, the last one
 * unfinished, and get one candidate a line, its description behind a tab. It never fails: no candidates is an answer.
 */
import { resolve } from "node:path";
import type { Workspace } from "@belay/engine";
import { GLOBAL_OPTIONS, optionValue, splitAtOperand } from "./call/command-line.ts";
import type { Call, Command, OptionSpecs } from "./call/command.ts";
import { aliasesOf, COMMANDS, findCommand } from "./command-table.ts";
import { COLOUR_CHOICES } from "./output/style.ts";
import { visible, visiblePath } from "./output/visible.ts";
import { withWorkspace } from "./wiring/open-workspace.ts";

/** A word to offer, and what it is. */
interface Candidate {
  readonly word: string;
  readonly about?: string;
}

/** What an operand or an option's value is. */
type Kind =
  | "checkpoint"
  | "thread"
  | "tag"
  | "path"
  | "workspace"
  | "setting"
  | "command"
  | "shell"
  | "colour";

/** The line that tells a script to offer files as well. */
const FILES = ":files";
/** How many checkpoints and rows are offered where nothing has been typed yet. */
const RECENT = 30;

/** Prints what may stand at the end of these words. */
export async function complete(call: Call, words: readonly string[]): Promise<void> {
  const unfinished = words.at(-1) ?? "";
  const found = await candidatesFor(call, words.slice(0, -1), unfinished).catch(() => []);
  const fitting = new Map<string, string | undefined>();
  for (const { word, about } of found)
    if ((word === FILES || word.startsWith(unfinished)) && !fitting.has(word)) fitting.set(word, about);
  const lines = [...fitting].map(([word, about]) => (about === undefined ? word : `${word}\t${about}`));
  if (lines.length > 0) call.output.content(lines.join("\n"));
}

async function candidatesFor(
  call: Call,
  finished: readonly string[],
  unfinished: string,
): Promise<Candidate[]> {
  const [globals, [name, ...after]] = splitAtOperand(finished, GLOBAL_OPTIONS);
  if (name === undefined) {
    const value = valueKind(globals, GLOBAL_OPTIONS, unfinished);
    if (value !== undefined) return ofKind(call, value, { finished, unfinished });
    return unfinished.startsWith("-") ? optionNames(GLOBAL_OPTIONS, globals) : commandNames();
  }
  if (name === "help") return after.length === 0 ? commandNames() : [];
  const command = (await findCommand(name)?.load())?.default;
  return command === undefined ? [] : ofCommand(call, command, { finished, after, unfinished });
}

interface Line {
  readonly finished: readonly string[];
  readonly unfinished: string;
}

async function ofCommand(
  call: Call,
  command: Command,
  line: Line & { readonly after: readonly string[] },
): Promise<Candidate[]> {
  const { after, unfinished } = line;
  const specs = { ...GLOBAL_OPTIONS, ...command.options };
  const isAfterDashes = after.includes("--");
  const value = isAfterDashes ? undefined : valueKind(after, specs, unfinished);
  if (value !== undefined) return ofKind(call, value, line);
  if (unfinished.startsWith("-") && !isAfterDashes) return optionNames(specs, after);
  const kinds = operandKinds(command);
  const given = operandsOf(after, specs);
  if (given.length >= command.operands.max) return [];
  const kind = isAfterDashes ? "path" : (kinds[given.length] ?? kinds.at(-1));
  const target = kinds[0] === "checkpoint" ? given[0] : undefined;
  return kind === undefined ? [] : ofKind(call, kind, { ...line, ...(target !== undefined && { target }) });
}

/** The words that are neither options nor their values. */
function operandsOf(words: readonly string[], specs: OptionSpecs): string[] {
  const operands: string[] = [];
  for (let rest = words; rest.length > 0;) {
    const [, [operand, ...more]] = splitAtOperand(rest, specs);
    if (operand !== undefined && operand !== "--") operands.push(operand);
    rest = more;
  }
  return operands;
}

/** What the usage calls the operands, in their order. */
function operandKinds({ usage }: Command): Kind[] {
  const named = usage.split(/ --?\w/)[0]!.matchAll(/[<[]([^\]>-][^\]>]*)[\]>]/g);
  return [...named].flatMap(([, words = ""]) => KINDS.find(([pattern]) => pattern.test(words))?.[1] ?? []);
}

const KINDS: readonly (readonly [RegExp, Kind])[] = [
  [/\bcheckpoint|\bturn\b|\brow\b|^(?:a|b|cp)$/, "checkpoint"],
  [/\bthread\b/, "thread"],
  [/\btag\b/, "tag"],
  [/\bpaths?\b|\bfiles?\b|\bdir|\bcommand…/, "path"],
  [/^id$/, "workspace"],
  [/^key$/, "setting"],
  [/bash/, "shell"],
  [/^when$/, "colour"],
];

/** The kind of value that is expected: after an option that takes one, or behind its "=". */
function valueKind(words: readonly string[], specs: OptionSpecs, unfinished: string): Kind | undefined {
  const word = /^--[\w-]+(?==)/.exec(unfinished)?.[0] ?? words.at(-1) ?? "";
  if (!word.startsWith("-") || (word === words.at(-1) && words.includes("--"))) return undefined;
  const spec = Object.entries(specs).find(
    ([name, { short }]) => word === `--${name}` || word === `-${short}`,
  )?.[1];
  if (spec?.type !== "string") return undefined;
  return KINDS.find(([pattern]) => pattern.test(spec.value ?? ""))?.[1];
}

function optionNames(specs: OptionSpecs, given: readonly string[]): Candidate[] {
  return Object.entries(specs)
    .filter(([name, { multiple }]) => multiple === true || !given.includes(`--${name}`))
    .map(([name, { about }]) => ({ word: `--${name}`, about }));
}

function commandNames(): Candidate[] {
  const shown = Object.entries(COMMANDS).filter(([, { group }]) => group !== undefined);
  return [
    ...shown.flatMap(([name, { summary: about }]) =>
      [name, ...aliasesOf(name)].map((word) => ({ word, about })),
    ),
    { word: "help", about: "show help" },
    { word: "version", about: "show the version" },
  ];
}

async function ofKind(
  call: Call,
  kind: Kind,
  { finished, unfinished, target }: Line & { readonly target?: string },
): Promise<Candidate[]> {
  const before = /^--[\w-]+=/.exec(unfinished)?.[0] ?? "";
  const found = await FINDERS[kind](placeOf(call, finished), {
    target,
    beginning: unfinished.slice(before.length),
  });
  return found.map(({ word, ...rest }) => ({ word: word === FILES ? word : before + word, ...rest }));
}

/** The line's own `-C` and `--home` decide where to look. */
function placeOf(call: Call, words: readonly string[]): Call {
  const directory = optionValue(words, "directory");
  const home = optionValue(words, "home");
  if (directory === undefined && home === undefined) return call;
  // what the resident process has open is the caller's own directory
  const { hosted: _, ...rest } = call;
  return {
    ...rest,
    output: call.output,
    directory: resolve(call.directory, directory ?? "."),
    home: home === undefined ? call.home : resolve(call.directory, home),
  };
}

interface Wanted {
  readonly target: string | undefined;
  readonly beginning: string;
}

const FINDERS: Readonly<Record<Kind, (call: Call, wanted: Wanted) => Promise<Candidate[]>>> = {
  checkpoint: (call, { beginning }) => withWorkspace(call, (workspace) => checkpoints(workspace, beginning)),
  thread: (call) =>
    withWorkspace(call, async (workspace) => {
      const threads = await workspace.threads.list();
      return threads.map(({ id, agent, title }) => ({
        word: id.slice(0, 8),
        about: `${visible(agent)} ${visible(title ?? "")}`.trimEnd(),
      }));
    }),
  tag: (call) => withWorkspace(call, async (workspace) => tagsOf(await workspace.list())),
  path: async (call, { target }) => [
    ...(target === undefined ? [] : await changedPaths(call, target)),
    { word: FILES },
  ],
  workspace: async ({ home }) => {
    const { listWorkspaces } = await import("@belay/engine");
    return (await listWorkspaces({ home })).map(({ id, path }) => ({ word: id, about: visible(path) }));
  },
  setting: async ({ home }) => {
    const { listSettings } = await import("@belay/engine");
    return listSettings(home).map(({ key, value }) => ({ word: key, about: visible(String(value)) }));
  },
  command: async () => commandNames(),
  shell: async () => ["bash", "zsh", "fish"].map((word) => ({ word })),
  colour: async () => COLOUR_CHOICES.map((word) => ({ word })),
};

/** Names, tags and rows; numbers and ids once their beginning is there. */
async function checkpoints(workspace: Workspace, beginning: string): Promise<Candidate[]> {
  const { rows } = await workspace.timeline.rows({ limit: RECENT });
  const listed = await workspace.list();
  const named = listed.flatMap(({ name, description }) =>
    name === null ? [] : [{ word: name, about: visible(description) }],
  );
  const some = beginning === "" ? listed.slice(0, RECENT) : listed;
  return [
    { word: "@", about: "the newest checkpoint" },
    { word: "@turn", about: "the last turn" },
    ...named,
    ...tagsOf(listed),
    ...rows.map(({ ref, title }) => ({ word: ref, about: visible(title) })),
    ...some.flatMap(({ seq, id, description }) => {
      const about = visible(description);
      return /^[k-z]/.test(beginning)
        ? [{ word: id, about }]
        : /^\d/.test(beginning)
          ? [{ word: String(seq), about }]
          : [];
    }),
  ];
}

function tagsOf(listed: Awaited<ReturnType<Workspace["list"]>>): Candidate[] {
  return listed.flatMap(({ tags, name, description }) =>
    tags.map((word) => ({ word, about: visible(name ?? description) })),
  );
}

/** What differs from the checkpoint: files that are gone cannot be offered by a shell. */
async function changedPaths(call: Call, target: string): Promise<Candidate[]> {
  return withWorkspace(call, async (workspace) => {
    const { files } = await workspace.diff({ from: target, detail: "names" });
    return files.map(({ path, type }) => ({ word: visiblePath(path), about: type }));
  }).catch(() => []);
}
