/**
 * [R100] The one place that decides whether a program may be started for the user. The first use of each in a workspace is
 * shown and asked; what the user agreed to is kept in `$BELAY_HOME/known-commands.json`. Who asks is the command; who
 * starts a program later, or in another process, only looks whether the user agreed.
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
  /** `--yes`, where the command line or the settings name the commands: what Belay chooses is not meant by it. */
  readonly yes: boolean;
}

/** True when the user agrees, or agreed before; throws `CONFIRMATION_REQUIRED` where the user cannot be asked. */
export async function agreeToCommands(
  call: Pick<Call, "home" | "output">,
  use: CommandUse,
): Promise<boolean> {
  const fresh = unknownOf(call, use);
  if (fresh.length === 0) return true;
  if (!use.yes && !(await confirm(call, questionAbout(fresh, use)))) return false;
  keep(call, use, fresh);
  return true;
}

/** The same, and no where the user cannot be asked: what the program is for can wait for another command. */
export async function agreeIfAsked(call: Pick<Call, "home" | "output">, use: CommandUse): Promise<boolean> {
  return use.yes || call.output.canAsk || isAgreed(call, use) ? agreeToCommands(call, use) : false;
}

/** Whether the user agreed before. No question is put. */
export function isAgreed(call: Pick<Call, "home">, use: Omit<CommandUse, "yes">): boolean {
  return unknownOf(call, use).length === 0;
}

function unknownOf({ home }: Pick<Call, "home">, { workspace, commands }: Omit<CommandUse, "yes">): string[] {
  const agreed = new Set(readKnown(home)[workspace] ?? []);
  const names = new Set(commands.filter((words) => words.length > 0).map((words) => JSON.stringify(words)));
  return [...names].filter((name) => !agreed.has(name));
}

function questionAbout(fresh: readonly string[], { notices = [] }: CommandUse): string {
  const shown = fresh.map((name) => `  ${visible(shellWords(JSON.parse(name) as string[]))}`);
  return [
    "Belay has not started this here before:",
    ...shown,
    ...notices.map((each) => `  ${visible(each)}`),
    "Start it, with your rights and without a sandbox?",
  ].join("\n");
}

function keep({ home }: Pick<Call, "home">, { workspace }: CommandUse, fresh: readonly string[]): void {
  const known = readKnown(home);
  const agreed = new Set(known[workspace] ?? []);
  writeKnown(home, { ...known, [workspace]: [...agreed, ...fresh].slice(-MOST) });
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
