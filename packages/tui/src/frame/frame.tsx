/**
 * The frame around all screens: the stack, the size of the window, the keys. The screen on top draws and has the keys;
 * those below keep their state. Three rules are kept here, so that no screen can break them: pasted text and text that
 * came in one piece never answer a question, a key that is held down does not repeat into one, and Ctrl-C always ends.
 */
import { Box, Text, useApp, useInput, usePaste, useWindowSize } from "ink";
import {
  createContext,
  useCallback,
  useContext,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  type ReactElement,
  type ReactNode,
} from "react";
import { clusters } from "../text/display-width.ts";
import type { ColourDepth } from "../terminal/colours.ts";
import type { Signs } from "../terminal/signs.ts";
import { bindingOf, keyName, type Binding, type KeyName } from "./keys.ts";
import { ansi, fit, inAscii, type Line } from "./line.ts";

/** How a screen is opened. */
export interface OpenOptions {
  /** It asks something that changes files: see the rules above. */
  readonly question?: boolean;
}

/** What every screen may use. */
export interface Frame {
  readonly columns: number;
  readonly rows: number;
  readonly signs: Signs;
  /** What the last action did; it stays until the next one. */
  readonly notice: readonly Line[];
  open(screen: ReactElement, options?: OpenOptions): void;
  /** Closes the screen on top; closing the last one ends the program. */
  close(): void;
  /** Closes everything above the first screen. */
  closeToFirst(): void;
  quit(exit?: number): void;
  say(notice: readonly Line[]): void;
  /** Puts text on the clipboard of the terminal (OSC 52), also through ssh and tmux. */
  copy(text: string): void;
  /** Hands the terminal to another program, such as an editor, and takes it back. */
  suspend(work: () => Promise<void>): Promise<void>;
}

/** What the frame is told from outside. */
export interface FrameOptions {
  readonly signs: Signs;
  readonly depth: ColourDepth;
  readonly first: ReactElement;
  quit(exit: number): void;
  write(sequence: string): void;
}

interface Level {
  readonly id: number;
  readonly screen: ReactElement;
  readonly question: boolean;
}

/** What a screen does with input; `typed` gets the characters that no key of the table took. */
export interface KeyTaker {
  readonly table: readonly Binding[];
  readonly typed?: ((text: string) => void) | undefined;
  /** `--mouse` only: the wheel (rows down) and the row that was clicked. Never acts. */
  readonly mouse?: ((event: MouseEvent) => void) | undefined;
}

/** What the mouse did, by rows of the window. */
export type MouseEvent = { readonly wheel: number } | { readonly row: number };

const FrameContext = createContext<(Frame & { readonly depth: ColourDepth }) | undefined>(undefined);
const LevelContext = createContext<
  { readonly id: number; readonly takers: Map<number, KeyTaker> } | undefined
>(undefined);

/** The frame of the screen that calls it. */
export function useFrame(): Frame {
  const frame = useContext(FrameContext);
  if (frame === undefined) throw new Error("a screen outside the frame");
  return frame;
}

/** Gives the screen its keys, for as long as it is on top. */
export function useKeys(table: readonly Binding[], others: Omit<KeyTaker, "table"> = {}): readonly Binding[] {
  const level = useContext(LevelContext);
  if (level === undefined) throw new Error("keys outside a screen");
  const { id, takers } = level;
  useLayoutEffect(() => {
    takers.set(id, { table, ...others });
  });
  useLayoutEffect(() => () => void takers.delete(id), [id, takers]);
  return table;
}

/** Draws lines, at most as many and as wide as the window. */
export function Lines({ lines }: { readonly lines: readonly Line[] }): ReactNode {
  const { columns, rows, signs, depth } = useContext(FrameContext)!;
  return (
    <Box flexDirection="column" width={columns} height={rows} overflow="hidden">
      {lines.slice(0, rows).map((each, index) => (
        <Text key={index} wrap="truncate">
          {ansi(fit(signs.ascii ? inAscii(each) : each, columns, signs), depth) || " "}
        </Text>
      ))}
    </Box>
  );
}

/** The stack of screens. */
export function FrameView({ signs, depth, first, quit, write }: FrameOptions): ReactNode {
  const { columns, rows } = useWindowSize();
  const { suspendTerminal } = useApp();
  const [levels, setLevels] = useState<readonly Level[]>([{ id: 0, screen: first, question: false }]);
  const [notice, say] = useState<readonly Line[]>([]);
  const stack = useRef({ levels, next: 1, takers: new Map<number, KeyTaker>() });
  const change = useCallback((wanted: readonly Level[]) => {
    stack.current.levels = wanted;
    setLevels(wanted);
  }, []);
  const [keysTaken, setKeysTaken] = useState(0);
  const dispatcher = useMemo(
    () =>
      new Dispatcher(
        () => stack.current,
        () => setKeysTaken((keys) => keys + 1),
      ),
    [],
  );
  // after the effects of all screens: their keys know what is drawn
  useLayoutEffect(() => {
    if (keysTaken > 0) dispatcher.drawn();
  }, [dispatcher, keysTaken]);
  const frame = useMemo(
    () => ({
      columns,
      rows,
      signs,
      depth,
      notice,
      say,
      open(screen: ReactElement, { question = false }: OpenOptions = {}) {
        dispatcher.opened();
        change([...stack.current.levels, { id: stack.current.next++, screen, question }]);
      },
      close() {
        if (stack.current.levels.length > 1) change(stack.current.levels.slice(0, -1));
        else quit(0);
      },
      closeToFirst: () => change(stack.current.levels.slice(0, 1)),
      quit: (exit = 0) => quit(exit),
      copy: (text: string) => write(`\u001b]52;c;${Buffer.from(text).toString("base64")}\u0007`),
      suspend: suspendTerminal,
    }),
    [columns, rows, signs, depth, notice, change, dispatcher, quit, write, suspendTerminal],
  );
  useInput((input, key) => {
    if (key.ctrl && input === "c") quit(INTERRUPTED);
    else dispatcher.take(input, keyName(input, key));
  });
  usePaste((text) => dispatcher.paste(text));
  const { takers } = stack.current;
  return (
    <FrameContext.Provider value={frame}>
      {levels.map(({ id, screen }, index) => (
        <LevelContext.Provider key={id} value={{ id, takers }}>
          <Box display={index === levels.length - 1 ? "flex" : "none"}>{screen}</Box>
        </LevelContext.Provider>
      ))}
    </FrameContext.Provider>
  );
}

