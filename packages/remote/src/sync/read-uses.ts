/** Which parcels an object of a line names: nothing else of it is looked at. */
import { spanIn, type Span } from "../line/keys-of-space.ts";
import { openSegment, type SegmentOpening } from "../line/segment.ts";
import { readHeader } from "../parcel/parcel.ts";
import { secretFor, type Space } from "../space/space.ts";
import { judgeSignature } from "../space/writer-rights.ts";
import type { StoredObject } from "../stores/remote-store.ts";
import { LineDamage } from "./read-line.ts";

/** The parcels that a segment or fold names; undefined when it is gone. */
export async function readUses(
  space: Space,
  { key, modified }: Pick<StoredObject, "key" | "modified">,
): Promise<readonly string[] | undefined> {
  const got = await space.store.get(key);
  if (got === undefined) return undefined;
  const { bytes } = got;
  const judge: SegmentOpening["judge"] = (head, parcel) => {
    const verdict = judgeSignature(space, "line", {
      member: head.member,
      certificate: head.certificate,
      at: modified,
      generation: readHeader(bytes).generation,
      isSignedBy: (signer) => parcel.isSignedBy(signer),
    });
    if (verdict === "forged")
      throw new LineDamage("forged", key, "no member of the space signed this segment");
  };
  return openSegment(bytes, { key, secret: secretFor(space, bytes), judge }).uses;
}

/** All parcels that a line names now: by its newest segment, or the base that restates that one. */
export async function newestUses(space: Space, line: string): Promise<Set<string>> {
  let newest: (StoredObject & Span) | undefined;
  for await (const object of space.store.list(space.names.segmentsOf(line))) {
    const span = spanIn(object.key);
    if (span === undefined) continue;
    const isNewer =
      newest === undefined || span.to > newest.to || (span.to === newest.to && span.from < newest.from);
    if (isNewer) newest = { ...object, ...span };
  }
  return new Set(newest === undefined ? [] : await readUses(space, newest));
}
