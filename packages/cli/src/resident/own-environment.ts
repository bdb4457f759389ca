/** The environment of processes of Belay's own that live on when the command that started them ends. */

/**
 * That of this process without the mark of a run: every process that carries it is ended with the run, and Belay's own
 * may have been started from within one. Nor has it what a hook says of its one event: hooks below would say it of theirs.
 */
export function ownEnvironment(more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const environment = { ...process.env };
  for (const name of ["BELAY_RUN", "BELAY_EVENT", "BELAY_WAIT_MS", "BELAY_CLIENT"]) delete environment[name];
  return { ...environment, ...more };
}
