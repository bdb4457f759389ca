/** The settings that a workspace goes by, however long it is open: looked for again before each piece of work. */
import { whileFilesStand } from "../fs/while-files-stand.ts";
import { holdStill } from "./hold-still.ts";
import { configPath, readSettings, type Settings } from "./settings.ts";

export class CurrentSettings {
  readonly home: string;
  readonly #read: () => Settings;

  /** Throws at once when the settings cannot be read. */
  constructor(home: string) {
    this.home = home;
    this.#read = holdStill(whileFilesStand([configPath(home)], () => readSettings(home)));
    this.#read();
  }

  get values(): Settings {
    return this.#read();
  }
}
