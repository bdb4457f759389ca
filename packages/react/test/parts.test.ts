/** The parts in a host's page: with a provider around them, and with plain data. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { CHROMIUM, closeBrowser } from "../../web/test/support/browser.ts";
import { expectRed } from "../../web/test/support/red.ts";
import { chatting, REACTS, removePages } from "./support/chat.ts";

afterAll(async () => {
  await closeBrowser();
  removePages();
});

const show = (page: Page, part: string) => page.getByRole("button", { name: part, exact: true }).click();

/** In the browser: the rules of a style sheet that set anything but our variables on an element outside of every part. */
function appliedOutside(text: string): { outside: string[]; rules: number } {
  const { CSSStyleSheet, document } = globalThis as any;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  const found: string[] = [];
  let rules = 0;
  // a highlight has a name of ours and no element
  const elementsOf = (selector: string) =>
    selector.startsWith("::highlight(belay-") ? "belay-highlight" : selector.replaceAll(/::[a-z-]+/g, "");
  const walk = (rule: any): void => {
    for (const inner of rule.cssRules ?? []) walk(inner);
    if (rule.selectorText === undefined) return;
    rules += 1;
    const names = [...rule.style].filter((name: string) => !name.startsWith("--belay-"));
    const shown = names.length > 1 && names.every((name) => name.startsWith("margin")) ? ["margin"] : names;
    if (names.length === 0) return;
    for (const element of document.querySelectorAll(elementsOf(rule.selectorText)))
      if (element.closest(".belay") === null)
        found.push(`${rule.selectorText} on ${element.localName}: ${shown.join(", ")}`);
  };
  for (const rule of sheet.cssRules) walk(rule);
  return { outside: found, rules };
}

describe.skipIf(CHROMIUM === undefined)("parts below a provider", () => {
  test.each(REACTS)("[C64, Y05, Y62] the timeline is live, and its rows open previews, under %s", (react) =>
    chatting(
      async ({ chat, page, project }) => {
        await show(page, "Timeline");
        await chat.send("write app.txt the second version");
        const row = page.getByRole("row", { name: "write app.txt the second version" });
        await row.waitFor();
        await page.getByRole("row", { name: "You are here" }).waitFor();
        await row.hover();
        await row.getByRole("button", { name: /^Restore to before/ }).click();
        await chat.confirm(/^Restore 1 file/);
        expect(project.read("app.txt")).toBe("the first version\n");
        await page.getByRole("row", { name: /Restored/ }).waitFor();
      },
      { react },
    )(),
  );

  test("[M79, Y22, Y24, Y65] the diff view colours the lines that changed, also against the disk", () =>
    chatting(async ({ chat, page, project }) => {
      await chat.send("write src/lib.ts export const lib: number = 2;");
      await show(page, "Changes");
      const files = page.getByRole("group", { name: "Changed files" }).getByRole("button");
      await expect.poll(() => files.allInnerTexts()).toHaveLength(1);
      await page.getByText("export const lib: number = 2;").first().waitFor();
      const colours = () =>
        page
          .locator("diffs-container")
          .first()
          .evaluate((element: any) => {
            const tokens = [...element.shadowRoot.querySelectorAll("[data-line] span")];
            const { getComputedStyle } = globalThis as any;
            return new Set(tokens.map((token) => getComputedStyle(token).color as string)).size;
          });
      await expect.poll(colours).toBeGreaterThan(2);
      project.write("by-hand.txt", "new\n");
      await project.ok("POST", "/api/checkpoints", {});
      await expect.poll(() => files.allInnerTexts()).toHaveLength(2);
    })());

  test("[A36, A37, A38] the pending panel shows what is not approved, approves it with a second press, and resets", () =>
    chatting(async ({ chat, page, project }) => {
      await chat.send("write app.txt the second version");
      await show(page, "Pending");
      const panel = page.locator("section", { hasText: "Approve 1 file" }).first();
      await panel.getByText("src/lib.ts").waitFor({ state: "detached" });
      await panel.getByRole("button", { name: /^Approve 1 file/ }).click();
      await page.getByLabel("Message, may stay empty").press("Enter");
      await chat.toast.getByText("Approved 1 file of").waitFor();
      await page.getByText("nothing pending").waitFor();
      await chat.send("write app.txt the third version");
      await page.getByRole("button", { name: /^Reset…/ }).click();
      await chat.confirm(/^Reset 1 file/);
      expect(project.read("app.txt")).toBe("the second version\n");
    })());

  test("[Y07, Y08, Y10, Y63] a state is kept under a name", () =>
    chatting(async ({ chat, page, project }) => {
      await show(page, "Keep this state…");
      await chat.dialog.getByLabel("Name").fill("before the rewrite");
      await page.keyboard.press("Enter");
      await chat.toast.getByText(/^Kept “before the rewrite”: 2 files, \d+ B\.$/).waitFor();
      const { checkpoints } = await project.ok("GET", "/api/checkpoints");
      expect(checkpoints[0].name).toBe("before the rewrite");
      await show(page, "Timeline");
      await page.getByRole("row", { name: "before the rewrite" }).waitFor();
    })());

  test("[L33, Y67] the storage panel tells the space used, lists every checkpoint and makes room", () =>
    chatting(async ({ chat, page, project }) => {
      await chat.send("write app.txt the second version");
      await show(page, "Storage");
      await page.getByRole("heading", { name: /of at most/ }).waitFor();
      await expect
        .poll(() => page.getByRole("region", { name: "Space used" }).innerText())
        .toContain("Turns and prompts");
      const { checkpoints } = await project.ok("GET", "/api/checkpoints?limit=100");
      const listed = page
        .getByRole("table", { name: "Checkpoints" })
        .getByRole("checkbox", { name: /^Checkpoint/ });
      await expect.poll(() => listed.count()).toBe(checkpoints.length);
      await page.getByRole("button", { name: "Free", exact: true }).click();
      await chat.toast.getByText("No checkpoint was removed.").waitFor();
    })());
});

