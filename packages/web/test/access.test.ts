/**
 * The page works for readers, keys and every eye: axe finds nothing in any view, dialog or state, in both themes and three
 * widths, and nothing is cut, covered or too small. `BELAY_PICTURES=<directory>` leaves a picture of each there.
 */
import { afterAll, describe, expect, test } from "vitest";
import type { Page } from "playwright-core";
import type { ServedProject } from "../../server/test/support/served-project.ts";
import { expectGood, expectGoodInBoth, WIDTHS } from "./support/access.ts";
import { Agent } from "./support/agent.ts";
import { CHROMIUM, closeBrowser, shown, type Shown } from "./support/browser.ts";
import { FILES } from "./support/work.ts";
import { compareButton } from "./support/hand.ts";

afterAll(closeBrowser);

const HEIGHT = 844;

async function work(project: ServedProject): Promise<void> {
  const [claude, codex] = [await Agent.start(project), await Agent.start(project, "codex", "Docs")];
  await claude.turn("Use idempotency keys", { "src/a.ts": "export const a = 2;\n" });
  await project.ok("POST", "/api/checkpoints", {
    name: "All green",
    annotation: "shown on Tuesday",
    tags: ["demo"],
  });
  await claude.turn(
    "Add retry",
    { "src/a.ts": "export const a = 3;\n", "src/new.ts": "export const made = 1;\n" },
    { "src/b.ts": null },
  );
  await codex.turn("Write docs", { "docs.md": "docs\n" });
  await codex.prompt("And more of them");
  await codex.writes({ "more.md": "more\n" });
}

/** Where the parts of the frame stand: the numbers that everything else is laid out by. */
async function expectFrame(page: Page, width: number): Promise<void> {
  const place = async (selector: string) => (await page.locator(selector).first().boundingBox())!;
  const side = await place(".b-side");
  if (width < 400) {
    expect([side.x, side.width, side.y + side.height]).toEqual([0, width, HEIGHT]);
    for (const link of await page.locator(".b-side a:visible").all()) {
      const { width, height } = (await link.boundingBox())!;
      expect(Math.min(width, height)).toBeGreaterThanOrEqual(44);
    }
    return;
  }
  if (width < 1024) return;
  expect([side.x, side.width]).toEqual([0, width === 1440 ? 236 : 60]);
  expect((await place(".b-topbar")).height).toBe(52);
  expect((await place(".b-tl")).width).toBe(width === 1440 ? 560 : 420);
}

/** Lines are drawn once they are in view. */
async function untilLines(page: Page): Promise<void> {
  const lines = page.locator("diffs-container");
  await expect
    .poll(async () => {
      if ((await lines.count()) === 0) await page.mouse.wheel(0, 100);
      return lines.count();
    })
    .toBeGreaterThan(0);
  await lines.first().waitFor();
}

/** States of the page: each is shown, looked at, and left again. */
async function expectStates({ page, project }: Pick<Shown, "page" | "project">): Promise<void> {
  const row = page.getByRole("row", { name: "Add retry" }).first();
  const search = page.getByRole("searchbox", { name: "Search prompts, notes, files" });
  await row.waitFor();
  await search.fill("nothing is called like this");
  await page.getByText("Nothing matches").waitFor();
  await expectGoodInBoth(page, "no match");
  await search.fill("");
  await row.click();
  await page.getByRole("button", { name: /^Restore to before this/ }).click();
  const button = page.locator("dialog[open]").getByRole("button", { name: /^Restore \d files/ });
  await expect.poll(() => button.getAttribute("aria-disabled")).toBe("false");
  project.write("src/a.ts", "export const a = 99;\n");
  await button.click();
  await page.getByText("The files changed since this preview.").waitFor();
  await expectGoodInBoth(page, "stale");
  await page.getByRole("button", { name: "Show the new preview" }).click();
  // a restore that takes a while: its answer is held back
  const held = Promise.withResolvers<void>();
  await page.route(/\/apply/, async (route) => {
    await held.promise;
    await route.continue();
  });
  await expect.poll(() => button.getAttribute("aria-disabled")).toBe("false");
  await button.click();
  await page.getByText("If the power fails now").waitFor();
  await expectGoodInBoth(page, "restoring");
  held.resolve();
  await page
    .locator(".b-toast")
    .getByText(/^Restored/)
    .waitFor();
  await expectGoodInBoth(page, "result", "Restored");
  await page.route(/\/api\/history/, (route) =>
    route.fulfill({
      status: 500,
      json: { error: { code: "STORE_FAILS", message: "The store cannot be read.", hint: "" } },
    }),
  );
  await page.reload();
  await page.getByText("The store cannot be read.").waitFor();
  await expectGoodInBoth(page, "error");
  await project.kill();
  await page.getByText(/^Not connected\./).waitFor();
  await expectGoodInBoth(page, "not connected");
  await project.serve(new URL(project.url).port);
  // the page may have tried by itself meanwhile
  await page
    .getByRole("button", { name: "Try now" })
    .click({ timeout: 1000 })
    .catch(() => undefined);
  await page.getByText("Open this page from a terminal:").waitFor({ timeout: 90_000 });
  await expectGoodInBoth(page, "key ended");
}

