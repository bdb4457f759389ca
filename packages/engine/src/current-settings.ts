/** The settings that a workspace goes by: read when it is opened, and again when somebody has changed them. */
import { readSettings, type Settings } from "./settings.ts";

export class CurrentSettings {
  readonly #home: string;
  #values: Settings;

  constructor(home: string) {
    this.#home = home;
    this.#values = readSettings(home);
  }

  get values(): Settings {
    return this.#values;
  }

  reload(): void {
    this.#values = readSettings(this.#home);
  }
}
