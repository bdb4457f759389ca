/** Which processes can still write to a file that has lost its name: only /proc tells, elsewhere none are known. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** A process that has a file open for writing. */
export interface Writer {
  readonly pid: number;
  /** The path of the file as the kernel has it. */
  readonly path: string;
}

/** The processes that have a file open for writing whose path contains `part`. Those of other users may stay unseen. */
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

/** Nothing for a process that has ended, or belongs to another user. */
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

/** The last octal digit of the flags is the access mode; what cannot be told counts as writing. */
function isForWriting(info: string): boolean {
  try {
    return !/^flags:\s+\d*[04]$/m.test(readFileSync(info, "latin1"));
  } catch {
    return true;
  }
}
