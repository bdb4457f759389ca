/** From a command line to its command: finds it, parses its options and runs it in the given surroundings. */
import { resolve } from "node:path";
import { EXIT, usageError } from "@belay/protocol/errors";
import { belayHome } from "./call/belay-home.ts";
import { GLOBAL_OPTIONS, splitAtOperand } from "./call/command-line.ts";
import { parseWords, type ParsedLine } from "./call/parse-words.ts";
import type { Call, Command } from "./call/command.ts";
import {
  COMMANDS,
  COMPLETE,
  findCommand,
  fullName,
  OTHER_WORDS,
  type CommandEntry,
} from "./command-table.ts";
import { colourChoice } from "./call/colour-option.ts";
import { nearest } from "./call/nearest.ts";
import type { Output } from "./output/output.ts";
import type { Surroundings } from "./call/surroundings.ts";
import { readVersion } from "./version.ts";

/** Runs one command line in the given surroundings; `form` tells from then on in which form errors are reported. */
export async function dispatch(
  argv: readonly string[],
  form: { json: boolean },
  around: Surroundings,
): Promise<number> {
  const [before, [name, ...after]] = splitAtOperand(argv, GLOBAL_OPTIONS);
  const globals = parseWords(before, GLOBAL_OPTIONS);
  if (globals.options["version"] === true) return printVersion(globals, around);
  if (name === undefined) return withoutCommand(globals, around);
  if (name === "help")
    return printHelp(
      globals,
      after.find((word) => !word.startsWith("-")),
      around,
    );
  if (name === "version") return printVersion(globals, around);
  if (name === COMPLETE) return offer(globals, after, around);
  const entry = entryOf(name);
  if (around.host !== undefined && entry.resident === undefined) throw new Error(`${name} runs alone`);
  const { default: command } = await entry.load();
  const line = parseCommandLine(command, after);
  const options = { ...globals.options, ...line.options };
  form.json = options["json"] === true;
  if (options["help"] === true) return printHelp({ ...line, options }, name, around);
  if (options["version"] === true) return printVersion({ ...line, options }, around);
  checkOperands(command, line.operands);
  const how = { paged: isPaged(entry, options), looks: entry.looks === true };
  return command.run(await createCall({ ...line, options }, around, how));
}

function parseCommandLine(command: Command, words: readonly string[]): ParsedLine {
  const specs = { ...GLOBAL_OPTIONS, ...command.options };
  if (command.stopsAtOperand !== true) return parseWords(words, specs);
  const [own, foreign] = splitAtOperand(words, specs);
  const operands = foreign[0] === "--" ? foreign.slice(1) : foreign;
  return { ...parseWords(own, specs), operands, dashesAt: 0 };
}

function entryOf(name: string) {
  const entry = findCommand(name);
  if (entry !== undefined) return entry;
  const close =
    (Object.hasOwn(OTHER_WORDS, name) && OTHER_WORDS[name]) || nearest(name, Object.keys(COMMANDS));
  const hint = close ? `Did you mean \`belay ${close}\`?` : "`belay --help` lists the commands.";
  throw usageError(`Unknown command "${name}".`, hint);
}

function checkOperands(command: Command, operands: readonly string[]): void {
  const { min, max } = command.operands;
  if (operands.length >= min && operands.length <= max) return;
  throw usageError(
    operands.length < min ? "Missing argument." : `Unexpected argument "${operands[max]}".`,
    `Usage: belay ${command.usage}`,
  );
}

function isPaged({ paged }: CommandEntry, options: ParsedLine["options"]): boolean {
  if (options["json"] === true || options["watch"] === true) return false;
  return paged === "always" || (paged === "dry-run" && options["dry-run"] === true);
}

async function createCall(
  line: ParsedLine,
  around: Surroundings,
  { paged, looks = false }: { readonly paged: boolean; readonly looks?: boolean },
): Promise<Call> {
  const { options } = line;
  let output: Output | undefined;
  // it need not exist: a project that was deleted can be restored by its name
  const directory = resolve(around.directory, (options["directory"] as string | undefined) ?? ".");
  const home = belayHome(options["home"] as string | undefined, around);
  const hosted = await around.host?.(directory, { home, looks });
  return {
    options: options as Call["options"],
    operands: line.operands,
    dashesAt: line.dashesAt,
    directory,
    home,
    json: options["json"] === true,
    environment: around.environment,
    dispatch: (argv, others) => dispatch(argv, { json: false }, others),
    ...(hosted && { hosted }),
    // made when it is needed: a hook has no use for terminals, and they take milliseconds to look at
    get output() {
      return (output ??= outputOf(line, around, { paged }));
    },
  };
}

function outputOf(
  { options }: ParsedLine,
  around: Surroundings,
  { paged }: { readonly paged: boolean },
): Output {
  const color = options["no-color"] === true ? "never" : colourChoice(options["color"] as string | undefined);
  return around.createOutput({
    json: options["json"] === true,
    quiet: options["quiet"] === true,
    paged: paged && options["no-pager"] !== true,
    ...(color && { color }),
  });
}

/** The last checkpoints where there are some, help elsewhere. */
async function withoutCommand(globals: ParsedLine, around: Surroundings): Promise<number> {
  if (globals.options["help"] === true) return printHelp(globals, undefined, around);
  const { overview } = await import("./overview.ts");
  return (
    (await overview(await createCall(globals, around, { paged: globals.options["json"] !== true }))) ??
    printHelp(globals, undefined, around)
  );
}

/** Words for a shell that completes: the words of its line come after "--". */
async function offer(globals: ParsedLine, words: readonly string[], around: Surroundings): Promise<number> {
  const { complete } = await import("./complete.ts");
  await complete(
    await createCall(globals, around, { paged: false }),
    words[0] === "--" ? words.slice(1) : words,
  );
  return EXIT.done;
}

async function printHelp(line: ParsedLine, name: string | undefined, around: Surroundings): Promise<number> {
  const output = outputOf(line, around, { paged: true });
  const { commandHelp, generalHelp } = await import("./help.ts");
  if (name === undefined) output.print(generalHelp(output));
  else output.print(commandHelp(fullName(name), (await entryOf(name).load()).default, output));
  return EXIT.done;
}

function printVersion(line: ParsedLine, around: Surroundings): number {
  const version = readVersion();
  const output = outputOf(line, around, { paged: false });
  if (line.options["json"] === true) output.json({ version });
  else output.print(`belay ${version}`);
  return EXIT.done;
}
