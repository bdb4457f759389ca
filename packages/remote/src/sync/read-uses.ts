/** Which parcels an object of a line names: nothing else of it is looked at. */
import { spanIn, type Span } from "../line/keys-of-space.ts";
import { openSegment, type SegmentOpening } from "../line/segment.ts";
import { readHeader } from "../parcel/parcel.ts";
import { secretFor, type Space } from "../space/space.ts";
import { judgeLineObject } from "../space/writer-rights.ts";
import type { StoredObject } from "../stores/remote-store.ts";
import { LineDamage } from "./read-line.ts";

/** What an object of a line names. */
export interface Uses {
  readonly uses: readonly string[];
  /** Of a base that forgets: the parcels that it gave up for that. */
  readonly forgets: readonly string[] | undefined;
  /** Whether the writer of the line put it there, and it is what its key says. */
  readonly isTrue: boolean;
}

/** What a segment or fold names; undefined when it is gone. */
export async function readUses(
  space: Space,
  { key, modified }: Pick<StoredObject, "key" | "modified">,
  at: Span & { readonly line: string },
): Promise<Uses | undefined> {
  const got = await space.store.get(key);
  if (got === undefined) return undefined;
  const { bytes } = got;
  let isWritten = false;
  const judge: SegmentOpening["judge"] = (head, parcel) => {
    const verdict = judgeLineObject(space, head, {
      at: modified,
      generation: readHeader(bytes).generation,
      isSignedBy: (signer) => parcel.isSignedBy(signer),
    });
    if (verdict === "forged")
      throw new LineDamage("forged", key, "no member of the space signed this segment");
    isWritten = verdict === "counts";
  };
  const { uses, head } = openSegment(bytes, { key, secret: secretFor(space, bytes), judge });
  const isThis =
    head.line === at.line && head.number === at.to && (head.fold?.from ?? head.number) === at.from;
  return { uses, forgets: head.fold?.forgets, isTrue: isWritten && isThis };
}

/** All parcels that a line names now: by its newest segment, or the base that restates that one. */
export async function newestUses(space: Space, line: string): Promise<Set<string>> {
  let newest: (StoredObject & Span) | undefined;
  for await (const object of space.store.list(space.names.segmentsOf(line))) {
    const span = spanIn(object.key);
    if (span === undefined) continue;
    const isNewer =
      newest === undefined ||
      span.to > newest.to ||
      (span.to === newest.to && span.from < newest.from) ||
      // [R2242] of two that restate the same segments the newer counts
      (span.to === newest.to && span.from === newest.from && object.modified > newest.modified);
    if (isNewer) newest = { ...object, ...span };
  }
  if (newest === undefined) return new Set();
  return new Set((await readUses(space, newest, { line, ...newest }))?.uses);
}
