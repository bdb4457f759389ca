/**
 * Every view and dialog looks as it did: pictures in both themes and three widths, compared with those in `sight`. Where a
 * change is meant, `BELAY_SIGHT=write npx vitest run packages/web/test/sight.test.ts` draws them again; look at them before
 * you keep them. What differs is left in the directory for temporary files.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chromium, type Browser, type BrowserContext, type Page, type Route } from "playwright-core";
import type { ServedProject } from "../../server/test/support/served-project.ts";
import { WIDTHS } from "./support/access.ts";
import { CHROMIUM } from "./support/browser.ts";
import { difference, readPng, smallPicture, writePng, type Picture } from "./support/picture.ts";
import { NOW, picturedProject } from "./support/pictured-project.ts";
import { compareButton } from "./support/hand.ts";
import { faultsOf } from "./support/sight.ts";

const KEPT = join(import.meta.dirname, "sight");
/** Which Chromium drew them: another one breaks lines and draws edges in its own way. */
const VERSION = join(KEPT, "chromium");
const DIFFERENT = join(tmpdir(), "belay-sight");
const MAY_DIFFER = 0.001;
/** Where pictures in full size are wanted. */
const PICTURES = process.env["BELAY_PICTURES"];
const WRITES = process.env["BELAY_SIGHT"] === "write";
/** Letters are drawn the same on every machine: without hints, without the colours of a display's dots. */
const DRAWING = [
  "--no-sandbox",
  "--font-render-hinting=none",
  "--disable-lcd-text",
  "--force-color-profile=srgb",
];

describe.skipIf(CHROMIUM === undefined)("sight", { timeout: 480_000 }, () => {
  let project: ServedProject;
  let browser: Browser;

  beforeAll(async () => {
    project = await picturedProject();
    browser = await chromium.launch({ executablePath: CHROMIUM!, args: DRAWING });
  }, 60_000);

  afterAll(async () => {
    await browser.close();
    await project[Symbol.asyncDispose]();
  });

  test.for(WIDTHS)(
    "[R1725] every view and dialog looks as it did at %i px, in both themes",
    async (width, { skip }) => {
      const drawn = readFileSync(VERSION, "utf8").trim();
      const here = browser.version().split(".")[0]!;
      if (WRITES) writeFileSync(VERSION, `${here}\n`);
      else skip(here !== drawn, `the pictures were drawn by Chromium ${drawn}, and this is ${here}`);
      const context = await openContext(browser, width);
      try {
        const page = await openPage(context, project);
        const seen = new Sight(page, width);
        await showAll(page, seen);
        expect(seen.faults).toEqual([]);
      } finally {
        await context.close();
      }
    },
  );
});

/** Shows one screen after the other. */
async function showAll(page: Page, seen: Sight): Promise<void> {
  const row = page.getByRole("row", { name: "Add retry with exponential backoff" }).first();
  const view = (name: RegExp | string) => page.getByRole("link", { name }).click();
  await row.waitFor();
  await page.getByText("README.md changed since").first().waitFor();
  await seen.take("timeline");
  await showLists(page, seen);
  await row.click();
  await page.locator("diffs-container").first().waitFor();
  await seen.take("detail");
  for (const [tab, shows] of [
    ["Steps", "src/legacy.ts"],
    ["Conversation", "Add retry"],
    ["Details", "In a terminal"],
  ] as const) {
    await page.getByRole("tab", { name: tab }).click();
    await page.getByRole("tabpanel").getByText(shows).first().waitFor();
    await seen.take(tab.toLowerCase());
  }
  await page.getByRole("tab", { name: "Changes" }).click();
  await page.getByRole("button", { name: /^Restore to before this/ }).click();
  await page.getByRole("button", { name: /^Restore [1-9] files/ }).waitFor();
  await seen.take("restore preview");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: /^Undo only this/ }).click();
  await page.getByRole("button", { name: /^Undo [1-9] files/ }).waitFor();
  await seen.take("undo preview");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Write a note" }).click();
  await seen.take("note");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: /^More about/ }).click();
  await seen.take("menu of a row");
  await page.keyboard.press("Escape");
  await compareButton(page).click();
  await page.waitForURL(/compare/);
  await page.locator("diffs-container").first().waitFor();
  await seen.take("compare");
  if (seen.width > 900) {
    await page.getByRole("button", { name: "Side by side" }).click();
    await seen.take("compare side by side");
    await page.getByRole("button", { name: "Unified" }).click();
  }
  await view(/^Pending/);
  await page
    .getByRole("button", { name: /^Approve \d files?…/ })
    .first()
    .waitFor();
  await seen.take("pending");
  const retries = page.getByRole("region", { name: "Payment retries" });
  await retries.getByRole("button", { name: /^Approve \d files?…/ }).click();
  await seen.take("approve");
  await page.keyboard.press("Escape");
  await retries.getByRole("button", { name: /^Reset…/ }).click();
  await page.getByRole("button", { name: /^Reset [1-9] files?/ }).waitFor();
  await seen.take("reset preview");
  await page.keyboard.press("Escape");
  await view("Threads");
  await page.getByRole("button", { name: /^Payment retries/ }).waitFor();
  await seen.take("threads");
  await page.getByRole("button", { name: /^Payment retries/ }).click();
  await page
    .getByRole("button", { name: /^Restore… to before/ })
    .first()
    .waitFor();
  await seen.take("conversation of a thread");
  await view("Storage");
  await page.getByRole("heading", { name: /of at most/ }).waitFor();
  await page.getByText(/There is nothing to drop now|Would drop/).waitFor();
  await seen.take("storage");
  await page.getByRole("button", { name: "Forget…" }).click();
  await seen.take("forget");
  await page.keyboard.press("Escape");
  await view("Settings");
  await page.getByLabel("Largest file").waitFor();
  await seen.take("settings");
}

