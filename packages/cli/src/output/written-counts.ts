import { grouped } from "@belay/tui/text";

/** How many files an operation wrote: `2 created`, `1 deleted`; nothing for what there was none of. */
export function writtenCounts({
  created,
  modified,
  deleted,
}: Readonly<Record<"created" | "modified" | "deleted", number>>): string[] {
  const parts = [
    [created, "created"],
    [modified, "changed"],
    [deleted, "deleted"],
  ] as const;
  return parts.filter(([number]) => number > 0).map(([number, word]) => `${grouped(number)} ${word}`);
}
