/** A process, precisely enough that a reused pid is not mistaken for it. */
export interface ProcessIdentity {
  readonly pid: number;
  /** When it started, in the system's own ticks; "" where the system does not tell. */
  readonly started: string;
  /** The boot it belongs to; "" where there is no such thing. */
  readonly boot: string;
}
