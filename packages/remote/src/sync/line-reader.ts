/** What can be read of the lines of others: looking which moved, listing them, and fetching one checkpoint. */
import type { RemoteEntry } from "@belay/engine";
import { ContractError } from "@belay/protocol/errors";
import { fetchCheckpoint, type FetchReport } from "./fetch.ts";
import type { LineRecords } from "./line-records.ts";
import { findLineThread, type LineThread } from "./line-threads.ts";
import {
  checkpointsOf,
  findOnOtherLine,
  isRelative,
  otherLines,
  type FoundCheckpoint,
  type LineCheckpoint,
  type OtherLine,
} from "./other-lines.ts";
import { obeyForgets, type ObeyedForgets } from "./obey-forgets.ts";
import { pull, type PullReport } from "./pull.ts";
import type { SyncStep } from "./progress.ts";
import { LineDamage } from "./read-line.ts";
import type { PushTarget } from "./push-target.ts";
import { translating } from "./translate-failure.ts";

/** What a pull found, with the lines that moved. */
export interface PulledLines extends Omit<PullReport, "lines"> {
  readonly lines: readonly (OtherLine & { readonly checkpoints: number })[];
  /** What was forgotten here, because an admin asked every machine for it. */
  readonly forgotten: ObeyedForgets | null;
}

type Progress = (done: number, total: number) => void;

/** The lines of others. Nothing of them reaches the store but what is fetched. */
export interface LineReader {
  /** Looks which lines moved, and reads their records. */
  pull(progress?: Progress): Promise<PulledLines>;
  /** The lines that are known; no server is asked. */
  lines(): Promise<OtherLine[]>;
  /** The checkpoints of a line that are known, newest first; no server is asked. */
  checkpoints(line: string, limit: number): Promise<LineCheckpoint[]>;
  /** The thread of another line that a reference means, as the server has it now. */
  thread(reference: string): Promise<LineThread>;
  /** Brings the checkpoint that a reference means into the store, or finds it there. */
  fetch(reference: string, progress?: Progress): Promise<FetchReport & { readonly line: string }>;
}

type Target = PushTarget & { readonly records: LineRecords };

/** What reading needs: what this home knows of the space and, if that is not enough, what the server has. */
export interface ReaderPlace {
  readonly open: () => Promise<Target>;
  /** The same without asking the server about members. */
  readonly openKept: () => Promise<Target>;
  readonly refresh: () => Promise<unknown>;
  /** Told why a pull failed, or null when it ended well. */
  readonly settle: (problem: string | null) => void;
  /** Told that a pull begins; what is returned is told how far it is. */
  readonly telling: () => (step: SyncStep) => void;
}

/** Reads the lines of one remote. */
export function createLineReader(entry: RemoteEntry, place: ReaderPlace): LineReader {
  const { open, openKept, refresh, settle } = place;
  const known = async (how = open) => {
    const target = await how();
    return { ...target, own: entry.line };
  };
  const look = async (tell?: Progress) => {
    const telling = place.telling();
    const progress = (step: SyncStep) => {
      telling(step);
      tell?.(step.objects, step.objectsTotal);
    };
    try {
      return await pull({ ...(await known()), progress }, entry);
    } catch (error) {
      // a member, or a key generation, that came after this home last looked at the roster
      if (!(error instanceof LineDamage) || (error.kind !== "forged" && error.kind !== "damaged"))
        throw error;
      await refresh();
      return pull({ ...(await known()), progress }, entry);
    }
  };
  const pullNow = (progress?: Progress): Promise<PulledLines> =>
    translating(async () => {
      const report = await look(progress);
      const { exchange, space } = await known();
      const forgotten = obeyForgets(exchange, space, entry.name) ?? null;
      const moved = new Map(report.lines.map(({ line, checkpoints }) => [line, checkpoints]));
      const lines = otherLines(await known()).flatMap((line) => {
        const checkpoints = moved.get(line.line);
        return checkpoints === undefined ? [] : [{ ...line, checkpoints }];
      });
      return { ...report, lines, forgotten };
    });
  return {
    pull: async (progress) => {
      try {
        const pulled = await pullNow(progress);
        settle(null);
        return pulled;
      } catch (error) {
        if (error instanceof ContractError) settle(`${error.code}: ${error.message}`);
        throw error;
      }
    },
    lines: async () => otherLines(await known(openKept)),
    checkpoints: async (line, limit) => checkpointsOf(await known(openKept), line, limit),
    thread: (reference) =>
      translating(async () => {
        await look();
        return findLineThread(await known(), reference);
      }),
    fetch: (reference, progress) =>
      translating(async () => {
        const { line, record } = await findOrLook(() => known(openKept), reference, look);
        const target = await known();
        const wanted = { remote: entry.name, line, record };
        return { line, ...(await fetchCheckpoint({ ...target, progress }, wanted)) };
      }),
  };
}

/** What is known already needs no server, unless it depends on how far the line is. */
async function findOrLook(
  known: () => Promise<Parameters<typeof findOnOtherLine>[0]>,
  reference: string,
  look: () => Promise<unknown>,
): Promise<FoundCheckpoint> {
  if (!isRelative(reference))
    try {
      return findOnOtherLine(await known(), reference);
    } catch (error) {
      if (!(error instanceof ContractError) || error.code !== "CHECKPOINT_NOT_FOUND") throw error;
    }
  await look();
  return findOnOtherLine(await known(), reference);
}
