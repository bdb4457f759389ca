/** What readers, keys and eyes complain about: nothing of it may be in any view, in both themes and three widths. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { expect } from "vitest";
import type { Page } from "playwright-core";
import { faultsOf } from "./sight.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const RULES = "rules: { 'target-size': { enabled: true } }";
/** The rules whose answer depends on the theme, which changes colours and nothing else. */
const COLOURS = "runOnly: ['color-contrast', 'link-in-text-block']";

/** What axe says about the page as it is, without the colours of code: those are the diff view's theme. */
async function violations(page: Page, rules = RULES): Promise<string[]> {
  if ((await page.evaluate("typeof axe")) === "undefined") await page.evaluate(AXE);
  const found = (await page.evaluate(
    `axe.run({ exclude: ['diffs-container'] }, { resultTypes: ['violations'], ${rules} }).then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map((node) => node.target.join(' ') + ' ' + (node.any[0]?.message ?? node.all[0]?.message ?? '')).slice(0, 4).join(' | ')))`,
  )) as string[];
  return found;
}

/** The same in light and dark, one after the other on the same screen. */
export async function expectGoodInBoth(page: Page, what: string, floating = ""): Promise<void> {
  await expectGood(page, what, floating);
  await page.emulateMedia({ colorScheme: "dark" });
  await takePicture(page, what);
  expect(await violations(page, COLOURS), `${what}, dark`).toEqual([]);
  await page.emulateMedia({ colorScheme: "light" });
}

/** Where pictures are wanted, one of the page as it is. */
async function takePicture(page: Page, what: string): Promise<void> {
  const pictures = process.env["BELAY_PICTURES"];
  if (pictures === undefined) return;
  const { width } = page.viewportSize()!;
  const scheme = await page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'");
  await page.screenshot({ path: join(pictures, `${what} ${width} ${String(scheme)}.png`) });
}

/** Nothing for a reader, and nothing for an eye, to complain about. */
export async function expectGood(page: Page, what: string, floating = ""): Promise<void> {
  await takePicture(page, what);
  expect(await violations(page), what).toEqual([]);
  // what floats may lie over the content that scrolls, never over the ways to other views
  const faults = (await faultsOf(page)).filter(
    (fault) => floating === "" || !fault.includes(floating) || fault.includes("b-nav"),
  );
  expect(faults, what).toEqual([]);
}

/** The widths that the page is drawn for. */
export const WIDTHS = [1440, 1024, 390] as const;
