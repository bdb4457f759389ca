/** Colours, for terminals only: elsewhere every function returns its text unchanged. */
export interface Style {
  readonly bold: Paint;
  readonly dim: Paint;
  readonly red: Paint;
  readonly green: Paint;
  readonly yellow: Paint;
  readonly blue: Paint;
  readonly cyan: Paint;
}

/** A function that colours a text. */
export type Paint = (text: string) => string;

/** When to colour: `--color`. */
export const COLOUR_CHOICES = ["auto", "always", "never"] as const;

/** One of the choices of `--color`. */
export type ColourChoice = (typeof COLOUR_CHOICES)[number];

/**
 * Whether a stream gets colours without a choice of the user's: NO_COLOR (https://no-color.org), FORCE_COLOR and
 * CLICOLOR decide in this order, then whether it is a terminal that supports them.
 */
export function wantsColour(stream: { isTTY?: boolean }, environment: NodeJS.ProcessEnv): boolean {
  const { NO_COLOR, FORCE_COLOR, CLICOLOR, CLICOLOR_FORCE, TERM } = environment;
  if (NO_COLOR) return false;
  if (FORCE_COLOR) return !NONE.has(FORCE_COLOR);
  if (CLICOLOR_FORCE && !NONE.has(CLICOLOR_FORCE)) return true;
  return CLICOLOR !== "0" && stream.isTTY === true && TERM !== "dumb";
}

const NONE: ReadonlySet<string> = new Set(["0", "false"]);

/** The styles of a stream. */
export function createStyle(coloured: boolean): Style {
  const paint = (open: number, close: number): Paint =>
    coloured ? (text) => (text === "" ? "" : `\u001b[${open}m${text}\u001b[${close}m`) : (text) => text;
  return {
    bold: paint(1, 22),
    dim: paint(2, 22),
    red: paint(31, 39),
    green: paint(32, 39),
    yellow: paint(33, 39),
    blue: paint(34, 39),
    cyan: paint(36, 39),
  };
}
