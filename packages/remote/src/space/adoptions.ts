/** Lines that an admin took over because their machines are gone: the newest roster says whose they are. */
import type { Member } from "./roster.ts";
import type { Space } from "./space.ts";

/** [R2240] The admin who restates a line; undefined when its writer does. One who is no longer an admin restates nothing. */
export function adopterOf({ roster }: Pick<Space, "roster">, line: string): Member | undefined {
  const { adoptions = [], members } = roster.roster;
  const adoption = adoptions.find((one) => one.line === line);
  return members.find(({ id, role }) => id === adoption?.by && role === "admin");
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
