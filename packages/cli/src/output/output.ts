/**
 * Where a command's output goes: results to stdout, progress and warnings to stderr. A closed pipe (`belay
 * list | head -1`) is not an error: the rest of the output is dropped, and the command finishes its work.
 * Foreign text must have gone through `visible` before it comes here. As a second line of defence, only line
 * ends, tabs and colours pass.
 */
import { fstatSync } from "node:fs";
import { redactJson } from "@belay/protocol/redact";
import { ContractError } from "@belay/protocol/errors";
import { fitLines } from "@belay/tui/text";
import { Pager, pagerCommand, type SentText } from "./pager.ts";
import { createStyle, wantsColour, type ColourChoice, type Style } from "./style.ts";

/** The output of one command. */
export interface Output {
  /** Separate styles: stdout and stderr may be terminals or not. */
  readonly style: Style;
  readonly noteStyle: Style;
  /** Columns of the terminal; Infinity when stdout is not one. */
  readonly width: number;
  readonly isTerminal: boolean;
  /** True when stdout gets colours, terminal or not. */
  readonly isColoured: boolean;
  /** True when there is a terminal to ask on. */
  readonly canAsk: boolean;
  readonly quiet: boolean;
  /** The result, as text of one or more lines, which are made to fit the terminal. */
  print(text: string): void;
  /** The content of files: its lines stay as they are. */
  content(text: string): void;
  /** The result for programs. */
  json(value: unknown): void;
  /** Extra information (stderr); left out with `--quiet`. */
  note(text: string): void;
  /** Warnings that must not be missed (stderr). */
  warn(text: string): void;
  /** Writes exact bytes to stdout; false once the reader is gone. */
  raw(bytes: Uint8Array | string): Promise<boolean>;
}

/** The options that concern output. */
export interface OutputOptions {
  readonly json: boolean;
  readonly quiet: boolean;
  /** `--color`; without it the surroundings decide. */
  readonly color?: ColourChoice;
  /** True for output that people read page by page. */
  readonly paged?: boolean;
}

/** What is known about the terminals behind stdout and stderr. */
export interface Terminal {
  readonly colour: boolean;
  readonly noteColour: boolean;
  /** Columns of stdout; null when it is not a terminal. */
  readonly columns: number | null;
}

/** The terminals of this process. */
export function ownTerminal(): Terminal {
  const { env } = process;
  const [stdout, stderr] = [terminalAt("stdout"), terminalAt("stderr")];
  return {
    colour: wantsColour(stdout ?? {}, env),
    noteColour: wantsColour(stderr ?? {}, env),
    columns: stdout?.isTTY ? stdout.columns || 80 : null,
  };
}

/** The stream, if it can be a terminal's. To make a stream takes longer than to look where it would lead. */
function terminalAt(name: keyof typeof DESCRIPTORS): NodeJS.WriteStream | undefined {
  try {
    return fstatSync(DESCRIPTORS[name]).isCharacterDevice() ? process[name] : undefined;
  } catch {
    // closed, or of a kind that only the stream knows
    return process[name];
  }
}

const DESCRIPTORS = { stdout: 1, stderr: 2 } as const;

/** Makes the streams, for a command that has nothing to do at the moment and will write later. */
export function prepareStreams(): void {
  for (const name of ["stdout", "stderr"] as const) watch(process[name]);
}

/** The output of this process. */
export function createOutput(options: OutputOptions): Output {
  const stdout = quietlyClosing(process.stdout);
  const stderr = quietlyClosing(process.stderr);
  const write = ({ to, text }: SentText) => (to === "stdout" ? stdout : stderr).write(text);
  const send = options.paged === true ? throughPager(write) : write;
  const output = { ...outputTo(send, ownTerminal(), options), raw: stdout.writeAll };
  // evaluated when a question comes up: inspecting stdin takes milliseconds
  const canAsk = () => !options.json && process.stdin.isTTY === true && process.stdout.isTTY === true;
  return Object.defineProperty(output, "canAsk", { get: canAsk });
}

/** An output for a caller in another process: collects what goes there. */
export function collectOutput(terminal: Terminal, options: OutputOptions, texts: SentText[]): Output {
  return outputTo((text) => texts.push(text), terminal, options);
}

