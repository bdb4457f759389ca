/** What the engine needs from the world besides files. Tests hand in a predictable one. */
import type { IdSource } from "./ids.ts";
import type { ProcessIdentity } from "./process-identity.ts";

export interface System {
  /** Milliseconds since 1970, for what people see. Order comes from sequence numbers, never from this. */
  readonly now: () => number;
  /** A time of `now` as ISO 8601, UTC. */
  iso(ms: number): string;
  /** Milliseconds on a clock that never jumps, for durations. */
  elapsed(): number;
  newId: IdSource;
  /** This process, precisely enough that a reused pid is not mistaken for it. */
  owner: ProcessIdentity;
  isAlive(owner: ProcessIdentity): boolean;
  /** Whether a process has started others since a time of `now` that still run; undefined where the system does not tell. */
  hasStarted(process: ProcessIdentity, since: number): boolean | undefined;
  /** Where `git` is looked for, the one program that is asked anything. */
  commandPath: string;
  homeDirectory: string;
  userId: number | undefined;
}
