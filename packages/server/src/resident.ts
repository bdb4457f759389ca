/** For commands: how to find and reach the resident process, without loading its code. */
export { ExclusiveLock } from "./resident/exclusive-lock.ts";
export { RunDirectory, type ResidentFacts } from "./resident/run-directory.ts";
export { streamFromSocket } from "./resident/socket-stream.ts";
export { createSocketTransport } from "./resident/socket-transport.ts";
