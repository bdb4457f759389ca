/** What readers, keys and eyes complain about: nothing of it may be in any view, in both themes and three widths. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { expect } from "vitest";
import type { Page } from "playwright-core";
import { faultsOf } from "./sight.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe says about the page as it is, without the colours of code: those are the diff view's theme. */
async function violations(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const found = (await page.evaluate(
    "axe.run({ exclude: ['diffs-container'] }, { resultTypes: ['violations'], rules: { 'target-size': { enabled: true } } }).then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map((node) => node.target.join(' ') + ' ' + (node.any[0]?.message ?? node.all[0]?.message ?? '')).slice(0, 4).join(' | ')))",
  )) as string[];
  return found;
}

/** Nothing for a reader, and nothing for an eye, to complain about. */
export async function expectGood(page: Page, what: string, floating = ""): Promise<void> {
  const pictures = process.env["BELAY_PICTURES"];
  if (pictures !== undefined) {
    const { width } = page.viewportSize()!;
    const scheme = await page.evaluate(
      "matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'",
    );
    await page.screenshot({ path: join(pictures, `${what} ${width} ${String(scheme)}.png`) });
  }
  expect(await violations(page), what).toEqual([]);
  // what floats may lie over the content that scrolls, never over the ways to other views
  const faults = (await faultsOf(page)).filter(
    (fault) => floating === "" || !fault.includes(floating) || fault.includes("b-nav"),
  );
  expect(faults, what).toEqual([]);
}

const WIDTHS = [1440, 1024, 390] as const;

/** Every width in both themes. */
export const MATRIX = WIDTHS.flatMap((width) =>
  (["light", "dark"] as const).map((scheme) => ({ width, scheme })),
);
