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

/** Colours a text. */
export type Paint = (text: string) => string;

/**
 * Whether a stream gets colours: a terminal that supports them, unless NO_COLOR is set
 * (https://no-color.org).
 */
export function wantsColour(stream: { isTTY?: boolean }, environment: NodeJS.ProcessEnv): boolean {
  return stream.isTTY === true && !environment["NO_COLOR"] && environment["TERM"] !== "dumb";
}

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
