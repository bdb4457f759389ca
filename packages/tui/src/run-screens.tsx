/**
 * From a terminal to screens and back. Whatever ends the program — a key, Ctrl-C, a signal, a crash — leaves the
 * terminal as it was: the screen that was there, the cursor, the mode of the line, no mouse and no bracketed paste.
 */
import { render, type Instance } from "ink";
import type { ReactElement } from "react";
import type { Place } from "./data/connection.ts";
import { Source, SourceProvider } from "./data/source.tsx";
import { FrameView } from "./frame/frame.tsx";
import { colourDepthOf } from "./terminal/colours.ts";
import { ASCII, signsOf } from "./terminal/signs.ts";

/** How the screens show. */
export interface ScreenOptions {
  readonly ascii: boolean;
  readonly colour: boolean;
  readonly mouse: boolean;
  readonly environment: NodeJS.ProcessEnv;
}

const MOUSE_ON = "\u001b[?1000h\u001b[?1006h";
const MOUSE_OFF = "\u001b[?1006l\u001b[?1000l";
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const SIGNAL_EXITS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
/** A key has to show within 30 ms; Ink's own 30 frames a second would use that up. */
const MOST_FRAMES = 120;

/** Shows screens until they end; the exit code. */
export async function runScreens(place: Place, first: ReactElement, options: ScreenOptions): Promise<number> {
  const { ascii, colour, mouse, environment } = options;
  const { stdin, stdout } = process;
  const source = new Source(place);
  const { promise: ended, resolve: end, reject: fail } = Promise.withResolvers<number>();
  const signs = ascii ? ASCII : signsOf(environment, process.platform);
  const write = (sequence: string) => void stdout.write(sequence);
  const offMouse = () => void (mouse && stdout.write(MOUSE_OFF));
  const onSignal = (signal: (typeof SIGNALS)[number]) => end(SIGNAL_EXITS[signal]);
  let instance: Instance | undefined;
  const giveBack = takeKeys(stdin);
  for (const signal of SIGNALS) process.on(signal, onSignal);
  for (const kind of ["uncaughtException", "unhandledRejection"]) process.on(kind, fail);
  process.on("exit", offMouse);
  try {
    instance = render(
      <SourceProvider value={source}>
        <FrameView
          signs={signs}
          depth={colourDepthOf(environment, colour)}
          first={first}
          quit={end}
          write={write}
        />
      </SourceProvider>,
      {
        stdin,
        stdout,
        // commands open screens on a terminal only; Ink itself would draw nothing where CI is set, as agents' shells have it
        interactive: true,
        alternateScreen: true,
        incrementalRendering: true,
        exitOnCtrlC: false,
        patchConsole: false,
        maxFps: MOST_FRAMES,
      },
    );
    if (mouse) write(MOUSE_ON);
    instance.waitUntilExit().then(() => end(0), fail);
    return await ended;
  } finally {
    offMouse();
    instance?.unmount();
    for (const signal of SIGNALS) process.off(signal, onSignal);
    for (const kind of ["uncaughtException", "unhandledRejection"]) process.off(kind, fail);
    process.off("exit", offMouse);
    giveBack();
    await source.stop();
  }
}

/**
 * [R2344] Takes the keys from a program that reads lines at this terminal, as chats do: what is typed into a screen is no
 * line of its. Returns what gives them back, with the terminal's mode; Ink leaves an input that keeps no process running.
 */
function takeKeys(stdin: NodeJS.ReadStream): () => void {
  const readers = stdin.rawListeners("keypress") as ((...key: unknown[]) => void)[];
  if (readers.length === 0) return () => undefined;
  const wasRaw = stdin.isRaw;
  stdin.removeAllListeners("keypress");
  return () => {
    for (const reader of readers) stdin.on("keypress", reader);
    stdin.setRawMode(wasRaw);
    stdin.ref();
    stdin.resume();
  };
}
