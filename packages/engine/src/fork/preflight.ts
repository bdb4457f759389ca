/** Refuses a fork that would not fit, before anything of it is written. Both numbers are in the refusal. */
import type { AbsolutePath } from "../fs/absolute-path.ts";
import { diskBytes } from "../fs/mutate.ts";
import type { ForkRow } from "../history/forks.ts";
import { EngineError, type ErrorFacts } from "../model/errors.ts";
import type { ForkSettings } from "../model/fork.ts";

const MIB = 1024 * 1024;
/** This much of a disk, and this share of it, stays free. */
const SPARE_BYTES = 1024 * MIB;
const SPARE_SHARE = 0.05;
/** What a file takes whose blocks are shared. */
const CLONED_BYTES = 1024;

/** What a fork would be made of. */
export interface Wanted {
  readonly files: number;
  readonly bytes: number;
  readonly clone: boolean;
}

/** The bytes that making a fork writes. */
function bytesToWrite({ files, bytes, clone }: Wanted): number {
  return clone ? files * CLONED_BYTES : bytes;
}

/** Throws `FORK_LIMIT` when there are too many forks, they would take too much, or the disk is too full. */
export function refuseTooMuch(
  place: AbsolutePath,
  request: { wanted: Wanted; forks: readonly ForkRow[]; settings: ForkSettings },
): void {
  const { wanted, forks, settings } = request;
  const live = forks.filter(({ state }) => state === "ready" || state === "making");
  if (live.length >= settings.limit)
    throw tooMuch(
      `There are ${live.length} forks, and forks.limit is ${settings.limit}. Remove one with "belay fork remove"`,
      { limit: "forks.limit", needed: live.length + 1, available: settings.limit },
    );
  const needed = bytesToWrite(wanted);
  const taken = forks.reduce((sum, { bytesOnDisk }) => sum + bytesOnDisk, 0);
  const left = Math.max(settings.bytes - taken, 0);
  if (needed > left)
    throw tooMuch(`The fork would take ${inMib(needed)}, and ${inMib(left)} of forks.bytes are left`, {
      limit: "forks.bytes",
      needed,
      available: left,
    });
  const available = availableBytes(place);
  if (needed > available)
    throw tooMuch(`The fork would take ${inMib(needed)}, and ${inMib(available)} of the disk may be used`, {
      limit: "disk",
      needed,
      available,
    });
}

/** What may be written where forks are. */
function availableBytes(place: AbsolutePath): number {
  const { free, total } = diskBytes(place);
  return Math.max(Math.floor(free - Math.max(SPARE_BYTES, total * SPARE_SHARE)), 0);
}

function inMib(bytes: number): string {
  return `${Math.ceil(bytes / MIB)} MiB`;
}

function tooMuch(message: string, facts: ErrorFacts["FORK_LIMIT"]): EngineError<"FORK_LIMIT"> {
  return new EngineError("FORK_LIMIT", `${message}. Nothing was changed.`, facts);
}
