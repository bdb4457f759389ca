/** Labelled facts, one a line: the head of `show` and `status`. */
import type { Output } from "./output.ts";
import { table } from "./table.ts";

export type Fact = readonly [label: string, value: string] | undefined;

/** Facts that are not there are left out; a long value is cut to its line only where an overview wants it so. */
export function factTable(facts: readonly Fact[], output: Output, { cut = false } = {}): string {
  const rows = facts
    .filter((fact) => fact !== undefined)
    .map(([label, value]) => [{ text: label, paint: output.style.dim }, { text: value }]);
  return table(rows, { width: output.width, indent: "  ", ...(cut && { flexible: 1 }) });
}

/** A heading for a list. */
export function section(title: string, body: string, output: Output): string {
  return `\n${output.style.bold(title)}\n${body}`;
}
