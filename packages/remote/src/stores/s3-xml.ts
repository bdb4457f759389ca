/** The little XML that S3 answers: a listing, and the code of an error. */

/** An object of a listing, with its key as it is in the bucket. */
interface ListedObject {
  readonly key: string;
  readonly size: number;
  readonly etag: string;
  readonly modified: number;
}

/** A version of an object, or the mark that it was deleted, newest first for each key. */
interface ListedVersion extends ListedObject {
  readonly version: string;
  readonly isDeletion: boolean;
}

/** One page of a listing of versions. */
export function versionsOf(xml: string): {
  versions: ListedVersion[];
  next: { readonly key: string; readonly version: string } | undefined;
} {
  const found = [...xml.matchAll(/<(Version|DeleteMarker)>(.*?)<\/\1>/gs)];
  const versions = found.map(([, kind, part = ""]) => ({
    ...objectIn(part),
    version: tagIn(part, "VersionId") ?? "",
    isDeletion: kind === "DeleteMarker",
  }));
  if (tagIn(xml, "IsTruncated") !== "true") return { versions, next: undefined };
  const [key = "", version = ""] = [tagIn(xml, "NextKeyMarker"), tagIn(xml, "NextVersionIdMarker")];
  return { versions, next: { key, version } };
}

/** One page of an S3 listing. */
export function listingOf(xml: string): { objects: ListedObject[]; next: string | undefined } {
  const objects = [...xml.matchAll(/<Contents>(.*?)<\/Contents>/gs)].map(([, part = ""]) => objectIn(part));
  const isCut = tagIn(xml, "IsTruncated") === "true";
  return { objects, next: isCut ? tagIn(xml, "NextContinuationToken") : undefined };
}

function objectIn(part: string): ListedObject {
  return {
    key: tagIn(part, "Key") ?? "",
    size: Number(tagIn(part, "Size") ?? 0),
    etag: tagIn(part, "ETag") ?? "",
    modified: Date.parse(tagIn(part, "LastModified") ?? "") || 0,
  };
}

/** The text of the first element of a name. */
export function tagIn(xml: string, name: string): string | undefined {
  const [, text] = new RegExp(`<${name}>(.*?)</${name}>`, "s").exec(xml) ?? [];
  return text?.replaceAll(/&(lt|gt|amp|quot|apos|#x?[0-9a-f]+);/gi, (_, entity: string) => decoded(entity));
}

const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

function decoded(entity: string): string {
  const known = ENTITIES[entity.toLowerCase()];
  if (known !== undefined) return known;
  const isHex = /^#x/i.test(entity);
  const code = Number.parseInt(entity.slice(isHex ? 2 : 1), isHex ? 16 : 10);
  return code <= 0x10ffff ? String.fromCodePoint(code) : "";
}
