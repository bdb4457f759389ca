/**
 * Pauses, in `$BELAY_HOME/paused.json`: of one workspace, or of all. Every process goes by that file, so a pause and its
 * end hold at once everywhere. A file that cannot be understood, or a clock that was set back, pauses nothing.
 */
import { absolutePath, below, type AbsolutePath } from "../fs/absolute-path.ts";
import { makePrivateDirectory, replaceFile } from "../fs/durable-file.ts";
import { readSmallFile } from "../fs/read-file.ts";
import { whileFilesStand } from "../fs/while-files-stand.ts";
import type { Pause } from "../model/pause.ts";

const LARGEST_BYTES = 1024 * 1024;
/** What the file calls the pause of all workspaces; no workspace's id has this form. */
const ALL = "all";

/** By workspace, in milliseconds since 1970. */
type Pauses = Readonly<Record<string, Pause>>;

/** The pauses that concern one workspace. */
export class CurrentPauses {
  readonly #home: string;
  readonly #id: string;
  readonly #now: () => number;
  readonly #read: () => Pauses;

  constructor(home: string, id: string, now: () => number) {
    this.#home = home;
    this.#id = id;
    this.#now = now;
    this.#read = whileFilesStand([pausesPath(home)], () => readPauses(home));
  }

  /** The one that lasts longest; null: captures are made. */
  get current(): Pause | null {
    const now = this.#now();
    const pauses = this.#read();
    const active = [pauses[this.#id], pauses[ALL]].filter((pause) => isActive(pause, now));
    return active.sort((a, b) => b.until - a.until)[0] ?? null;
  }

  /** Begins the pause of this workspace or of all, or ends it; the end of the pause of all ends every one there is. */
  set(pause: Pause | null, scope: "workspace" | "all"): void {
    if (scope === "all") return setPauseOfAll(this.#home, pause);
    const { [this.#id]: _previous, ...others } = readPauses(this.#home);
    const kept = Object.entries(others).filter(([, other]) => isActive(other, this.#now()));
    writePauses(this.#home, { ...Object.fromEntries(kept), ...(pause && { [this.#id]: pause }) });
  }
}

/** Begins the pause of all workspaces, or ends every pause there is. */
export function setPauseOfAll(home: string, pause: Pause | null): void {
  writePauses(home, pause === null ? {} : { ...readPauses(home), [ALL]: pause });
}

function isActive(pause: Pause | undefined, now: number): pause is Pause {
  return pause !== undefined && pause.since <= now && now < pause.until;
}

function readPauses(home: string): Pauses {
  try {
    const parsed: unknown = JSON.parse(
      readSmallFile(pausesPath(home), LARGEST_BYTES)?.toString("utf8") ?? "{}",
    );
    if (typeof parsed !== "object" || parsed === null) return {};
    const isPause = (value: unknown) => typeof value === "object" && value !== null;
    return Object.fromEntries(Object.entries(parsed as Pauses).filter(([, value]) => isPause(value)));
  } catch {
    return {};
  }
}

function writePauses(home: string, pauses: Pauses): void {
  makePrivateDirectory(absolutePath(home));
  replaceFile(pausesPath(home), [Buffer.from(`${JSON.stringify(pauses, undefined, 2)}\n`)], {
    durable: true,
  });
}

function pausesPath(home: string): AbsolutePath {
  return below(absolutePath(home), "paused.json");
}
