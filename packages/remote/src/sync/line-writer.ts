/** What restating a line needs of the push that does it. */
import type { JournalEntry, ObjectHash, RemoteEntry } from "@belay/engine";
import type { SweepsSeen } from "./sweeps-seen.ts";
import type { Uploads } from "./uploads.ts";

/** The push of a line, as far as restating it needs one. */
export interface LineWriter {
  readonly entry: RemoteEntry;
  readonly sweeps: SweepsSeen;
  readonly uploads: Uploads;
  isThere(entry: Pick<JournalEntry, "key" | "detail">): Promise<boolean>;
  repair(hashes: readonly ObjectHash[]): Promise<void>;
  takeNumber(): Promise<void>;
}
