/**
 * Where the resident process is switched off, the end of a turn has what waits for the remotes sent, by a process of its own that
 * nothing waits for [T13]: once a minute at most, and not before the first push, which asks about secrets.
 */
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readSettings, type Workspace } from "@belay/engine";
import { ownEnvironment } from "./own-environment.ts";

const PAUSE_MS = 60_000;
/** It goes on asking for so long. */
const PATIENCE = "20s";

/** Starts `belay sync` for each remote that something waits for. */
export function syncAfterTurn(home: string, workspace: Workspace): void {
  if (process.env["BELAY_RESIDENT"] !== "off" || readSettings(home)["sync.automatic"] === "off") return;
  for (const { name, segment, began, space, line } of workspace.exchange.remotes()) {
    const isFirst = segment === 0 && began === null;
    if (isFirst || workspace.exchange.queued(name).records === 0) continue;
    const directory = join(home, "spaces", space);
    if (!isDue(directory, line)) continue;
    const { spawn } = process.getBuiltinModule("node:child_process");
    const words = ["--home", home, "-C", workspace.root, "sync", "--remote", name, "--wait", PATIENCE];
    spawn(process.execPath, [process.argv[1]!, ...words], {
      cwd: "/",
      detached: true,
      stdio: "ignore",
      env: ownEnvironment({ BELAY_RESIDENT: "off" }),
    })
      .on("error", () => undefined)
      .unref();
  }
}

/** Whether the last one was started a minute ago; it counts as started now then. */
function isDue(directory: string, line: string): boolean {
  const mark = join(directory, `synced-${line}`);
  const last = statSync(mark, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (Math.abs(Date.now() - last) < PAUSE_MS) return false;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  writeFileSync(mark, "", { mode: 0o600 });
  return true;
}
