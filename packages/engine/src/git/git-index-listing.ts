/**
 * Decodes `git ls-files --stage --debug -z`: the index as text, for split indexes, which only git can read.
 */
import type { BytePath } from "../model/byte-path.ts";
import { ENTRY_LAYOUT, EXTENDED, IndexEntries } from "./git-index-entries.ts";
import type { IndexLayout } from "./git-index-file.ts";

/** The git arguments that produce the listing. */
export const LISTING_ARGUMENTS = ["ls-files", "--stage", "--debug", "-z", "--full-name", "--", ":/"];

const ENTRY =
  /(\d+) ([0-9a-f]{40,64}) (\d)\t([^\0]+)\0 {2}ctime: \d+:\d+\n {2}mtime: (\d+):(\d+)\n[^\0]*? {2}size: (\d+)\tflags: ([0-9a-f]+)\n/y;

/** The entries below a directory; undefined when the listing has an unexpected form. */
export function decodeIndexListing(listing: Buffer, layout: IndexLayout): IndexEntries | undefined {
  const wanted = layout.prefix === "" ? "" : `${layout.prefix}/`;
  const found = matches(listing.toString("latin1"))?.filter((match) => match[4]!.startsWith(wanted));
  if (found === undefined) return undefined;
  const entryBytes = ENTRY_LAYOUT.object + layout.objectBytes + 4;
  const bytes = Buffer.alloc(found.length * entryBytes);
  found.forEach((match, index) =>
    writeEntry(bytes.subarray(index * entryBytes, (index + 1) * entryBytes), match),
  );
  const paths = found.map((match) => match[4]!.slice(wanted.length) as BytePath);
  const starts = found.map((_, index) => index * entryBytes);
  return new IndexEntries({ bytes, objectBytes: layout.objectBytes, paths, starts, hasOddEntries: true });
}

function matches(text: string): RegExpExecArray[] | undefined {
  const found: RegExpExecArray[] = [];
  ENTRY.lastIndex = 0;
  while (ENTRY.lastIndex < text.length) {
    const match = ENTRY.exec(text);
    if (match === null) return undefined;
    found.push(match);
  }
  return found;
}

/** Writes the fields that `IndexEntries` reads, as they would be in the index file. */
function writeEntry(entry: Buffer, match: RegExpExecArray): void {
  const [, mode, object, stage, , seconds, nanoseconds, size, flags] = match;
  entry.writeUInt32BE(Number(seconds) % 2 ** 32, ENTRY_LAYOUT.mtimeSeconds);
  entry.writeUInt32BE(Number(nanoseconds), ENTRY_LAYOUT.mtimeNanoseconds);
  entry.writeUInt32BE(Number.parseInt(mode!, 8), ENTRY_LAYOUT.mode);
  entry.writeUInt32BE(Number(size), ENTRY_LAYOUT.size);
  const flagsAt = ENTRY_LAYOUT.object + entry.write(object!, ENTRY_LAYOUT.object, "hex");
  // the lower half is as in the file, the upper half holds the extended flags
  const bits = Number.parseInt(flags!, 16);
  entry.writeUInt16BE((bits & 0x8000) | EXTENDED | (Number(stage) << 12), flagsAt);
  entry.writeUInt16BE((bits >>> 16) & 0x6000, flagsAt + 2);
}
