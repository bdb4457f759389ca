/** Help for Belay as a whole and for one command. */
import { GLOBAL_OPTIONS } from "./call/command-line.ts";
import { EXIT_CODES, type Command, type OptionSpecs } from "./call/command.ts";
import { aliasesOf, COMMANDS } from "./command-table.ts";
import type { Style } from "./output/style.ts";
import type { Output } from "./output/output.ts";
import { wrap } from "@belay/tui/text";

/** The help for Belay as a whole. */
export function generalHelp(output: Output): string {
  const { style } = output;
  const width = widthOf(output);
  const groups = [...new Set(Object.values(COMMANDS).flatMap(({ group }) => group ?? []))];
  return [
    `${style.bold("belay")}: undo for AI coding agents`,
    "",
    wrap("Usage: belay [options] <command> [arguments]", width, INDENT),
    ...groups.flatMap((group) => ["", style.bold(group), commandsOf(group, style, width)]),
    "",
    style.bold("Options"),
    optionTable(GLOBAL_OPTIONS, style, width),
    "",
    style.dim(wrap(CHECKPOINT_NAMES, width)),
    style.dim(wrap("`belay <command> --help` shows the options of a command.", width)),
  ].join("\n");
}

/** The help for one command. */
export function commandHelp(name: string, command: Command, output: Output): string {
  const { style } = output;
  const width = widthOf(output);
  const aliases = aliasesOf(name);
  const parts = [wrap(`Usage: belay ${command.usage}`, width, "  "), "", wrap(command.about, width)];
  if (Object.keys(command.options).length > 0) {
    parts.push("", style.bold("Options"), optionTable(command.options, style, width));
  }
  if (command.examples !== undefined) {
    const examples = command.examples.map(
      (example) => INDENT + wrap(example, width - INDENT.length, CONTINUED),
    );
    parts.push("", style.bold("Examples"), ...examples);
  }
  if (TAKES_CHECKPOINT.test(command.usage)) parts.push("", style.dim(wrap(CHECKPOINT_NAMES, width)));
  parts.push("", style.bold("Exit codes"), exitTable(command, style, width));
  if (aliases.length > 0) parts.push("", `Also: ${aliases.map((alias) => `belay ${alias}`).join(", ")}`);
  return parts.join("\n");
}

function commandsOf(group: string, style: Style, width: number): string {
  const rows = Object.entries(COMMANDS)
    .filter(([, entry]) => entry.group === group)
    .map(([name, entry]) => ({ name: name.padEnd(12), about: entry.summary }));
  return definitions(rows, style, width);
}

/** The command's own words, and what every command may end with. */
function exitTable({ exits = {} }: Command, style: Style, width: number): string {
  const codes: Readonly<Record<string, string | null>> = { ...EXIT_CODES, ...exits };
  const rows = Object.entries(codes).flatMap(([code, about]) =>
    about === null ? [] : [{ name: code.padEnd(3), about }],
  );
  return definitions(rows, style, width);
}

/** Commands whose help says how a checkpoint is given. */
const TAKES_CHECKPOINT = /(?<=.)\bcheckpoint\b|^diff /;

/** The words after this one's line go further in, so that each example begins visibly. */
const CONTINUED = "      ";

function optionTable(options: OptionSpecs, style: Style, width: number): string {
  const rows = Object.entries(options).map(([name, spec]) => {
    const short = spec.short === undefined ? "    " : `-${spec.short}, `;
    const takes = spec.value ?? "value";
    const value = spec.type === "boolean" ? "" : spec.otherwise === undefined ? ` <${takes}>` : ` [${takes}]`;
    return { name: `${short}--${name}${value}`, about: spec.about };
  });
  return definitions(rows, style, width);
}

/** How a checkpoint is given. */
export const CHECKPOINT_NAMES =
  "A checkpoint is given by its number, id (or its first letters), name or tag; @ is the newest, @-2 two further down `belay list`. Turns: T3 as `belay log` names it, @turn for the last, @turn-1 for the one before it; where a state is needed, the state before the turn. Times: @10m, @14:30, @yesterday.";

/** Longer lines are harder to read. */
const WIDEST = 100;
/** What fits everywhere, for files and pipes. */
const USUAL = 80;

function widthOf({ width }: Output): number {
  return Number.isFinite(width) ? Math.min(width, WIDEST) : USUAL;
}

const INDENT = "  ";
/** With fewer columns than this, a description goes below its name. */
const NARROWEST = 20;

/** Names with their descriptions beside them, or below where there is no room. */
function definitions(
  rows: readonly { readonly name: string; readonly about: string }[],
  style: Style,
  width: number,
): string {
  const column = Math.max(...rows.map(({ name }) => name.length)) + 2 * INDENT.length;
  const isBeside = width - column >= NARROWEST;
  const margin = isBeside ? " ".repeat(column) : " ".repeat(3 * INDENT.length);
  return rows
    .map(({ name, about }) => {
      const text = wrap(about, width - margin.length).replaceAll("\n", `\n${margin}`);
      const head = `${INDENT}${style.cyan(name)}`;
      if (!isBeside) return `${head}\n${margin}${text}`;
      return head + " ".repeat(column - INDENT.length - name.length) + text;
    })
    .join("\n");
}
