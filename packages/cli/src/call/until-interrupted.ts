/** Work that Ctrl-C, or a request to end, brings to an orderly end: what it started is ended, and its record says so. */

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Runs work with a signal that is aborted when the process is asked to end; a second request changes nothing. */
export async function untilInterrupted<Result>(
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const ended = new AbortController();
  const end = () => ended.abort();
  for (const signal of SIGNALS) process.on(signal, end);
  try {
    return await work(ended.signal);
  } finally {
    for (const signal of SIGNALS) process.off(signal, end);
  }
}
