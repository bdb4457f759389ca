/** The exit codes of the contract. `belay run` returns its command's code instead. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  refused: 3,
  notFound: 4,
  damaged: 5,
  running: 6,
  newer: 7,
  /** The remote cannot be used now; local work is unaffected, and what was to be sent stays queued. */
  remote: 8,
  /** The shells' code for a command that Ctrl-C ended. */
  interrupted: 130,
} as const;

/** One of the exit codes. */
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
