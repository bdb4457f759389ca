/** Servers on this machine: only those may be reached without encryption. */
const LOOPBACK = /^(localhost|127(?:\.\d+){3}|\[::1\])$/;

/** Whether a host name is this machine. */
export function isLoopback(hostname: string): boolean {
  return LOOPBACK.test(hostname);
}
