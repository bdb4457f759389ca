/** Where checkpoints were fetched from. Imported ones have the name of a program there; fetched ones name a line. */

/** A line of a remote's space. */
export interface RemoteOrigin {
  /** The name of the remote, in this workspace. */
  readonly remote: string;
  readonly line: string;
}

/** Begins the `origin` of every checkpoint that was fetched. */
export const FETCHED_PREFIX = "remote:";

/** The `origin` of a checkpoint that was fetched from a line. */
export function originText({ remote, line }: RemoteOrigin): string {
  return `${FETCHED_PREFIX}${remote}:${line}`;
}

/** The line that a checkpoint was fetched from; undefined for one that was captured here or imported. */
export function remoteOrigin(origin: string | null): RemoteOrigin | undefined {
  if (origin?.startsWith(FETCHED_PREFIX) !== true) return undefined;
  const [remote = "", line = ""] = origin.slice(FETCHED_PREFIX.length).split(":");
  return { remote, line };
}
