/** How the screens reach a workspace: the protocol's client and its events. What answers is another program's choice. */
import type { BelayEvent } from "@belay/protocol";
import type { BelayClient } from "@belay/protocol/client";

/** A way to the workspace that works until it breaks. */
export interface Connection extends AsyncDisposable {
  readonly client: BelayClient;
  /** `store`: no resident process is there, and the store was opened in this process. */
  readonly by: "resident" | "store";
  /** Everything that happens from now on. Ends when the connection breaks. */
  events(workspace: string, signal: AbortSignal): AsyncIterable<BelayEvent>;
}

/** The workspace that the screens show. */
export interface Place {
  /** Its id or path, for the requests that name a workspace. */
  readonly workspace: string;
  /** Its name on the screen. */
  readonly name: string;
  /** Finds a connection, the resident process first. */
  connect(): Promise<Connection>;
  readonly clock: () => number;
  /** False: the user switched the resident process off, so its absence is no news. */
  readonly expectsResident: boolean;
  /** What the screens keep between runs; left out: nothing. */
  readonly memory?: ScreenMemory | undefined;
}

/** A text that lasts longer than the screens. */
export interface ScreenMemory {
  /** Undefined before anything was written. */
  read(): string | undefined;
  /** Throws where it cannot be written. */
  write(text: string): void;
}
