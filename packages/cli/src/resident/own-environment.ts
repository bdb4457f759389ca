/** The environment of processes of Belay's own that live on when the command that started them ends. */

/**
 * That of this process without the mark of a run: every process that carries it is ended with the run, and Belay's own
 * may have been started from within one.
 */
export function ownEnvironment(more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const { BELAY_RUN: _, ...rest } = process.env;
  return { ...rest, ...more };
}
