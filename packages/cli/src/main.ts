/**
 * The program: hands the command to the resident process or runs it here, and turns failures into the contract's error and
 * exit code. What a command needs that is not handed over is loaded then; the engine, when a command asks for it.
 */
import { HOOK_ENVIRONMENT } from "./agents/hook-environment.ts";
import { GLOBAL_OPTIONS, optionValue, splitAtOperand } from "./call/command-line.ts";
import { COMPLETE, findCommand } from "./command-table.ts";
import { assertWritten, endOutput } from "./output/streams.ts";
import { startAwaitedResident } from "./resident/ask-resident.ts";
import { handOver } from "./resident/hand-over.ts";

/** Runs one command line (without the program's name) and returns its exit code. */
export async function main(argv: readonly string[]): Promise<number> {
  // a guess before parsing, so that usage errors have the right form too
  const form = { json: splitAtDashes(argv).includes("--json") };
  try {
    const exit = (await askedOfResident(argv)) ?? (await runHere(argv, form));
    const interrupted = await endOutput();
    await assertWritten();
    startAwaitedResident();
    return interrupted ?? exit;
  } catch (error) {
    await endOutput();
    const { reportFailure } = await import("./report-failure.ts");
    return reportFailure(error, { ...form, isColourless: isColourless(argv) });
  }
}

async function runHere(argv: readonly string[], form: { json: boolean }): Promise<number> {
  const { dispatch } = await import("./dispatch.ts");
  const { OWN_SURROUNDINGS } = await import("./call/surroundings.ts");
  return dispatch(argv, form, OWN_SURROUNDINGS);
}

/** The prefixes of variables that a command's answer depends on. */
const VARIABLES = ["HOME", "PATH", "TZ", "XDG_", ...HOOK_ENVIRONMENT];

/** Undefined when the resident process does not run this command or is not there. */
async function askedOfResident(argv: readonly string[]): Promise<number | undefined> {
  const [, [name]] = splitAtOperand(argv, GLOBAL_OPTIONS);
  const use =
    argv.length === 0
      ? isOnTerminal()
        ? undefined
        : "used"
      : name === COMPLETE
        ? "used"
        : (name === undefined ? undefined : findCommand(name))?.resident;
  // a command that stays would keep the resident process from ending
  if (use === undefined || splitAtDashes(argv).includes("--watch")) return undefined;
  return handOver(argv, { start: use === "wanted", variables: VARIABLES });
}

/** There the timeline opens, which the resident process cannot show. */
function isOnTerminal(): boolean {
  return process.stdout.isTTY === true && process.stdin.isTTY === true;
}

/** Another guess, for errors only. */
function isColourless(argv: readonly string[]): boolean {
  return splitAtDashes(argv).includes("--no-color") || optionValue(argv, "color") === "never";
}

function splitAtDashes(argv: readonly string[]): readonly string[] {
  const at = argv.indexOf("--");
  return at < 0 ? argv : argv.slice(0, at);
}
