/**
 * A home for stores that die with the process: a private directory for temporary files, removed when the process ends. A
 * restore that a crash interrupted there is finished by the next process that asks for such a home, before the leftover
 * goes: its journal is as durable as any.
 */
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { protectedRoots } from "@belay/engine";
import { openWorkspaceSync } from "@belay/engine/sync";
import { closeDropIn } from "./root.ts";

let own: string | undefined;

/** The home of this process, and what finishing the work of dead ones said. */
export function sessionHome(tell: (notice: string) => void): string {
  const place = privatePlace();
  for (const name of readdirSync(place)) if (!isAlive(name)) finishLeft(join(place, name), tell);
  if (own !== undefined) return own;
  own = mkdtempSync(join(place, `${process.pid}-`));
  process.once("exit", () => {
    closeDropIn();
    rmSync(own!, { recursive: true, force: true });
  });
  return own;
}

/** No other user can have made it, or look into it. */
function privatePlace(): string {
  const place = join(tmpdir(), `belay-session-${process.getuid?.() ?? "user"}`);
  mkdirSync(place, { recursive: true, mode: 0o700 });
  const { uid, mode } = lstatSync(place);
  if (!lstatSync(place).isDirectory() || uid !== (process.getuid?.() ?? uid) || (mode & 0o077) !== 0)
    throw new Error(`${place} is not this user's own directory. Nothing was changed.`);
  return place;
}

function isAlive(name: string): boolean {
  try {
    process.kill(Number.parseInt(name, 10), 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

/** Opening a workspace finishes what was interrupted in it. What cannot be finished keeps its store. */
function finishLeft(home: string, tell: (notice: string) => void): void {
  try {
    for (const { path } of protectedRoots({ home })) {
      using workspace = openWorkspaceSync(path, { home });
      for (const notice of workspace.notices) tell(notice);
    }
    rmSync(home, { recursive: true, force: true });
  } catch (error) {
    if ((error as { code?: string }).code === "WORKSPACE_REFUSED")
      rmSync(home, { recursive: true, force: true });
    else tell(`${home} is kept: ${error instanceof Error ? error.message : String(error)}`);
  }
}
