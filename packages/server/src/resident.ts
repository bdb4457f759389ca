/** For commands: where the resident process is and how to speak to it, without loading what it is made of. */
export { ExclusiveLock } from "./resident/exclusive-lock.ts";
export { RunDirectory, type ResidentFacts } from "./resident/run-directory.ts";
export { createSocketTransport } from "./resident/socket-transport.ts";
