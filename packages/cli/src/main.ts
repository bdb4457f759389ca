/**
 * The program: hands the command to the resident process or runs it here, and turns failures into the
 * contract's error and exit code. The engine is loaded only when a command needs it.
 */
import { errorJson } from "@belay/protocol/errors";
import { HOOK_ENVIRONMENT } from "./agents/hook-environment.ts";
import { GLOBAL_OPTIONS, optionValue, splitAtOperand } from "./call/command-line.ts";
import { findCommand } from "./command-table.ts";
import { COMPLETE, dispatch } from "./dispatch.ts";
import { reportError } from "./call/error-report.ts";
import { errorText } from "./output/error-text.ts";
import { assertWritten, createOutput, endOutput } from "./output/output.ts";
import { startAwaitedResident } from "./resident/ask-resident.ts";
import { handOver } from "./resident/hand-over.ts";
import { OWN_SURROUNDINGS } from "./call/surroundings.ts";

/** Runs one command line (without the program's name) and returns its exit code. */
export async function main(argv: readonly string[]): Promise<number> {
  // a guess before parsing, so that usage errors have the right form too
  const form = { json: splitAtDashes(argv).includes("--json") };
  try {
    const exit = (await askedOfResident(argv)) ?? (await dispatch(argv, form, OWN_SURROUNDINGS));
    const interrupted = await endOutput();
    await assertWritten();
    startAwaitedResident();
    return interrupted ?? exit;
  } catch (error) {
    await endOutput();
    const report = reportError(error);
    const output = createOutput({ ...form, quiet: false, ...(isColourless(argv) && { color: "never" }) });
    if (form.json) output.json(errorJson(report));
    else output.warn(errorText(report, output.noteStyle));
    return report.exit;
  }
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
