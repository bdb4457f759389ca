/** Labelled facts, one per line: the head of `show` and `status`. */
import { displayWidth, fitLine } from "@belay/tui/text";
import type { Output } from "./output.ts";
import { table } from "./table.ts";

const INDENT = "  ";

/** A label and its value; undefined facts are left out. */
export type Fact = readonly [label: string, value: string] | undefined;

/** Facts as a table. A value that is too long for the terminal is wrapped. */
export function factTable(facts: readonly Fact[], output: Output): string {
  const present = facts.filter((fact) => fact !== undefined);
  const margin = INDENT.length + Math.max(0, ...present.map(([label]) => displayWidth(label))) + 2;
  const fit = (value: string) =>
    fitLine(value, output.width - margin).replaceAll("\n", `\n${" ".repeat(margin)}`);
  const rows = present.map(([label, value]) => [
    { text: label, paint: output.style.dim },
    { text: fit(value) },
  ]);
  return table(rows, { width: output.width, indent: INDENT });
}

/** A list under a heading. */
export function section(title: string, body: string, output: Output): string {
  return `\n${output.style.bold(title)}\n${body}`;
}
