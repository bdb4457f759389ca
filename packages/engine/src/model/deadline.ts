/** Until when somebody waited for a capture: what changed later may be what they did next. */
export interface Deadline {
  /** By the system's clock, in milliseconds. */
  readonly at: number;
  /** `late`: the capture was under way by then. `missed`: nobody took it, and it is made up for now. */
  readonly reason: "late" | "missed";
}

/** A request for a capture that is not waited for for ever. */
export interface Bounded {
  readonly deadline?: Deadline | undefined;
}
