/** The signs of the screens: those that every font draws one cell wide, or ASCII where even these are not certain. */

/** One set of signs. */
export interface Signs {
  readonly ascii: boolean;
  /** Equals the files on disk. */
  readonly current: string;
  readonly other: string;
  readonly done: string;
  readonly failed: string;
  /** Never stands before aligned text: some terminals draw it two cells wide. */
  readonly warning: string;
  readonly agent: string;
  readonly pointer: string;
  readonly ellipsis: string;
  readonly up: string;
  readonly down: string;
  readonly upDown: string;
  readonly leftRight: string;
  readonly dot: string;
  readonly arrow: string;
  readonly across: string;
  readonly upright: string;
  readonly crossing: string;
  /** Top left, top right, bottom left, bottom right. */
  readonly corners: readonly [string, string, string, string];
  readonly full: string;
  readonly empty: string;
  readonly cursor: string;
}

/** The signs of a terminal that draws Unicode. */
export const UNICODE: Signs = {
  ascii: false,
  current: "●",
  other: "○",
  done: "✓",
  failed: "✗",
  warning: "⚠",
  agent: "├─►",
  pointer: "›",
  ellipsis: "…",
  up: "↑",
  down: "↓",
  upDown: "↑↓",
  leftRight: "→ ←",
  dot: "·",
  arrow: "->",
  across: "─",
  upright: "│",
  crossing: "┼",
  corners: ["╭", "╮", "╰", "╯"],
  full: "█",
  empty: "░",
  cursor: "█",
};

/** The signs of every other terminal. */
export const ASCII: Signs = {
  ascii: true,
  current: "*",
  other: "o",
  done: "+",
  failed: "x",
  warning: "!",
  agent: "|->",
  pointer: ">",
  ellipsis: "...",
  up: "^",
  down: "v",
  upDown: "Up/Down",
  leftRight: "Right/Left",
  dot: ",",
  arrow: "->",
  across: "-",
  upright: "|",
  crossing: "+",
  corners: ["+", "+", "+", "+"],
  full: "#",
  empty: ".",
  cursor: "_",
};

/** The signs that a terminal can draw, by what it says of itself. */
export function signsOf(environment: NodeJS.ProcessEnv, platform: NodeJS.Platform): Signs {
  const { TERM, LC_ALL, LC_CTYPE, LANG, WT_SESSION, TERM_PROGRAM } = environment;
  if (TERM === "dumb" || TERM === "linux") return ASCII;
  // the old console says nothing; Windows Terminal and editors do
  if (platform === "win32") return WT_SESSION || TERM_PROGRAM || TERM ? UNICODE : ASCII;
  const locale = LC_ALL || LC_CTYPE || LANG || "";
  return /utf-?8/i.test(locale) ? UNICODE : ASCII;
}
