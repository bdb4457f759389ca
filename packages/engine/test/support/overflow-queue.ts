/** Makes the kernel drop events: changes more in a watched directory, in one go, than its queue can hold. */
import { closeSync, openSync, readFileSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";

/** Until the event loop reads the queue, no event reaches this process's watches any more. */
export function overflowQueue(directory: string): void {
  const most = Number(readFileSync("/proc/sys/fs/inotify/max_queued_events", "utf8"));
  // equal events in a row would count as one
  const names = ["overflow-1", "overflow-2"].map((name) => join(directory, name));
  const files = names.map((name) => openSync(name, "w"));
  for (let at = 0; at < most + 10; at += 1) writeSync(files[at % 2]!, "\0", 0);
  files.forEach(closeSync);
  names.forEach(unlinkSync);
}
