/**
 * Pauses, in `$BELAY_HOME/paused.json`: of one workspace, or of all. Every process reads that file, so a
 * pause and its end hold everywhere at once. A file that cannot be parsed, or a clock that was set back,
 * pauses nothing.
 */
import { whileUnchanged } from "../fs/while-unchanged.ts";
import type { Pause } from "../model/pause.ts";
import { homeFile, isObject, readObject, writeObject } from "./home-file.ts";

const FILE = "paused.json";
/** What the file calls the pause of all workspaces; no workspace's id has this form. */
const ALL = "all";

/** By workspace, in milliseconds since 1970. */
type Pauses = Readonly<Record<string, Pause>>;

/** The pauses of one workspace: its own, and that of all. */
export class WorkspacePauses {
  readonly #home: string;
  readonly #id: string;
  readonly #now: () => number;
  readonly #read: () => Pauses;

  constructor(home: string, id: string, now: () => number) {
    this.#home = home;
    this.#id = id;
    this.#now = now;
    this.#read = whileUnchanged([homeFile(home, FILE)], () => readPauses(home));
  }

  /** The active pause that lasts longest; null when there is none. */
  get current(): Pause | null {
    const now = this.#now();
    const pauses = this.#read();
    const active = [pauses[this.#id], pauses[ALL]].filter((pause) => isActive(pause, now));
    return active.sort((a, b) => b.until - a.until)[0] ?? null;
  }

  /** Begins or ends the pause of this workspace or of all; ending the pause of all ends every pause. */
  set(pause: Pause | null, scope: "workspace" | "all"): void {
    if (scope === "all") return setPauseOfAll(this.#home, pause);
    const { [this.#id]: _previous, ...others } = readPauses(this.#home);
    const kept = Object.entries(others).filter(([, other]) => isActive(other, this.#now()));
    writeObject(this.#home, FILE, { ...Object.fromEntries(kept), ...(pause && { [this.#id]: pause }) });
  }
}

/** Begins the pause of all workspaces, or ends every pause. */
export function setPauseOfAll(home: string, pause: Pause | null): void {
  writeObject(home, FILE, pause === null ? {} : { ...readPauses(home), [ALL]: pause });
}

function isActive(pause: Pause | undefined, now: number): pause is Pause {
  return pause !== undefined && pause.since <= now && now < pause.until;
}

/** [N2] A file that cannot be read or parsed pauses nothing: captures continue. */
function readPauses(home: string): Pauses {
  try {
    const entries = Object.entries(readObject(homeFile(home, FILE)) ?? {});
    return Object.fromEntries(entries.filter((entry): entry is [string, Pause] => isPause(entry[1])));
  } catch {
    return {};
  }
}

function isPause(value: unknown): boolean {
  return isObject(value) && typeof value["since"] === "number" && typeof value["until"] === "number";
}
