/**
 * The streams of this process, and the pager in front of them. A closed pipe (`belay list | head -1`) is not an error: the
 * rest of the output is dropped, and the command finishes its work. Every command loads this file, also where the resident
 * process does the work: what makes an output is in `output.ts`.
 */
import { fstatSync } from "node:fs";
import { Pager, pagerCommand, type SentText } from "./pager.ts";
import { wantsColour } from "./style.ts";

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

/** Writes what another process collected. */
export function writeTexts(texts: readonly SentText[], { paged }: { readonly paged: boolean }): void {
  const write = ({ to, text }: SentText) => quietlyClosing(process[to]).write(text);
  texts.forEach(paged ? throughPager(write) : write);
}

/** Shows one text at once, in a pager where it is longer than the window, and comes back when the person leaves it. */
export async function showAtOnce(text: string): Promise<void> {
  const write = ({ text: shown }: SentText) => quietlyClosing(process.stdout).write(shown);
  const before = opened;
  const send = throughPager(write);
  send({ to: "stdout", text });
  if (opened !== before) await endOutput();
  opened = before;
}

let opened: Pager | undefined;

/** Where there is no terminal, or the user wants no pager, `write` itself. */
export function throughPager(write: (text: SentText) => void): (text: SentText) => void {
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

/** A stream whose reader may disappear at any time. */
export function quietlyClosing(stream: NodeJS.WriteStream) {
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

/** The result of a command could not be written. */
export class WriteError extends Error {}

/** Throws if a result could not be written: a full disk is an error, a reader that went away is not. */
export async function assertWritten(): Promise<void> {
  // a write that failed at once is reported a moment later
  await new Promise(setImmediate);
  const failure = failures.get(process.stdout);
  if (failure === undefined || failure.code === "EPIPE") return;
  throw new WriteError(failure.message);
}
