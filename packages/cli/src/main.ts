/**
 * The command line: finds the command, parses its options, runs it, and turns whatever goes wrong into
 * the contract's error and exit code. Nothing of the engine is loaded before a command needs it.
 */
import { join, resolve } from "node:path";
import { errorJson, EXIT, usageError } from "@belay/protocol/errors";
import { userHome } from "./call/user-home.ts";
import { GLOBAL_OPTIONS, parseWords, splitAtOperand, type ParsedLine } from "./call/command-line.ts";
import type { Call, Command } from "./call/command.ts";
import { COMMANDS, OTHER_WORDS } from "./command-table.ts";
import { reportError } from "./call/errors.ts";
import { nearest } from "./call/nearest.ts";
import { currentDirectory } from "./output/belay-at.ts";
import { errorText } from "./output/error-text.ts";
import { readVersion } from "./version.ts";
import { assertWritten, createOutput, type Output } from "./output/output.ts";

/** Runs one command line (without the program's name) and answers with its exit code. */
export async function main(argv: readonly string[]): Promise<number> {
  // a guess before parsing, so that a mistake on the command line is reported in the right form too
  const form = { json: splitAtDashes(argv).includes("--json") };
  try {
    const exit = await dispatch(argv, form);
    await assertWritten();
    return exit;
  } catch (error) {
    const report = reportError(error);
    const output = createOutput({ json: form.json, quiet: false });
    if (form.json) output.json(errorJson(report));
    else output.warn(errorText(report, output.noteStyle));
    return report.exit;
  }
}

async function dispatch(argv: readonly string[], form: { json: boolean }): Promise<number> {
  const [before, [name, ...after]] = splitAtOperand(argv, GLOBAL_OPTIONS);
  const globals = parseWords(before, GLOBAL_OPTIONS);
  if (globals.options["version"] === true) return printVersion(globals);
  if (name === undefined) return withoutCommand(globals);
  if (name === "help") return printHelp(globals, after[0]);
  const { default: command } = await entryOf(name).load();
  const line = parseCommandLine(command, after);
  const options = { ...globals.options, ...line.options };
  form.json = options["json"] === true;
  if (options["help"] === true) return printHelp({ ...line, options }, name);
  if (options["version"] === true) return printVersion({ ...line, options });
  checkOperands(command, line.operands.length);
  return command.run(createCall({ ...line, options }));
}

function parseCommandLine(command: Command, words: readonly string[]): ParsedLine {
  const specs = { ...GLOBAL_OPTIONS, ...command.options };
  if (command.stopsAtOperand !== true) return parseWords(words, specs);
  const [own, foreign] = splitAtOperand(words, specs);
  const operands = foreign[0] === "--" ? foreign.slice(1) : foreign;
  return { ...parseWords(own, specs), operands, dashesAt: 0 };
}

function entryOf(name: string) {
  const entry = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (entry !== undefined) return entry;
  const close =
    (Object.hasOwn(OTHER_WORDS, name) && OTHER_WORDS[name]) || nearest(name, Object.keys(COMMANDS));
  const hint = close ? `Did you mean \`belay ${close}\`?` : "`belay --help` lists the commands.";
  throw usageError(`There is no command "${name}".`, hint);
}

function checkOperands(command: Command, given: number): void {
  const { min, max } = command.operands;
  if (given >= min && given <= max) return;
  throw usageError(
    given < min ? "An argument is missing." : "Unexpected argument.",
    `Usage: belay ${command.usage}`,
  );
}

function createCall(line: ParsedLine): Call {
  const { options } = line;
  const json = options["json"] === true;
  let output: Output | undefined;
  const home = options["home"] ?? (process.env["BELAY_HOME"] || join(userHome(), ".belay"));
  return {
    options: options as Call["options"],
    operands: line.operands,
    dashesAt: line.dashesAt,
    // it need not exist: a project that was deleted can be restored by its name
    directory: resolve(currentDirectory(), (options["directory"] as string | undefined) ?? "."),
    home: resolve(currentDirectory(), home as string),
    json,
    // made when it is needed: a hook has no use for terminals, and they take milliseconds to look at
    get output() {
      return (output ??= outputOf(line));
    },
  };
}

function outputOf({ options }: ParsedLine): Output {
  return createOutput({ json: options["json"] === true, quiet: options["quiet"] === true });
}

/** The last checkpoints where there are some, help elsewhere. */
async function withoutCommand(globals: ParsedLine): Promise<number> {
  if (globals.options["help"] === true) return printHelp(globals, undefined);
  const { overview } = await import("./overview.ts");
  return (await overview(createCall(globals))) ?? printHelp(globals, undefined);
}

async function printHelp(line: ParsedLine, name: string | undefined): Promise<number> {
  const output = outputOf(line);
  const { commandHelp, generalHelp } = await import("./help.ts");
  if (name === undefined) output.print(generalHelp(output));
  else output.print(commandHelp((await entryOf(name).load()).default, output));
  return EXIT.done;
}

function printVersion(line: ParsedLine): number {
  const version = readVersion();
  const output = outputOf(line);
  if (line.options["json"] === true) output.json({ version });
  else output.print(`belay ${version}`);
  return EXIT.done;
}

function splitAtDashes(argv: readonly string[]): readonly string[] {
  const at = argv.indexOf("--");
  return at < 0 ? argv : argv.slice(0, at);
}
