import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { standsStillAt, untilStandingStill } from "../../engine/test/support/standing-still.ts";
import { LAUNCHER, Sandbox } from "./sandbox.ts";

const NAMES = Array.from({ length: 300 }, (_, number) => `f${String(number).padStart(4, "0")}`);
const HELPER = join(import.meta.dirname, "../../engine/dist/look.node");

test.skipIf(!existsSync(HELPER)).each(["SIGINT", "SIGTERM"] as const)(
  "[R114] %s in a long restore: says how far it was, takes it back, and the next command has nothing to see to",
  async (signal) => {
    using sandbox = await Sandbox.protected(Object.fromEntries(NAMES.map((name) => [name, "0\n"])));
    for (const name of NAMES) sandbox.write(name, "1\n");
    const child = spawn(process.execPath, [LAUNCHER, "restore", "1", "--yes"], {
      cwd: sandbox.project,
      env: { ...sandbox.environment, NODE_OPTIONS: standsStillAt(NAMES[150]!) },
      stdio: ["ignore", "ignore", "pipe"],
    });
    let said = "";
    child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString("utf8")));
    const ended = once(child, "close");
    await untilStandingStill(child.pid!);
    child.kill(signal);
    child.kill("SIGCONT");
    expect(await ended).toEqual([130, null]);
    expect(said).toMatch(/^Interrupted after [\d,]+ of 300 files; taking them back …$/m);
    expect(said).toMatch(/Interrupted after \d+ of 300 files\. Everything was put back as it was\./);
    expect(new Set(NAMES.map((name) => sandbox.read(name)))).toEqual(new Set(["1\n"]));
    expect(sandbox.belay(["list"]).stderr).toBe("");
    await sandbox.verify();
  },
);
