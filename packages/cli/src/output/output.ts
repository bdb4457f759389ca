/**
 * Where everything a command says goes: results to stdout, progress and warnings to stderr. Closed pipes
 * (`belay list | head -1`) are taken quietly: what follows is dropped, and the command finishes its work.
 * Text from elsewhere must have gone through `visible` before it comes here; as a second line of defence
 * only line ends, tabs and colours pass.
 */
import { once } from "node:events";
import { createStyle, wantsColour, type Style } from "./style.ts";

export interface Output {
  /** Styles for stdout and for stderr: each may be a terminal or not. */
  readonly style: Style;
  readonly noteStyle: Style;
  /** Columns of the terminal; Infinity when stdout is not one. */
  readonly width: number;
  readonly isTerminal: boolean;
  /** Somebody is there to answer a question. */
  readonly canAsk: boolean;
  readonly quiet: boolean;
  /** The result, as text of one or more lines. */
  print(text: string): void;
  /** The result for programs. */
  json(value: unknown): void;
  /** What is nice to know (stderr); `--quiet` leaves it out. */
  note(text: string): void;
  /** What must not be missed (stderr). */
  warn(text: string): void;
  /** Bytes exactly as they are, for stdout; false once nobody reads any more. */
  raw(bytes: Uint8Array | string): Promise<boolean>;
}

export function createOutput(options: { json: boolean; quiet: boolean }): Output {
  const stdout = quietlyClosing(process.stdout);
  const stderr = quietlyClosing(process.stderr);
  const style = createStyle(wantsColour(process.stdout, process.env));
  const noteStyle = createStyle(wantsColour(process.stderr, process.env));
  const warn = (text: string) => stderr.write(`${harmless(text)}\n`);
  return {
    style,
    noteStyle,
    width: process.stdout.isTTY ? (process.stdout.columns ?? 80) : Number.POSITIVE_INFINITY,
    isTerminal: process.stdout.isTTY === true,
    canAsk: !options.json && process.stdin.isTTY === true && process.stdout.isTTY === true,
    quiet: options.quiet,
    print: (text) => stdout.write(`${harmless(text)}\n`),
    json: (value) => stdout.write(`${JSON.stringify(value, undefined, 2)}\n`),
    note: (text) => (options.quiet ? undefined : warn(text)),
    warn,
    raw: stdout.writeAll,
  };
}

/** A stream whose reader may go away at any time. */
function quietlyClosing(stream: NodeJS.WriteStream) {
  let open = true;
  // without a listener, EPIPE would end the process in the middle of its work
  if (stream.listenerCount("error") === 0) stream.on("error", ignoreClosedPipe);
  stream.once("error", () => (open = false));
  return {
    write: (text: string) => void (open && stream.write(text)),
    writeAll: async (bytes: Uint8Array | string) => {
      if (open && !stream.write(bytes)) await Promise.race([once(stream, "drain"), once(stream, "close")]);
      return open;
    },
  };
}

function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE") throw error;
}

// Everything but tabs, line ends and our own colours.
// oxlint-disable-next-line no-control-regex -- control characters are what this is about
const HARMFUL = /\u001b(?!\[\d{1,2}m)|[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f]/g;

function harmless(text: string): string {
  return text.replace(HARMFUL, "\ufffd");
}
