/** Lines that an admin took over because their machines are gone: the newest roster says whose they are. */
import type { Member } from "./roster.ts";
import type { Space } from "./space.ts";

/** [R2240] The admin who restates a line; undefined when its writer does. One who is no longer an admin restates nothing. */
export function adopterOf({ roster }: Pick<Space, "roster">, line: string): Member | undefined {
  const { adoptions = [], members } = roster.roster;
  const adoption = adoptions.find((one) => one.line === line);
  return members.find(({ id, role }) => id === adoption?.by && role === "admin");
}

/**
 * [R2243] For so long after its adoption the writer of a line may not know of it: what it used of the members may be ten minutes old
 * when a push begins, and a push of an hour looks again before it claims anything. What the server gets later than this does not
 * count, and before this the adopter does not begin: whatever counts, it has read.
 */
export const ADOPTION_FENCE_MS = 2 * 60 * 60 * 1000;

/** When a line was taken from its writer, by the server's clock; undefined when it never was. */
export function takenAt({ rosters }: Pick<Space, "rosters">, line: string): number | undefined {
  return rosters.find(({ roster }) => roster.adoptions?.some((one) => one.line === line))?.at;
}

/** Whether a line was taken from its writer, also where the admin who took it is gone since. */
export function isAdopted({ roster }: Pick<Space, "roster">, line: string): boolean {
  return roster.roster.adoptions?.some((one) => one.line === line) === true;
}

/** The lines that a member restates, and since when by the server's clock. */
export function adoptedBy(
  { rosters, roster }: Pick<Space, "roster" | "rosters">,
  member: string,
): { readonly line: string; readonly since: number }[] {
  return (roster.roster.adoptions ?? [])
    .filter(({ by }) => by === member)
    .map(({ line }) => ({ line, since: adoptedAt(rosters, line, member) }));
}

function adoptedAt(rosters: Space["rosters"], line: string, member: string): number {
  let at = 0;
  for (const one of rosters.toReversed()) {
    const isTheirs = one.roster.adoptions?.some((each) => each.line === line && each.by === member) === true;
    if (!isTheirs) return at;
    ({ at } = one);
  }
  return at;
}
