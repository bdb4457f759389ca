/**
 * The moment at which the caller stopped waiting for a capture. Changes after it may belong to the caller's
 * next action.
 */
export interface Deadline {
  /** Milliseconds on the system's clock. */
  readonly at: number;
  /**
   * `late`: the capture was under way at the deadline. `missed`: it had not begun, and is made up for now.
   */
  readonly reason: "late" | "missed";
}

/** Capture options with a deadline. */
export interface Bounded {
  readonly deadline?: Deadline | undefined;
}
