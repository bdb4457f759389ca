/**
 * A process that watches a workspace, as the resident one does: `live-process.ts <root> <home>`. Takes one command a
 * line (scan, checkpoint, restore <id>, idle) and answers each with one line of JSON.
 */
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { findWorkspace } from "@belay/engine";

const [root, home] = process.argv.slice(2) as [string, string];
await using workspace = await findWorkspace(root, { home });
// a scan that nothing helps but the last one
await workspace.checkpoint();
const scanMs = (await workspace.checkpoint()).durationMs;
const watching = await workspace.watch();

const COMMANDS: Readonly<Record<string, (argument: string) => Promise<unknown>>> = {
  start: async () => ({ scanMs, ...watching }),
  async checkpoint() {
    const start = performance.now();
    const { id } = await workspace.checkpoint();
    return { id, ms: performance.now() - start, state: workspace.watching.state };
  },
  async restore(id) {
    const start = performance.now();
    const { outcome } = await workspace.restoreTo(id);
    return { outcome, ms: performance.now() - start };
  },
  async idle() {
    const before = process.cpuUsage();
    await delay(1000);
    const { user, system } = process.cpuUsage(before);
    const status = readFileSync("/proc/self/status", "utf8");
    const bytesOf = (field: string) => Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)![1]) * 1024;
    return {
      cpuMs: (user + system) / 1000,
      peakBytes: bytesOf("VmHWM"),
      residentBytes: bytesOf("VmRSS"),
    };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const [command, argument] = line.split(" ") as [string, string];
  process.stdout.write(`${JSON.stringify(await COMMANDS[command]!(argument))}\n`);
}
