/** What a host may choose for all fronts, or for one. */
import { homedir } from "node:os";
import { join } from "node:path";

/** One line that a front tells its host. */
export type LogLine = { level: string; event: string } & Record<string, unknown>;

/** Where Belay keeps its stores, and how a front behaves. */
export interface DropInOptions {
  /** The directory of all stores: else `$BELAY_HOME`, else `~/.belay`. */
  home?: string;
  /** Whether a directory inside another workspace may become one of its own. */
  nested?: boolean;
  /** What time it is, in milliseconds since 1970. */
  clock?: () => number;
  /** Receives what a front did by itself, and why something failed. */
  log?: (line: LogLine) => void;
}

let defaults: DropInOptions = {};

/** Sets the defaults of every front that is made from now on. */
export function configureDropIn(options: DropInOptions): void {
  defaults = { ...options };
}

/** The options of one front: its own, else those of the process. */
export function chosen(own: DropInOptions = {}): DropInOptions & { home: string } {
  const { home = process.env["BELAY_HOME"] ?? join(homedir(), ".belay"), ...rest } = { ...defaults, ...own };
  return { ...rest, home };
}
