/**
 * Where a command's output goes: results to stdout, progress and warnings to stderr. Foreign text must have gone through
 * `visible` before it comes here. As a second line of defence, only line ends, tabs and colours pass.
 */
import { redactJson } from "@belay/protocol/redact";
import { fitLines } from "@belay/tui/text";
import type { SentText } from "./pager.ts";
import { ownTerminal, quietlyClosing, showAtOnce, throughPager, type Terminal } from "./streams.ts";
import { createStyle, type ColourChoice, type Style } from "./style.ts";

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

/** Shows a text at once, in a pager where it is longer than the window, and comes back when the person leaves it. */
export async function showPaged(text: string): Promise<void> {
  await showAtOnce(`${harmless(text)}\n`);
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

// Everything but tabs, line ends and our own colours.
// oxlint-disable-next-line no-control-regex -- control characters are what this is about
const HARMFUL = /\u001b(?!\[\d{1,2}m)|[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f]/g;

function harmless(text: string): string {
  return text.replace(HARMFUL, "\ufffd");
}
