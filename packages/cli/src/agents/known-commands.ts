/**
 * [R100] Programs that Belay starts for the user. The first use of each in a workspace is shown and asked; what the user
 * agreed to is kept in `$BELAY_HOME/known-commands.json`.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { shellWords } from "@belay/protocol/command-text";
import type { Call } from "../call/command.ts";
import { confirm } from "../call/confirmation.ts";
import { visible } from "../output/visible.ts";

/** Commands to start, and where. */
export interface CommandUse {
  readonly workspace: string;
  readonly commands: readonly (readonly string[])[];
  /** What else the user should know before agreeing. */
  readonly notices?: readonly string[];
  readonly yes: boolean;
}

/** True when the user agrees, or agreed before; throws `CONFIRMATION_REQUIRED` where the user cannot be asked. */
export async function agreeToCommands(
  call: Pick<Call, "home" | "output">,
  { workspace, commands, notices = [], yes }: CommandUse,
): Promise<boolean> {
  const known = readKnown(call.home);
  const agreed = new Set(known[workspace] ?? []);
  const names = [...new Set(commands.map((words) => JSON.stringify(words)))];
  const fresh = names.filter((name) => !agreed.has(name));
  if (fresh.length === 0) return true;
  if (!yes) {
    const shown = fresh.map((name) => `  ${visible(shellWords(JSON.parse(name) as string[]))}`);
    const lines = [
      "Belay has not started this here before:",
      ...shown,
      ...notices.map((each) => `  ${visible(each)}`),
    ];
    const question = "Start it, with your rights and without a sandbox?";
    if (!(await confirm(call, [...lines, question].join("\n")))) return false;
  }
  writeKnown(call.home, { ...known, [workspace]: [...agreed, ...fresh].slice(-MOST) });
  return true;
}

const FILE = "known-commands.json";
const MOST = 200;

function readKnown(home: string): Record<string, string[]> {
  try {
    return JSON.parse(readFileSync(join(home, FILE), "utf8")) as Record<string, string[]>;
  } catch {
    // without it every command is asked about again
    return {};
  }
}

function writeKnown(home: string, known: Record<string, string[]>): void {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const path = join(home, FILE);
  const fresh = `${path}.${process.pid}`;
  writeFileSync(fresh, `${JSON.stringify(known, undefined, 2)}\n`, { mode: 0o600 });
  renameSync(fresh, path);
}
