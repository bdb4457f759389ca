/** Places that no other user of the machine can write to: what is there, this user put there. */
import { chmodSync, lstatSync, mkdirSync, statSync, type Stats } from "node:fs";
import { dirname } from "node:path";

const OTHERS = 0o077;
const OTHERS_WRITE = 0o022;
const STICKY = 0o1000;
const ROOT = 0;

/**
 * Creates a directory for this user alone, whatever the umask. A link, or what another user owns, is left as
 * it is.
 */
export function makePrivateDirectory(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) {
    if (statSync(dirname(path), { throwIfNoEntry: false }) === undefined) makePrivateDirectory(dirname(path));
    mkdirSync(path, { recursive: true, mode: 0o700 });
  }
  const stat = lstatSync(path);
  if (stat.isDirectory() && isOwn(stat) && (stat.mode & 0o777) !== 0o700) chmodSync(path, 0o700);
}

/**
 * True when other users can neither enter it nor replace it. Where there are no user ids, the system ensures
 * that.
 */
export function isPrivateDirectory(path: string): boolean {
  if (process.getuid === undefined) return true;
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat?.isDirectory() === true && isOwn(stat) && (stat.mode & OTHERS) === 0 && isKept(dirname(path));
}

/** True for a socket that this user created. */
export function isPrivateSocket(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat?.isSocket() === true && isOwn(stat);
}

/** True when only this user and root can change names in a directory; in a sticky one, only their owners. */
function isKept(parent: string): boolean {
  // a home may be reached through a link of the user's
  const stat = statSync(parent, { throwIfNoEntry: false });
  if (stat === undefined) return false;
  const isShared = (stat.mode & OTHERS_WRITE) !== 0 && (stat.mode & STICKY) === 0;
  return !isShared && (isOwn(stat) || stat.uid === ROOT);
}

function isOwn({ uid }: Stats): boolean {
  return process.getuid === undefined || uid === process.getuid();
}
