/** A process, precisely enough that a reused pid is not mistaken for it. */
export interface ProcessIdentity {
  readonly pid: number;
  /** The start time in the system's own ticks; "" where the system does not report it. */
  readonly started: string;
  /** The id of the boot it belongs to; "" where the system has none. */
  readonly boot: string;
}
