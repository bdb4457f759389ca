/** Two hundred strings from strangers as names, notes, tags, prompts, paths and contents: the page shows them as text. */
import { writeFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import type { Page } from "playwright-core";
import type { ServedProject } from "../../server/test/support/served-project.ts";
import { Agent } from "./support/agent.ts";
import { CHROMIUM, closeBrowser, shown } from "./support/browser.ts";
import { treeOf, verifyStore } from "./support/going-back.ts";
import { compareButton, dialog, Hand, row, toast } from "./support/hand.ts";
import { expectHarmless } from "./support/harmless.ts";
import { fileName, HOSTILE } from "./support/hostile.ts";

afterAll(closeBrowser);

const TURNS = 20;
const FILES_A_TURN = HOSTILE.length / TURNS;

/** Every string is a path and a content; a tenth of them prompts; all of them names, notes and tags. */
async function strangeWork(project: ServedProject): Promise<void> {
  const agent = await Agent.start(project, "claude-code", HOSTILE[0]);
  for (let turn = 0; turn < TURNS; turn += 1) {
    const first = turn * FILES_A_TURN;
    const texts = HOSTILE.slice(first, first + FILES_A_TURN);
    await agent.prompt(texts[0]!.slice(0, 5000));
    await agent.writes(
      Object.fromEntries(texts.map((text, index) => [fileName(text, first + index), `before\n${text}\n`])),
    );
    await agent.stop();
  }
  await agent.prompt("Names that are not UTF-8");
  writeFileSync(Buffer.concat([Buffer.from(`${project.project}/`), Buffer.from([0x66, 0xff, 0xfe])]), "x\n");
  await agent.writes({ "plain.txt": "plain\n" });
  await agent.stop();
  for (const [index, text] of HOSTILE.entries()) {
    const words = text.toWellFormed();
    await project.ok("POST", "/api/checkpoints", {
      name: `${words.slice(0, 190)} ${index}`,
      annotation: words.slice(0, 10_000),
      tags: [`${words.slice(0, 50).replaceAll(",", " ")} ${index}`],
    });
  }
}

describe("the strings", () => {
  test("are two hundred, all different", () => {
    expect(new Set(HOSTILE).size).toBe(200);
    expect(HOSTILE.some((text) => text.length >= 10_000)).toBe(true);
  });
});

describe.skipIf(CHROMIUM === undefined)("strings of strangers", { timeout: 240_000 }, () => {
  test(
    "[U11] are shown as text in every view: no markup, no script, no turned direction, no request, no sideways scroll",
    shown(strangeWork, async ({ page, project }) => {
      const asked: string[] = [];
      page.on("request", (request) => void asked.push(request.url()));
      await page.getByRole("row").nth(5).waitFor();
      await lookAtAllRows(page);
      const hand = new Hand(page, "mouse");
      for (const words of ["<script>globalThis", "right to left", "Names that are not UTF-8"]) {
        await findTurn(hand, words);
        await page.locator("diffs-container").first().waitFor();
        await expectHarmless(page, `changes of ${words}`);
        for (const tab of [/^Steps/, /^Details/, /^Changes/]) {
          await page.getByRole("tab", { name: tab }).click();
          await expectHarmless(page, `${String(tab)} of ${words}`);
        }
      }
      await hand.open("b", /^Restore to before this/);
      await dialog(page)
        .getByRole("button", { name: /^Restore \d+ files?/ })
        .waitFor();
      await expectHarmless(page, "preview");
      const before = treeOf(project);
      await hand.confirm(/^Restore \d+ files?/);
      await toast(page)
        .getByText(/^Restored \d+ files?/)
        .waitFor();
      expect(treeOf(project).size).toBeLessThan(before.size);
      await expectHarmless(page, "result");
      await toast(page).getByRole("button", { name: "Undo" }).click();
      await hand.confirm(/^Undo \d+ files?/);
      await toast(page)
        .getByText(/^Undid/)
        .waitFor();
      expect(treeOf(project)).toEqual(before);
      verifyStore(project);
      await compareButton(page).click();
      await page.waitForURL(/compare/);
      await page.locator("diffs-container").first().waitFor();
      await expectHarmless(page, "compare");
      for (const view of ["Pending", "Threads", "Storage", "Settings"]) {
        await page.getByRole("link", { name: new RegExp(`^${view}`) }).click();
        await page.getByRole("heading", { level: 1, name: new RegExp(view) }).waitFor({ state: "attached" });
        await expectHarmless(page, view);
      }
      await page.getByRole("link", { name: /^Threads/ }).click();
      await page.getByRole("button", { name: /script/ }).click();
      await page
        .getByRole("article", { name: /^Prompt/ })
        .first()
        .waitFor();
      await expectHarmless(page, "conversation");
      const { origin } = new URL(project.url);
      expect(
        asked.filter((url) => !url.startsWith(`${origin}/`) && !url.startsWith(`blob:${origin}/`)),
      ).toEqual([]);
    }),
  );
});

/** Goes through the whole list, a screen at a time. */
async function lookAtAllRows(page: Page): Promise<void> {
  const list = page.getByRole("treegrid");
  const seen = new Set<string>();
  for (let screens = 0; screens < 80; screens += 1) {
    await expect.poll(() => list.locator(".b-skeleton").count()).toBe(0);
    for (const id of await list.getByRole("row").evaluateAll((rows) => rows.map(({ id }) => id)))
      seen.add(id);
    await expectHarmless(page, `rows, screen ${screens}`);
    const isEnd = await list.evaluate(async (element) => {
      element.scrollTop += element.clientHeight * 0.8;
      await new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(shown)));
      return element.scrollTop + element.clientHeight >= element.scrollHeight - 1;
    });
    if (isEnd && seen.size > HOSTILE.length) break;
  }
  expect(seen.size).toBeGreaterThan(HOSTILE.length);
}

/** Searches for a turn and selects it. */
async function findTurn(hand: Hand, words: string): Promise<void> {
  const { page } = hand;
  await hand.write(
    page.getByRole("searchbox", { name: /^Search/ }),
    `kind:turn ${words.replaceAll(/[<>]/g, " ").trim()}`,
  );
  await row(page, "Claude Code").first().click();
}
