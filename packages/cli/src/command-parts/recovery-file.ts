/** The recovery key of a space: shown once and asked back, or written to a file; read from a file to join a space. */
import { existsSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { ContractError } from "@belay/protocol/errors";
import type { Call } from "../call/command.ts";
import { Questions } from "../call/questions.ts";
import { visible } from "../output/visible.ts";

type RecoveryCall = Pick<Call, "directory" | "home" | "output">;

const TRIES = 3;

/** The recovery key in a file that exists; undefined without one. */
export function readRecoveryFile(call: RecoveryCall, file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  const path = resolve(call.directory, file);
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}

/** The recovery key in a file that must exist. */
export function requireRecoveryFile(call: RecoveryCall, file: string | undefined): string {
  const key = readRecoveryFile(call, file);
  if (key !== undefined) return key;
  const why = file === undefined ? "The recovery key is needed" : `${visible(file)} does not exist`;
  throw new ContractError("SPACE_KEY_MISSING", `${why}. Nothing was changed.`);
}

/** Sees to it that the user keeps a new recovery key; false when they declined. */
export async function keepRecoveryKey(
  call: RecoveryCall,
  key: string,
  file: string | undefined,
): Promise<boolean> {
  if (file !== undefined) return writeRecoveryFile(call, key, file);
  if (!call.output.canAsk)
    throw new ContractError(
      "CONFIRMATION_REQUIRED",
      "A new space has a recovery key, and there is no terminal to show it on. Nothing was changed.",
      { hint: "--recovery-file <file> writes it to a file, which you then keep in a safe place." },
    );
  const { style } = call.output;
  call.output.print(
    [
      "The recovery key of the new space. It opens everything in it when all machines are lost, and is shown only now:",
      "",
      `  ${style.bold(key)}`,
      "",
      "Write it down, and keep it apart from this machine.",
    ].join("\n"),
  );
  using questions = new Questions();
  for (let left = TRIES; left > 0; left--) {
    const answer = await questions.ask("Its last four letters, to show that you have it: ");
    if (answer === undefined) return false;
    if (answer.toLowerCase() === key.slice(-4)) return true;
  }
  return false;
}

async function writeRecoveryFile(call: RecoveryCall, key: string, file: string): Promise<boolean> {
  const path = resolve(call.directory, file);
  if (existsSync(path))
    throw new ContractError(
      "OUTPUT_EXISTS",
      `${visible(file)} exists, and there is no space at that address yet. Nothing was changed.`,
      {
        hint: "Name a file that does not exist: the recovery key of the new space is written to it.",
        facts: { file: path },
      },
    );
  await refuseCaptured(call, path);
  writeFileSync(path, `${key}\n`, { mode: 0o600, flag: "wx" });
  return true;
}

/** [R890] In a protected directory the key would be captured, and pushed to every member. */
async function refuseCaptured(call: RecoveryCall, path: string): Promise<void> {
  const { listWorkspaces } = await import("@belay/engine");
  const directory = dirname(path);
  if (!existsSync(directory))
    throw new ContractError(
      "USAGE",
      `${visible(directory)} does not exist, so the recovery key cannot be written there. Nothing was changed.`,
      { hint: "Name a file in a directory that exists." },
    );
  const real = join(realpathSync(directory), basename(path));
  const around = (await listWorkspaces({ home: call.home })).find(({ path: root }) =>
    real.startsWith(`${root}/`),
  );
  if (around === undefined) return;
  throw new ContractError(
    "USAGE",
    `${visible(path)} is in ${visible(around.path)}, which is captured: the recovery key would be pushed too. Nothing was changed.`,
    { hint: "Name a file outside of it, best on another disk." },
  );
}
