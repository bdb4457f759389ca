/** Help for Belay as a whole and for one command. */
import { GLOBAL_OPTIONS } from "./command-line.ts";
import type { Command, OptionSpecs } from "./command.ts";
import { COMMANDS } from "./command-table.ts";
import type { Style } from "./output/style.ts";
import { table } from "./output/table.ts";

export function generalHelp(style: Style): string {
  const groups = [...new Set(Object.values(COMMANDS).flatMap(({ group }) => group ?? []))];
  return [
    `${style.bold("belay")}: undo for AI coding agents`,
    "",
    `Usage: belay [options] <command> [arguments]`,
    ...groups.flatMap((group) => ["", style.bold(group), commandsOf(group, style)]),
    "",
    style.bold("Options"),
    optionTable(GLOBAL_OPTIONS, style),
    "",
    style.dim(
      "A checkpoint is given by its number, id, name or tag; @ is the newest, @-2 two further down `belay list`.",
    ),
    style.dim("`belay <command> --help` tells more about a command."),
  ].join("\n");
}

export function commandHelp(command: Command, style: Style): string {
  const parts = [`Usage: belay ${command.usage}`, "", command.about];
  if (Object.keys(command.options).length > 0) {
    parts.push("", style.bold("Options"), optionTable(command.options, style));
  }
  if (command.examples !== undefined) {
    parts.push("", style.bold("Examples"), ...command.examples.map((example) => `  ${example}`));
  }
  return parts.join("\n");
}

function commandsOf(group: string, style: Style): string {
  const rows = Object.entries(COMMANDS)
    .filter(([, entry]) => entry.group === group)
    .map(([name, entry]) => [{ text: name.padEnd(12), paint: style.cyan }, { text: entry.summary }]);
  return table(rows, { width: Number.POSITIVE_INFINITY, indent: "  " });
}

function optionTable(options: OptionSpecs, style: Style): string {
  const rows = Object.entries(options).map(([name, spec]) => {
    const short = spec.short === undefined ? "    " : `-${spec.short}, `;
    const value = spec.type === "string" ? ` <${spec.value ?? "value"}>` : "";
    return [{ text: `${short}--${name}${value}`, paint: style.cyan }, { text: spec.about }];
  });
  return table(rows, { width: Number.POSITIVE_INFINITY, indent: "  " });
}
