/** [R2240] Whether a line can be adopted, and what to know before. */
import type { RemoteEntry } from "@belay/engine";
import { ContractError } from "@belay/protocol/errors";
import type { MemberKeys } from "../keys/key-pairs.ts";
import { adopterOf } from "../space/adoptions.ts";
import type { Space } from "../space/space.ts";
import { chosenLine, writerOf } from "./chosen-line.ts";
import { serverTime } from "./look-at-sweeps.ts";

/** A line that an admin may take over. */
export interface AdoptableLine {
  readonly line: string;
  /** Who wrote it, as the space calls them. */
  readonly name: string;
  /** How long ago it was written to, by the server's clock. */
  readonly idleMs: number;
}

/** The line that is meant; throws where it is written here, or another admin has it. */
export async function adoptableLine(
  space: Space,
  wanted: string,
  { keys, own }: { readonly keys: MemberKeys; readonly own: readonly RemoteEntry[] },
): Promise<AdoptableLine> {
  const line = await chosenLine(space, { line: wanted });
  if (own.some((entry) => entry.line === line))
    throw new ContractError("LINE_TAKEN", "This workspace writes that line. Nothing was changed.", {
      facts: { line },
    });
  const adopter = adopterOf(space, line);
  if (adopter !== undefined)
    throw new ContractError(
      "LINE_TAKEN",
      `${adopter.id === keys.id ? "This machine" : adopter.name} adopted that line before. Nothing was changed.`,
      { facts: { line } },
    );
  const name = (await writerOf(space, line))?.name ?? line.slice(0, 8);
  const now = await serverTime(space);
  let last = 0;
  for await (const { modified } of space.store.list(space.names.segmentsOf(line)))
    last = Math.max(last, modified);
  return { line, name, idleMs: Math.max(0, now - last) };
}
