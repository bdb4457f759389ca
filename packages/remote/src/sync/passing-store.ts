/** A store that is received to restate a line, and thrown away afterwards. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { receiveWorkspace, type Exchange, type Receiver } from "@belay/engine";

const DAY_MS = 24 * 60 * 60 * 1000;
const PREFIX = "adopting-";

/** What a line needs of a store while it is restated. */
export interface PassingStore {
  readonly exchange: Exchange;
  close(): Promise<void>;
}

/** Makes such a store of what it is given. */
export type ReceiveStore = (fill: (receiver: Receiver) => Promise<void>) => Promise<PassingStore>;

/** Receives into a store of its own below a directory. */
export function receiveBelow(directory: string): ReceiveStore {
  return async (fill) => {
    removeLeftovers(directory);
    const store = mkdtempSync(join(directory, PREFIX));
    // a directory inside the home is refused, and no file is ever written there
    const root = mkdtempSync(join(tmpdir(), "belay-adopted-"));
    const remove = () => {
      for (const place of [store, root]) rmSync(place, { recursive: true, force: true });
    };
    try {
      const { workspace } = await receiveWorkspace(root, fill, { home: store });
      const close = async () => {
        await workspace.close();
        remove();
      };
      return { exchange: workspace.exchange, close };
    } catch (error) {
      remove();
      throw error;
    }
  };
}

/** Of a process that was killed. */
function removeLeftovers(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(directory)) {
    const path = join(directory, name);
    if (!name.startsWith(PREFIX) || Date.now() - statSync(path).mtimeMs < DAY_MS) continue;
    rmSync(path, { recursive: true, force: true });
  }
}
