/** [T4, R2241] Whether a push may go on with its line: a copy of this store may write it too, or an admin may restate it. */
import type { RemoteEntry } from "@belay/engine";
import { spanIn } from "../line/keys-of-space.ts";
import { isAdopted } from "../space/adoptions.ts";
import type { Space } from "../space/space.ts";
import type { PushTarget } from "./push-target.ts";
import { QUIET_MS } from "./restate-line.ts";

/** The next number of our line holds other bytes, or is not ours to write any more. */
export class LineTaken extends Error {
  readonly line: string;

  /** `key`: the line, or the key of an object of it. */
  constructor(key: string) {
    super(`${key} is another's`);
    this.name = "LineTaken";
    this.line = key.split("/")[2] ?? key;
  }
}

/** [R2241] An admin restates the line since this machine was gone: what this store knows of it may be gone with that. */
export function expectNotAdopted(space: Space, line: string): void {
  if (isAdopted(space, line)) throw new LineTaken(line);
}

/** [T4] Where the server cannot refuse to overwrite, a look at the line shows whether a copy of this store wrote to it. */
export async function expectFreeLine(
  { abilities, space }: Pick<PushTarget, "abilities" | "space">,
  { line, segment }: Pick<RemoteEntry, "line" | "segment">,
): Promise<void> {
  if (abilities.createOnly) return;
  const after = `${space.names.segment(line, segment)}~`;
  for await (const { key } of space.store.list(space.names.segmentsOf(line), after)) throw new LineTaken(key);
}

/** [T4] A number that was folded and swept is free again: a copy of this store may be further. */
export async function expectOnlyWriter(
  space: Space,
  { line, pushedAt }: Pick<RemoteEntry, "line" | "pushedAt">,
  { number, now }: { readonly number: number; readonly now: number },
): Promise<void> {
  if (pushedAt === null || now - pushedAt < QUIET_MS) return;
  for await (const { key } of space.store.list(space.names.segmentsOf(line))) {
    const span = spanIn(key);
    if (span !== undefined && (span.to > number || (span.to === number && span.from < number)))
      throw new LineTaken(key);
  }
}
