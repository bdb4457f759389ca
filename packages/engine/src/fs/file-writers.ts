/**
 * Which processes can still write to a file that has lost its name. Only /proc knows; elsewhere the list is
 * empty.
 */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** A process that has a file open for writing. */
export interface Writer {
  readonly pid: number;
  /** The path of the file as the kernel knows it. */
  readonly path: string;
}

/**
 * The processes that have a file whose path contains `part` open for writing. Processes of other users may be
 * invisible.
 */
export function findWriters(part: string): Writer[] {
  return namesIn("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      const descriptors = `/proc/${pid}/fd`;
      return namesIn(descriptors).flatMap((number) => {
        const path = targetOf(`${descriptors}/${number}`);
        const writes = path.includes(part) && isForWriting(`/proc/${pid}/fdinfo/${number}`);
        return writes ? [{ pid: Number(pid), path }] : [];
      });
    });
}

/** Returns nothing for a process that has ended or belongs to another user. */
function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function targetOf(link: string): string {
  try {
    return readlinkSync(link, "latin1");
  } catch {
    return "";
  }
}

/** The last octal digit of the flags is the access mode. When in doubt, the file counts as being written. */
function isForWriting(info: string): boolean {
  try {
    return !/^flags:\s+\d*[04]$/m.test(readFileSync(info, "latin1"));
  } catch {
    return true;
  }
}
