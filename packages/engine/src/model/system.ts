/** What the engine needs from the world besides files. Tests pass a predictable one. */
import type { IdSource } from "./ids.ts";
import type { ProcessIdentity } from "./process-identity.ts";

/** A time as clocks and calendars here show it. Months are 1 to 12. */
export interface LocalTime {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
}

/** Clock, ids, processes and environment. */
export interface System {
  /** Milliseconds since 1970, for display only. Order comes from sequence numbers. */
  readonly now: () => number;
  /** A time from `now` as ISO 8601, UTC. */
  iso(ms: number): string;
  /** A time from `now` in the zone of this process, and back. Fields beyond their range carry over, as in `Date`. */
  toLocal(ms: number): LocalTime;
  fromLocal(time: LocalTime): number;
  /** Milliseconds on a monotonic clock, for durations. */
  elapsed(): number;
  newId: IdSource;
  /** This process, precisely enough that a reused pid is not mistaken for it. */
  owner: ProcessIdentity;
  isAlive(owner: ProcessIdentity): boolean;
  /**
   * Whether `process` has children, started since this time, that still run; undefined where the system
   * cannot tell.
   */
  hasStarted(process: ProcessIdentity, since: number): boolean | undefined;
  /** The search path for `git`, the only program the engine runs. */
  commandPath: string;
  homeDirectory: string;
  userId: number | undefined;
}
