/**
 * The settings that a workspace goes by, however long it is open: looked for again before each piece of work. Work on
 * a workspace is synchronous, so within one piece of it they stay the same.
 */
import { whileFilesStand } from "./fs/while-files-stand.ts";
import { configPath, readSettings, type Settings } from "./settings.ts";

export class CurrentSettings {
  readonly #read: () => Settings;
  #values: Settings | undefined;

  /** Throws at once when the settings cannot be read. */
  constructor(home: string) {
    this.#read = whileFilesStand([configPath(home)], () => readSettings(home));
    this.#values = this.#readForNow();
  }

  get values(): Settings {
    return (this.#values ??= this.#readForNow());
  }

  #readForNow(): Settings {
    queueMicrotask(() => (this.#values = undefined));
    return this.#read();
  }
}
