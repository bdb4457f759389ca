/**
 * The manual page, made from the same tables as the help. One page with every command, so that `man belay` finds any
 * word; the build writes it, and npm installs it with the package.
 */
import { GLOBAL_OPTIONS } from "./call/command-line.ts";
import { EXIT_CODES, type Command, type OptionSpec, type OptionSpecs } from "./call/command.ts";
import { aliasesOf, COMMANDS } from "./command-table.ts";
import { CHECKPOINT_NAMES } from "./help.ts";

/** The manual page, in roff. */
export async function manPage(version: string): Promise<string> {
  const groups = [...new Set(Object.values(COMMANDS).flatMap(({ group }) => group ?? []))];
  return [
    `.TH BELAY 1 "" "Belay ${version}" "Belay"`,
    // names and options are searched for and copied: no word is broken
    ".nh",
    ".ad l",
    section("Name", "belay \\- undo for AI coding agents"),
    section("Synopsis", `.B belay\n${line("[options] <command> [arguments]")}`),
    section("Description", paragraphs(DESCRIPTION)),
    section("Options", optionList(GLOBAL_OPTIONS)),
    section("Checkpoints", paragraphs(CHECKPOINT_NAMES)),
    ...(await Promise.all(groups.map(async (group) => section(group, await commandsOf(group))))),
    section("Exit status", definitions(Object.entries(ALL_EXIT_CODES))),
    section("Environment", definitions(Object.entries(ENVIRONMENT))),
    "",
  ].join("\n");
}

async function commandsOf(group: string): Promise<string> {
  const entries = Object.entries(COMMANDS).filter(([, entry]) => entry.group === group);
  const parts = entries.map(async ([name, { summary, load }]) => {
    const { usage, about, options, exits, examples = [] }: Command = (await load()).default;
    const names = [name, ...aliasesOf(name)].map((each) => `belay ${each}`).join(", ");
    return [
      `.SS ${plain(names)}`,
      `${line(summary)}.`,
      `.PP\n.B belay\n${line(usage)}`,
      `.PP\n${paragraphs(about)}`,
      ...(Object.keys(options).length === 0 ? [] : [optionList(options)]),
      ...(exits === undefined ? [] : [`.PP\nExit status:\n${definitions(ownExits(exits))}`]),
      ".PP\nExamples:",
      ...examples.map((example) => `.PP\n.RS 4\n${line(example)}\n.RE`),
    ].join("\n");
  });
  return (await Promise.all(parts)).join("\n");
}

function ownExits(exits: NonNullable<Command["exits"]>): (readonly [string, string])[] {
  return Object.entries(exits).flatMap(([code, about]) => (about === null ? [] : [[code, about] as const]));
}

const DESCRIPTION = [
  "Belay checkpoints a project before and after everything an agent does. One command puts the files back, and one",
  "takes that back. The history of git is never touched.",
  "",
  "`belay init` protects a directory and hooks up the agents that are there; `belay undo` takes back the last turn.",
].join("\n");

const ALL_EXIT_CODES = {
  ...EXIT_CODES,
  3: "refused, declined or in conflict",
  6: "another restore is running",
  130: "interrupted with Ctrl-C",
};

/** The variables that users set. */
export const ENVIRONMENT = {
  BELAY_HOME: "where stores, settings and the hook live (default: ~/.belay)",
  BELAY_RESIDENT: "off: commands do not start the resident process",
  BELAY_WAIT_MS: "how long a hook may wait for its capture, instead of a second",
  BELAY_EMBEDDINGS_KEY: "the key for the endpoint in the setting retrieval.url",
  BELAY_MERGER_KEY: "the key for the endpoint of a merger",
  BELAY_TOKEN: "what `belay remote token` printed: a job reads and writes a remote with it",
  BELAY_PAGER: "the program that long output is read with on a terminal; empty or cat: none",
  PAGER: "the same, where BELAY_PAGER is not set (default: less)",
  NO_COLOR: "no colours",
  FORCE_COLOR: "colours in pipes too",
  CLICOLOR: "0: no colours",
};

function section(title: string, body: string): string {
  return `.SH ${title.toUpperCase()}\n${body}`;
}

function paragraphs(text: string): string {
  return text
    .split(/\n{2,}/)
    .map((paragraph) => line(paragraph.replaceAll(/\s+/g, " ")))
    .join("\n.PP\n");
}

function optionList(options: OptionSpecs): string {
  return definitions(Object.entries(options).map(([name, spec]) => [optionName(name, spec), spec.about]));
}

function optionName(name: string, { short, type, value, otherwise }: OptionSpec): string {
  const beginning = short === undefined ? "" : `-${short}, `;
  return `${beginning}--${name}${type === "boolean" ? "" : otherwise === undefined ? ` <${value ?? "value"}>` : ` [${value ?? "value"}]`}`;
}

function definitions(entries: readonly (readonly [string, string])[]): string {
  return entries.map(([name, about]) => `.TP\n.B ${plain(name)}\n${line(about)}`).join("\n");
}

/** Text that stands on a line of its own, where a dot or an apostrophe at its beginning would be a request. */
function line(text: string): string {
  const escaped = plain(text);
  return /^[.']/.test(escaped) ? `\\&${escaped}` : escaped;
}

/** Text without meaning for roff; hyphens stay what can be typed and copied. */
function plain(text: string): string {
  return text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll(
      /[^\0-\x7e]/gu,
      (character) => `\\[u${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}]`,
    );
}