describe.skipIf(CHROMIUM === undefined)("in a host's page", () => {
  test("the styles of the parts apply to nothing of the host", () =>
    chatting(async ({ chat, page }) => {
      await chat.send("write app.txt the second version");
      const styles = readFileSync(join(import.meta.dirname, "../src/styles.css"), "utf8");
      const { outside, rules } = await page.evaluate(appliedOutside, styles);
      expect(outside).toEqual([]);
      expect(rules).toBeGreaterThan(300);
      // the check sees a rule that reaches the host
      expect((await page.evaluate(appliedOutside, "h1 { margin: 0 }")).outside).toEqual(["h1 on h1: margin"]);
    })());

  test("[L30, L31, L32] with plain data the dialog names five files and how many more, and only asks", () =>
    chatting(
      async ({ page, chat }) => {
        const badges = page.getByRole("button", { name: /^Restore…/ });
        await expect.poll(() => badges.count()).toBe(2);
        await expect.poll(() => badges.nth(1).getAttribute("aria-busy")).toBe("true");
        await expect.poll(() => badges.nth(1).locator(".b-spinner").count()).toBe(1);
        await badges.nth(1).dispatchEvent("click");
        await page.getByText("Answered: nothing").waitFor();
        await badges.first().click();
        await expect.poll(() => chat.dialog.getAttribute("role")).toBe("alertdialog");
        await chat.dialog
          .getByText(/^This takes 7 files back to how they were .* you can undo this\.$/)
          .waitFor();
        const files = chat.dialog.getByRole("listitem");
        await expect
          .poll(() => files.allInnerTexts())
          .toEqual([...["a", "b", "c", "d", "e"].map((name) => `src/${name}.ts`), "…and 2 more"]);
        await expectRed(chat.dialog.getByRole("button", { name: "Restore", exact: true }));
        await page.keyboard.press("Escape");
        await page.getByText("Answered: cancel").waitFor();
        await badges.first().click();
        await chat.dialog.getByRole("button", { name: "Restore", exact: true }).click();
        await page.getByText("Answered: restore").waitFor();
        await page.getByRole("treeitem", { name: /c\.ts/ }).click();
        await page.getByText("Answered: src/c.ts").waitFor();
      },
      { path: "/plain" },
    )());
});
