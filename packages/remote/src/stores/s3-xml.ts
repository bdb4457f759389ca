/** The little XML that S3 answers: a listing, and the code of an error. */

/** An object of a listing, with its key as it is in the bucket. */
interface ListedObject {
  readonly key: string;
  readonly size: number;
  readonly etag: string;
  readonly modified: number;
}

/** One page of an S3 listing. */
export function listingOf(xml: string): { objects: ListedObject[]; next: string | undefined } {
  const objects = [...xml.matchAll(/<Contents>(.*?)<\/Contents>/gs)].map(([, part = ""]) => ({
    key: tagIn(part, "Key") ?? "",
    size: Number(tagIn(part, "Size") ?? 0),
    etag: tagIn(part, "ETag") ?? "",
    modified: Date.parse(tagIn(part, "LastModified") ?? "") || 0,
  }));
  const isCut = tagIn(xml, "IsTruncated") === "true";
  return { objects, next: isCut ? tagIn(xml, "NextContinuationToken") : undefined };
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
