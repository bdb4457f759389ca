/** Members whose content the user of this home has taken in before: only the first time is asked about. */
import { join } from "node:path";
import { readIfThere, writePrivately } from "./identity.ts";
import { spaceDirectory } from "./space.ts";

const FILE = "known-writers.json";

/** Whether content of a member was taken in before. */
export function isKnownWriter(home: string, space: string, member: string): boolean {
  return readKnown(home, space).includes(member);
}

/** Notes that the user takes in what a member writes. */
export function noteKnownWriter(home: string, space: string, member: string): void {
  const known = new Set([...readKnown(home, space), member]);
  writePrivately(spaceDirectory(home, space), FILE, `${JSON.stringify([...known])}\n`);
}

function readKnown(home: string, space: string): string[] {
  const text = readIfThere(join(spaceDirectory(home, space), FILE));
  try {
    const known: unknown = JSON.parse(text ?? "[]");
    return Array.isArray(known) ? known.map(String) : [];
  } catch {
    // of a disk that failed: the user is asked again
    return [];
  }
}