/** Writes what another process collected. */
export function writeTexts(texts: readonly SentText[], { paged }: { readonly paged: boolean }): void {
  const write = ({ to, text }: SentText) => quietlyClosing(process[to]).write(text);
  texts.forEach(paged ? throughPager(write) : write);
}

/** Shows a text at once, in a pager where it is longer than the window, and comes back when the person leaves it. */
export async function showPaged(text: string): Promise<void> {
  const write = ({ text: shown }: SentText) => quietlyClosing(process.stdout).write(shown);
  const before = opened;
  const send = throughPager(write);
  send({ to: "stdout", text: `${harmless(text)}\n` });
  if (opened !== before) await endOutput();
  opened = before;
}

let opened: Pager | undefined;

/** Where there is no terminal, or the user wants no pager, `write` itself. */
function throughPager(write: (text: SentText) => void): (text: SentText) => void {
  const { stdout, stderr, env } = process;
  const command = stdout.isTTY ? pagerCommand(env) : undefined;
  if (command === undefined) return write;
  const pager = new Pager(command, { rows: stdout.rows || 24, columns: stdout.columns || 80, write });
  opened = pager;
  return (text) => (text.to === "stderr" && !stderr.isTTY ? write(text) : pager.send(text));
}

/** Shows what is left and waits for the pager, if there is one. The exit code, if an interrupt ended it. */
export async function endOutput(): Promise<number | undefined> {
  const pager = opened;
  opened = undefined;
  return pager?.end();
}

function outputTo(send: (text: SentText) => unknown, terminal: Terminal, options: OutputOptions): Output {
  const print = (text: string) => void send({ to: "stdout", text: `${text}\n` });
  const width = terminal.columns ?? Number.POSITIVE_INFINITY;
  const warn = (text: string) => void send({ to: "stderr", text: `${fitLines(harmless(text), width)}\n` });
  const { color } = options;
  const isColoured = color === "always" || (terminal.colour && color !== "never");
  return {
    style: createStyle(isColoured),
    noteStyle: createStyle(terminal.noteColour && color !== "never"),
    isColoured,
    width,
    isTerminal: terminal.columns !== null,
    canAsk: false,
    quiet: options.quiet,
    print: (text) => print(fitLines(harmless(text), width)),
    content: (text) => print(harmless(text)),
    json: (value) => print(JSON.stringify(redactJson(value), undefined, 2)),
    note: (text) => (options.quiet ? undefined : warn(text)),
    warn,
    raw: () => Promise.reject(new Error("bytes go to the stdout of this process only")),
  };
}

/** A stream whose reader may disappear at any time. */
function quietlyClosing(stream: NodeJS.WriteStream) {
  watch(stream);
  return {
    write: (text: string) => void (!failures.has(stream) && stream.write(text)),
    writeAll: async (bytes: Uint8Array | string) => {
      if (failures.has(stream)) return false;
      if (!stream.write(bytes)) await readyAgain(stream);
      return !failures.has(stream);
    },
  };
}

function readyAgain(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    for (const event of ["drain", "error", "close"]) stream.once(event, () => resolve());
  });
}

const failures = new Map<NodeJS.WriteStream, NodeJS.ErrnoException>();

function watch(stream: NodeJS.WriteStream): void {
  if (stream.listeners("error").includes(remember)) return;
  // without a listener, a failing write would end the process in the middle of its work
  stream.on("error", remember);
}

function remember(this: NodeJS.WriteStream, error: NodeJS.ErrnoException): void {
  failures.set(this, error);
}

/** Throws if a result could not be written: a full disk is an error, a reader that went away is not. */
export async function assertWritten(): Promise<void> {
  // a write that failed at once is reported a moment later
  await new Promise(setImmediate);
  const failure = failures.get(process.stdout);
  if (failure === undefined || failure.code === "EPIPE") return;
  throw new ContractError("OUTPUT_FAILED", `The result could not be written: ${failure.message}.`, {
    hint: "The command itself was done; run it again with another output to see its result.",
  });
}

// Everything but tabs, line ends and our own colours.
// oxlint-disable-next-line no-control-regex -- control characters are what this is about
const HARMFUL = /\u001b(?!\[\d{1,2}m)|[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f]/g;

function harmless(text: string): string {
  return text.replace(HARMFUL, "\ufffd");
}