/** The list in its other forms, and the dialogs that need no row. */
async function showLists(page: Page, seen: Sight): Promise<void> {
  await page.getByRole("button", { name: "Everything", exact: true }).click();
  await page
    .locator(".b-tlbar")
    .getByText(/^[2-9]\d rows$/)
    .waitFor();
  await seen.take("everything");
  await page.getByRole("button", { name: "Turns", exact: true }).click();
  const search = page.getByRole("searchbox");
  await search.fill("nothing is called like this");
  await page.getByText("Nothing matches").waitFor();
  await seen.take("no match");
  await search.fill("");
  await page.getByRole("row", { name: "Add retry" }).first().waitFor();
  await page.getByRole("button", { name: /keep this state$/ }).click();
  await seen.take("checkpoint");
  await page.keyboard.press("Escape");
  if (seen.width <= 900) return;
  await page.getByRole("treegrid").focus();
  await page.keyboard.press("?");
  await seen.take("keys");
  await page.keyboard.press("Escape");
}

/** Takes pictures of one page and compares them. */
class Sight {
  readonly faults: string[] = [];
  readonly width: number;
  readonly #page: Page;

  constructor(page: Page, width: number) {
    this.#page = page;
    this.width = width;
  }

  /** The screen as it is, in light and dark. */
  async take(screen: string): Promise<void> {
    // what is under the pointer looks different, and the caret blinks
    await this.#page.mouse.move(0, 0);
    for (const colorScheme of ["light", "dark"] as const) {
      await this.#page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await this.#compare(`${screen.replaceAll(" ", "-")}-${this.width}-${colorScheme}`);
    }
    await this.#page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
    const faults = await faultsOf(this.#page);
    this.faults.push(...faults.map((fault) => `${screen} at ${this.width} px: ${fault}`));
  }

  async #compare(name: string): Promise<void> {
    const fault = await this.#differs(name);
    if (fault !== undefined) this.faults.push(fault);
    if (PICTURES !== undefined)
      await this.#page.screenshot({ path: join(PICTURES, `${name}.png`), caret: "hide" });
  }

  /** What is different from the picture that was kept, once everything is drawn. */
  async #differs(name: string): Promise<string | undefined> {
    const file = join(KEPT, `${name}.png`);
    if (WRITES) return void writeFileSync(file, writePng(await this.#settled()));
    if (!existsSync(file)) return `${name}: there is no picture of it`;
    const kept = readPng(readFileSync(file));
    // what is still being drawn is looked at again
    let [share, picture] = [1, kept];
    const patience = Date.now() + PATIENCE_MS;
    do {
      picture = await this.#shot();
      share = difference(picture, kept);
    } while (share > MAY_DIFFER && Date.now() < patience);
    if (share <= MAY_DIFFER) return undefined;
    mkdirSync(DIFFERENT, { recursive: true });
    await this.#page.screenshot({ path: join(DIFFERENT, `${name}.png`), caret: "hide" });
    return `${name}: ${(100 * share).toFixed(2)} % differs; see ${DIFFERENT}`;
  }

  /** The picture once it has stood still. */
  async #settled(): Promise<Picture> {
    for (let before = await this.#shot(); ;) {
      await this.#page.waitForTimeout(REST_MS);
      const after = await this.#shot();
      if (difference(before, after) === 0) return after;
      before = after;
    }
  }

  async #shot(): Promise<Picture> {
    return smallPicture(await this.#page.screenshot({ caret: "hide", animations: "disabled" }));
  }
}

const PATIENCE_MS = 30_000;
const REST_MS = 700;

function openContext(browser: Browser, width: number): Promise<BrowserContext> {
  return browser.newContext({
    viewport: { width, height: 844 },
    deviceScaleFactor: 1,
    colorScheme: "light",
    reducedMotion: "reduce",
    timezoneId: "UTC",
    locale: "en-GB",
  });
}

/** The page of the project, at the hour of the pictures. */
async function openPage(context: BrowserContext, project: ServedProject): Promise<Page> {
  context.setDefaultTimeout(45_000);
  const page = await context.newPage();
  await page.clock.setFixedTime(NOW);
  // how large a store is on disk differs from run to run; who has a page open differs by the second
  await page.route(/\/api\/(status|storage|gc|prune|pages)/, steady);
  const { code } = await project.ok("POST", "/api/pages/codes", {});
  const { workspaces } = await project.ok("GET", "/api/workspaces");
  await page.goto(`${project.url}/w/${workspaces[0].id}/#${code}`);
  await page.getByText("Protected").first().waitFor({ state: "attached" });
  return page;
}

const SIZE = 1_234_567;

/** An answer of the server with the same sizes and times every time. */
async function steady(route: Route): Promise<void> {
  // a page that is closed meanwhile wants no answer
  const answer = await route.fetch().catch(() => undefined);
  if (answer === undefined) return route.abort().catch(() => undefined);
  const text = (await answer.text())
    .replaceAll(/"(bytes|storedBytes|contentBytes|copiesBytes|diskBytes|storedFreed)":\d+/g, `"$1":${SIZE}`)
    .replaceAll(/"(openedAt|seenAt|lastSeenAt|createdAt|at)":"2\d{3}-[^"]+Z"/g, (whole, name: string) =>
      route.request().url().includes("/api/pages") ? `"${name}":"${new Date(NOW).toISOString()}"` : whole,
    );
  await route.fulfill({ response: answer, body: text }).catch(() => undefined);
}
