/**
 * The page works for readers, keys and every eye: axe finds nothing in any view, dialog or state, in both themes and three
 * widths, and nothing is cut, covered or too small. `BELAY_PICTURES=<directory>` leaves a picture of each there.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { Page } from "playwright-core";
import type { ServedProject } from "../../server/test/support/served-project.ts";
import { Agent } from "./support/agent.ts";
import { CHROMIUM, closeBrowser, shown } from "./support/browser.ts";
import { faultsOf } from "./support/sight.ts";

afterAll(closeBrowser);

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

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

/** What axe says about the page as it is, without the colours of code: those are the diff view's theme. */
async function violations(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const found = (await page.evaluate(
    "axe.run({ exclude: ['diffs-container'] }, { resultTypes: ['violations'], rules: { 'target-size': { enabled: true } } }).then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map((node) => node.target.join(' ') + ' ' + (node.any[0]?.message ?? node.all[0]?.message ?? '')).slice(0, 4).join(' | ')))",
  )) as string[];
  return found;
}

/** Nothing for a reader, and nothing for an eye, to complain about. */
async function expectGood(page: Page, what: string): Promise<void> {
  const pictures = process.env["BELAY_PICTURES"];
  if (pictures !== undefined) {
    const { width } = page.viewportSize()!;
    const scheme = await page.evaluate(
      "matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'",
    );
    await page.screenshot({ path: join(pictures, `${what} ${width} ${String(scheme)}.png`) });
  }
  expect(await violations(page), what).toEqual([]);
  expect(await faultsOf(page), what).toEqual([]);
}

/** Where the parts of the frame stand: the numbers that everything else is laid out by. */
async function expectFrame(page: Page, width: number): Promise<void> {
  const place = async (selector: string) => (await page.locator(selector).first().boundingBox())!;
  const side = await place(".b-side");
  if (width === 390) {
    expect([side.x, side.width, side.y + side.height]).toEqual([0, 390, 844]);
    for (const link of await page.locator(".b-side a:visible").all()) {
      const { width, height } = (await link.boundingBox())!;
      expect(Math.min(width, height)).toBeGreaterThanOrEqual(44);
    }
    return;
  }
  expect([side.x, side.width]).toEqual([0, width === 1440 ? 236 : 60]);
  expect((await place(".b-topbar")).height).toBe(52);
  expect((await place(".b-tl")).width).toBe(width === 1440 ? 560 : 420);
}

const WIDTHS = [1440, 1024, 390] as const;
const MATRIX = WIDTHS.flatMap((width) => (["light", "dark"] as const).map((scheme) => ({ width, scheme })));

describe.skipIf(CHROMIUM === undefined)("access", { timeout: 120_000 }, () => {
  test.each(MATRIX)("no violation at $width px, $scheme", ({ width, scheme }) =>
    shown(
      work,
      async ({ page }) => {
        const row = page.getByRole("row", { name: "Add retry" }).first();
        await row.waitFor();
        await expectFrame(page, width);
        await expectGood(page, "timeline");
        await row.click();
        await page.getByRole("button", { name: /^Restore to before this/ }).waitFor();
        await page.locator("diffs-container").first().waitFor();
        await expectGood(page, "detail");
        for (const tab of ["Steps", "Details"]) {
          await page.getByRole("tab", { name: tab }).click();
          await page
            .getByRole("tabpanel")
            .getByText(tab === "Steps" ? "src/b.ts" : "In a terminal")
            .first()
            .waitFor();
          await expectGood(page, tab);
        }
        await page.getByRole("button", { name: /^Restore to before this/ }).click();
        await page.getByRole("button", { name: /^Restore [1-9] files/ }).waitFor();
        await expectGood(page, "restore preview");
        await page.keyboard.press("Escape");
        await page.getByRole("button", { name: "Write a note" }).click();
        await expectGood(page, "note");
        await page.keyboard.press("Escape");
        if (width > 700) {
          await page.getByRole("button", { name: /^Checkpoint/ }).click();
          await expectGood(page, "checkpoint");
          await page.keyboard.press("Escape");
          await page.getByRole("treegrid").focus();
          await page.keyboard.press("?");
          await expectGood(page, "keys");
          await page.keyboard.press("Escape");
        }
        await page.getByRole("button", { name: "Compare…" }).last().click();
        await page.waitForURL(/compare/);
        await page.locator("diffs-container").first().waitFor();
        await expectGood(page, "compare");
        await page.getByRole("link", { name: "Pending" }).click();
        await page
          .getByRole("button", { name: /^Approve \d files?…/ })
          .first()
          .click();
        await expectGood(page, "pending");
        await page.getByRole("link", { name: "Threads" }).click();
        await expectGood(page, "threads");
        await page.getByRole("button", { name: /^Payment retries/ }).click();
        await page
          .getByRole("button", { name: /^Restore… to before/ })
          .first()
          .waitFor();
        await expectGood(page, "conversation");
        await page.getByRole("link", { name: "Storage" }).click();
        await page.getByRole("heading", { name: /of at most/ }).waitFor();
        await expectGood(page, "storage");
        await page.getByRole("button", { name: "Forget…" }).click();
        await expectGood(page, "forget");
        await page.keyboard.press("Escape");
        await page.getByRole("link", { name: "Settings" }).click();
        await page.getByLabel("Largest file").waitFor();
        await expectGood(page, "settings");
      },
      {
        width,
        scheme,
        height: 844,
        files: { "src/a.ts": "export const a = 1;\n", "src/b.ts": "export const b = 1;\n" },
      },
    )(),
  );
});
