/** How a person works with the page: with the mouse, or with the keyboard and nothing else. */
import { expect } from "vitest";
import type { Locator, Page } from "playwright-core";

/** The two ways; every story is told with both. */
export const HANDS = ["mouse", "keyboard"] as const;

/** Further than this no control is away. */
const MOST_TABS = 300;

export const row = (page: Page, title: string): Locator => page.getByRole("row", { name: title });
export const dialog = (page: Page): Locator => page.locator("dialog[open]");
/** The button of the selected row's detail; the first row of the list has one of the same name. */
export const compareButton = (page: Page): Locator =>
  page.getByRole("region", { name: /^Selected: / }).getByRole("button", { name: "Compare…" });
export const toast = (page: Page): Locator => page.locator(".b-toast");

/** One hand on the page. */
export class Hand {
  readonly page: Page;
  readonly kind: (typeof HANDS)[number];

  constructor(page: Page, kind: (typeof HANDS)[number]) {
    this.page = page;
    this.kind = kind;
  }

  get #hasMouse(): boolean {
    return this.kind === "mouse";
  }

  /** Presses a button or follows a link. */
  async press(place: Locator): Promise<void> {
    if (this.#hasMouse) return place.click();
    await this.reach(place);
    await this.page.keyboard.press("Enter");
  }

  /** Turns a box or a radio button on or off. */
  async tick(place: Locator): Promise<void> {
    if (this.#hasMouse) return place.click();
    if ((await place.getAttribute("type")) === "radio") return this.#choose(place);
    await this.reach(place);
    await this.page.keyboard.press("Space");
  }

  /** The arrow keys go through radio buttons of one name. */
  async #choose(radio: Locator): Promise<void> {
    const group = this.page.locator(`input[type=radio][name="${await radio.getAttribute("name")}"]:checked`);
    await this.reach(group);
    for (let presses = 0; presses < 10; presses += 1) {
      if (await radio.isChecked()) return;
      await this.page.keyboard.press("ArrowDown");
    }
    throw new Error("The choice was not reached by arrow keys.");
  }

  /** Writes into a field. */
  async write(field: Locator, text: string): Promise<void> {
    if (this.#hasMouse) await field.click();
    else await this.reach(field);
    await this.page.keyboard.press("Control+a");
    await this.page.keyboard.type(text);
  }

  /** Presses a button, or its key in the list. */
  async use(key: string, button: Locator): Promise<void> {
    await button.waitFor();
    if (this.#hasMouse) return button.click();
    await this.reach(this.page.getByRole("treegrid"));
    await this.page.keyboard.press(key);
  }

  /** Selects the newest row with these words. */
  async select(title: string): Promise<void> {
    const wanted = row(this.page, title).first();
    await wanted.waitFor();
    if (this.#hasMouse) return wanted.click();
    await this.reach(this.page.getByRole("treegrid"));
    await this.page.keyboard.press("Home");
    for (let moves = 0; moves < 30; moves += 1) {
      if ((await wanted.getAttribute("aria-selected")) === "true") return;
      await this.page.keyboard.press("ArrowDown");
    }
    throw new Error(`"${title}" was not reached by the arrow keys.`);
  }

  /** Opens a preview or another dialog. */
  async open(key: string, button: RegExp): Promise<void> {
    await this.use(key, this.page.getByRole("button", { name: button }).first());
    await dialog(this.page).waitFor();
  }

  /** Presses the button of a preview that acts, once it may. */
  async confirm(words: RegExp): Promise<void> {
    const button = dialog(this.page).getByRole("button", { name: words });
    await button.waitFor();
    await expect.poll(() => button.getAttribute("aria-disabled")).toBe("false");
    await (this.#hasMouse ? button.click() : this.page.keyboard.press("Control+Enter"));
    try {
      await dialog(this.page).waitFor({ state: "detached" });
    } catch {
      throw new Error(`The preview stayed open: ${await dialog(this.page).innerText()}`);
    }
  }

  /** Goes on with Tab until the focus is there. */
  async reach(place: Locator): Promise<void> {
    await place.waitFor();
    // found once, and again only where the page has drawn another in its place: finding it costs more than a key
    let element = await place.elementHandle();
    for (let presses = 0; presses < MOST_TABS; presses += 1) {
      const state = await element.evaluate((its) => (its.isConnected ? its.matches(":focus") : "gone"));
      if (state === true) return;
      if (state === "gone") element = await place.elementHandle();
      else await this.page.keyboard.press("Tab");
    }
    throw new Error(`Tab does not lead to ${String(place)}.`);
  }
}
