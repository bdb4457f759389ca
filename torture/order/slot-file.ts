/**
 * Files whose merge is obvious: one line, where any two different changes conflict; or three lines far apart,
 * which merge independently.
 */

const SLOTS = 3;
const BETWEEN = Array.from({ length: SLOTS - 1 }, (_, gap) =>
  Array.from({ length: 8 }, (__, line) => `between ${gap} and ${gap + 1}, line ${line}\n`).join(""),
);

/** The file that has several lines to change. */
export const SLOT_FILE = "src/long.txt";

export function slotFile(slots: readonly string[]): string {
  return slots.map((slot, index) => `${slot}\n${BETWEEN[index] ?? ""}`).join("");
}

/** The same file with one of its lines changed; created if it is missing. */
export function changeSlot(content: string | undefined, slot: number, word: string): string {
  const slots = slotsOf(content) ?? Array.from({ length: SLOTS }, (_, index) => `new ${word} ${index}`);
  return slotFile(slots.with(slot % SLOTS, word));
}

type Content = string | undefined;

export function mergeFiles({
  base,
  ours,
  theirs,
}: {
  base: Content;
  ours: Content;
  theirs: Content;
}): { readonly content: Content } | "conflict" {
  if (ours === base || ours === theirs) return { content: theirs };
  if (theirs === base) return { content: ours };
  const [b, o, t] = [slotsOf(base), slotsOf(ours), slotsOf(theirs)];
  if (b === undefined || o === undefined || t === undefined) return "conflict";
  const slots = b.map((slot, index) => mergeFiles({ base: slot, ours: o[index], theirs: t[index] }));
  if (slots.includes("conflict")) return "conflict";
  return { content: slotFile(slots.map((slot) => (slot as { content: string }).content)) };
}

function slotsOf(content: Content): string[] | undefined {
  if (content === undefined || !content.includes(BETWEEN[0]!)) return undefined;
  const lines = content.split("\n");
  return [0, 9, 18].map((line) => lines[line]!);
}