const INTERRUPTED = 130;
/** Longer than the time before a held key begins to repeat. */
const HELD_MS = 700;
// oxlint-disable-next-line no-control-regex -- what terminals send
const MOUSE = /^\u001b?\[<(\d+);\d+;(\d+)([Mm])$/;

interface Stack {
  readonly levels: readonly Level[];
  readonly takers: ReadonlyMap<number, KeyTaker>;
}

/** Keys that are one character. */
const NAMED: Readonly<Record<string, KeyName>> = { " ": "space", "\r": "enter", "\n": "enter", "\t": "tab" };

/** Takes input to the screen on top. */
class Dispatcher {
  readonly #stack: () => Stack;
  /** Draws, and then calls `drawn`. */
  readonly #draw: () => void;
  /** The key that opened the screen on top, while it may still be held down. */
  #held: { readonly name: KeyName; until: number } | undefined;
  #last: KeyName = "";
  /** The first is being taken. */
  readonly #waiting: (() => void)[] = [];

  constructor(stack: () => Stack, draw: () => void) {
    this.#stack = stack;
    this.#draw = draw;
  }

  opened(): void {
    this.#held = { name: this.#last, until: performance.now() + HELD_MS };
  }

  /** Each key sees what the one before it did: of keys that come at once, one is taken at a time. */
  take(input: string, name: KeyName): void {
    const { id } = this.#top();
    this.#waiting.push(() => {
      // a key that was pressed before a question could be read does not answer it
      const top = this.#top();
      if (!top.question || top.id === id) this.#takeOne(input, name);
    });
    if (this.#waiting.length === 1) this.#takeNext();
  }

  paste(text: string): void {
    this.#taker()?.typed?.(text.replaceAll(/[\r\n\t]+/g, " "));
  }

  /** What the last key changed is drawn. */
  drawn(): void {
    this.#waiting.shift();
    // not from within the drawing: React gives up where more than fifty keys in a row would draw from there
    if (this.#waiting.length > 0) setImmediate(() => this.#takeNext());
  }

  #takeNext(): void {
    this.#waiting[0]?.();
    this.#draw();
  }

  #takeOne(input: string, name: KeyName): void {
    const mouse = MOUSE.exec(input);
    if (mouse !== null) return this.#takeMouse(mouse);
    if (name !== input || input === "" || isOne(input)) return this.#press(name, input);
    if (this.#top().question) return;
    const taker = this.#taker();
    const keys = [...clusters(input)].map((character) => NAMED[character] ?? character);
    // what ends with Enter may be pasted by a terminal that does not mark it: a field takes all of it as text
    const letters = keys.filter((key) => key !== "enter");
    if (taker?.typed !== undefined && letters.every((key) => bindingOf(taker.table, key) === undefined))
      return taker.typed(input);
    // the rest belongs to no screen that one of them opens
    const { levels } = this.#stack();
    const presses = keys.map((key) => () => {
      if (this.#stack().levels === levels) this.#press(key, key === "space" ? " " : key);
    });
    this.#waiting.splice(1, 0, ...presses);
  }

  #press(name: KeyName, input: string): void {
    const taker = this.#taker();
    if (taker === undefined || name === "") return;
    if (this.#top().question && this.#isHeld(name)) return;
    this.#held = undefined;
    this.#last = name;
    const binding = bindingOf(taker.table, name);
    if (binding !== undefined) binding.run(name);
    else if (isOne(input) && name.length <= "space".length) taker.typed?.(input);
  }

  #isHeld(name: KeyName): boolean {
    const held = this.#held;
    const now = performance.now();
    if (held === undefined || held.name !== name || now > held.until) return false;
    held.until = now + HELD_MS;
    return true;
  }

  #takeMouse([, button, row, end]: readonly string[]): void {
    const taker = this.#taker();
    if (button === "64" || button === "65") taker?.mouse?.({ wheel: button === "64" ? -3 : 3 });
    else if (button === "0" && end === "M") taker?.mouse?.({ row: Number(row) - 1 });
  }

  #top(): Level {
    return this.#stack().levels.at(-1)!;
  }

  #taker(): KeyTaker | undefined {
    return this.#stack().takers.get(this.#top().id);
  }
}

function isOne(input: string): boolean {
  const [first, ...rest] = clusters(input);
  return first !== undefined && rest.length === 0;
}
