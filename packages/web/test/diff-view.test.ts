/** Differences on the page: what they weigh, what they show, what can be done in them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Locator } from "playwright-core";
import { afterAll, describe, expect, test } from "vitest";
import { Agent } from "./support/agent.ts";
import { CHROMIUM, closeBrowser, shown } from "./support/browser.ts";

afterAll(closeBrowser);

const DIST = join(import.meta.dirname, "../dist");

/** Tests are compiled without the browser's names. */
const colourOf = (place: Locator, property = "color") =>
  place.evaluate((node, name) => (globalThis as any).getComputedStyle(node)[name] as string, property);

describe.skipIf(CHROMIUM === undefined)("differences", { timeout: 90_000 }, () => {
  test(
    "what a diff loads beyond the shell weighs at most 340 KB, and its lines are coloured",
    shown(
      async (project) => {
        const agent = await Agent.start(project);
        await agent.turn("Change a", { "a.ts": "export const a: number = 2;\n" });
      },
      async ({ page }) => {
        const loaded = new Set<string>();
        page.context().on("request", (request) => {
          const name = /\/assets\/([^?]+\.(?:js|wasm))/.exec(request.url())?.[1];
          if (name !== undefined) loaded.add(name);
        });
        await page.getByRole("row", { name: "Change a" }).waitFor();
        await page.reload();
        const word = page.locator("diffs-container span", { hasText: /^export\s*$/ }).first();
        await word.waitFor();
        const plain = await colourOf(page.locator(".b-body").first());
        await expect.poll(() => colourOf(word)).not.toBe(plain);
        const shell = readFileSync(join(DIST, "index.html"), "utf8");
        const beyond = [...loaded].filter((name) => !shell.includes(name));
        const weight = beyond.reduce(
          (sum, name) => sum + gzipSync(readFileSync(join(DIST, "assets", name))).length,
          0,
        );
        expect(beyond.some((name) => name.endsWith(".wasm"))).toBe(true);
        expect(weight).toBeGreaterThan(100 * 1024);
        expect(weight, beyond.join(", ")).toBeLessThanOrEqual(340 * 1024);
      },
      { files: { "a.ts": "export const a: number = 1;\n" } },
    ),
  );
});
