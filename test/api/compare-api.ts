/** What changed between two texts of `describeApi`, declaration by declaration. */

/** Lines for a person: `+` and `-` before what came and went, below the declaration it belongs to. */
export function compareApi(before: string, after: string): string[] {
  const [old, fresh] = [blocksOf(before), blocksOf(after)];
  const heads = new Set([...old.keys(), ...fresh.keys()]);
  return [...heads].flatMap((head) => compareBlocks(head, old.get(head), fresh.get(head)));
}

function compareBlocks(
  head: string,
  before: readonly string[] | undefined,
  after: readonly string[] | undefined,
): string[] {
  if (before === undefined) return [`+ ${head}`];
  if (after === undefined) return [`- ${head}`];
  const gone = before.filter((line) => !after.includes(line)).map((line) => `-   ${line.trim()}`);
  const come = after.filter((line) => !before.includes(line)).map((line) => `+   ${line.trim()}`);
  const isMoved = before.join("\n") !== after.join("\n");
  if (gone.length + come.length === 0) return isMoved ? [`  ${head}`, "  (only the order changed)"] : [];
  return [`  ${head}`, ...gone, ...come];
}

/** The lines of each declaration by its first one, which says what it is called; several may be the same. */
function blocksOf(text: string): Map<string, string[]> {
  const blocks = new Map<string, string[]>();
  for (const block of text.split(/\n\n+/)) {
    const [head = "", ...lines] = block.split("\n").filter((line) => !line.startsWith("```"));
    if (head === "") continue;
    blocks.set(head, [...(blocks.get(head) ?? []), ...lines]);
  }
  return blocks;
}
