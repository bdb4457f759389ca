/** How many lines came and went: `+78 -21`. */

/** Null where lines were not counted. */
export interface LineCounts {
  readonly plus: number | null;
  readonly minus: number | null;
}

/** `+3 -1`; a zero is left out. */
export function lineCounts({ plus, minus }: LineCounts): string {
  return [plusText(plus), minus ? `-${minus}` : ""].filter((part) => part !== "").join(" ");
}

/** The counts of the files of a list, with `+` and `-` in columns of their own. */
export function lineCountColumns(counts: readonly LineCounts[]): (counts: LineCounts) => string {
  const width = counts.reduce((most, { plus }) => Math.max(most, plusText(plus).length), 0);
  return ({ plus, minus }) => {
    const columns = `${plusText(plus).padEnd(width)} ${minus ? `-${minus}` : ""}`;
    return columns.trimEnd();
  };
}

function plusText(plus: number | null): string {
  return plus ? `+${plus}` : "";
}