describe.skipIf(CHROMIUM === undefined)("access", () => {
  // the last two: the narrowest, and a window of 1440 px at 200 %
  test.each([
    ...WIDTHS.map((width) => [width, HEIGHT] as const),
    [320, HEIGHT] as const,
    [720, HEIGHT / 2] as const,
  ])("[U10] no violation at %i × %i px, in both themes", (width, height) =>
    shown(
      work,
      async ({ page }) => {
        const row = page.getByRole("row", { name: "Add retry" }).first();
        await row.waitFor();
        await expectFrame(page, width);
        await expectGoodInBoth(page, "timeline");
        await row.click();
        await page.getByRole("button", { name: /^Restore to before this/ }).waitFor();
        await untilLines(page);
        await expectGoodInBoth(page, "detail");
        for (const tab of ["Steps", "Details"]) {
          await page.getByRole("tab", { name: tab }).click();
          await page
            .getByRole("tabpanel")
            .getByText(tab === "Steps" ? "src/b.ts" : "In a terminal")
            .first()
            .waitFor();
          await expectGoodInBoth(page, tab);
        }
        await page.getByRole("button", { name: /^Restore to before this/ }).click();
        await page.getByRole("button", { name: /^Restore [1-9] files/ }).waitFor();
        await expectGoodInBoth(page, "restore preview");
        await page.keyboard.press("Escape");
        await page.getByRole("button", { name: "Write a note" }).click();
        await expectGoodInBoth(page, "note");
        await page.keyboard.press("Escape");
        if (width > 900) {
          await page.getByRole("button", { name: /^Checkpoint/ }).click();
          await expectGoodInBoth(page, "checkpoint");
          await page.keyboard.press("Escape");
          await page.getByRole("treegrid").focus();
          await page.keyboard.press("?");
          await expectGoodInBoth(page, "keys");
          await page.keyboard.press("Escape");
        }
        await compareButton(page).click();
        await page.waitForURL(/compare/);
        await untilLines(page);
        await expectGoodInBoth(page, "compare");
        await page.getByRole("link", { name: /^Pending/ }).click();
        await page
          .getByRole("button", { name: /^Approve \d files?…/ })
          .first()
          .click();
        await expectGoodInBoth(page, "pending");
        await page.getByRole("link", { name: "Threads" }).click();
        await expectGoodInBoth(page, "threads");
        await page.getByRole("button", { name: /^Payment retries/ }).click();
        await page
          .getByRole("button", { name: /^Restore… to before/ })
          .first()
          .waitFor();
        await expectGoodInBoth(page, "conversation");
        await page.getByRole("link", { name: "Storage" }).click();
        await page.getByRole("heading", { name: /of at most/ }).waitFor();
        await expectGoodInBoth(page, "storage");
        await page.getByRole("button", { name: "Forget…" }).click();
        await expectGoodInBoth(page, "forget");
        await page.keyboard.press("Escape");
        await page.getByRole("link", { name: "Settings" }).click();
        await page.getByLabel("Largest file").waitFor();
        await expectGoodInBoth(page, "settings");
      },
      { width, height, files: FILES },
    )(),
  );

  test.each(WIDTHS)("no violation in any state at %i px, in both themes", (width) =>
    shown(work, expectStates, {
      width,
      height: HEIGHT,
      files: FILES,
      expected: /ERR_|Failed to (load|fetch)|^Worker error|WorkerPoolWorkerError/,
    })(),
  );

  test("no violation where nothing has happened yet", () =>
    shown(
      async () => undefined,
      async ({ page }) => {
        await page.getByRole("treegrid").or(page.getByText("Nothing has happened yet.")).first().waitFor();
        await expectGood(page, "empty");
      },
    )());
});
