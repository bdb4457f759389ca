/** No press is lost, none acts twice, and none acts on what the person has not seen. */
import { afterAll, describe, expect, test } from "vitest";
import type { Locator, Page } from "playwright-core";
import { Agent } from "./support/agent.ts";
import { CHROMIUM, closeBrowser, shown } from "./support/browser.ts";
import { treeOf, verifyStore } from "./support/going-back.ts";
import { compareButton, dialog, Hand, HANDS, row, toast } from "./support/hand.ts";
import { FILES, twoTurns } from "./support/work.ts";

afterAll(closeBrowser);

/** What Chromium writes when the server is gone. */
const CUT_OFF = /ERR_|Failed to (load|fetch)|^Worker error|WorkerPoolWorkerError/;
const MANY = 150;

const focused = (page: Page) => page.evaluate("document.activeElement?.id ?? ''");
const isOff = (button: Locator) => button.getAttribute("aria-disabled");

describe.skipIf(CHROMIUM === undefined)("presses", () => {
  test.each(HANDS)(
    "[S7, Y22, Y23, R2160, R2165] every file of a long comparison is one press away, and few are in the document, by %s",
    (kind) =>
      shown(
        async (project) => {
          const agent = await Agent.start(project);
          const names = Array.from(
            { length: MANY },
            (_, index) => `src/f${String(index).padStart(3, "0")}.txt`,
          );
          await agent.turn("Make many", Object.fromEntries(names.map((name) => [name, `${name}\n`])));
        },
        async ({ page }) => {
          const hand = new Hand(page, kind);
          await hand.select("Make many");
          await hand.press(compareButton(page));
          await page.waitForURL(/\/compare\//);
          const tree = page.getByRole("tree", { name: "Changed files" });
          await tree.getByRole("treeitem", { name: /f000\.txt/ }).waitFor();
          await expect.poll(() => tree.getByRole("treeitem").count()).toBeLessThan(60);
          const card = (name: string) => page.getByRole("region", { name: `added src/${name}.txt` });
          await expect.poll(() => card("f149").count()).toBe(0);
          if (kind === "keyboard") {
            await hand.reach(tree);
            await page.keyboard.press("End");
            await page.keyboard.press("Enter");
          } else {
            await tree.evaluate((element) => element.scrollTo(0, element.scrollHeight));
            await tree.getByRole("treeitem", { name: /f149\.txt/ }).click();
          }
          await inView(card("f149"));
          await expect
            .poll(() => tree.getByRole("treeitem", { selected: true }).innerText())
            .toContain("f149");
          // a folder closes and opens, and the filter says how many are left
          if (kind === "keyboard") {
            await page.keyboard.press("Home");
            await page.keyboard.press("ArrowLeft");
          } else {
            await tree.evaluate((element) => element.scrollTo(0, 0));
            await tree.getByRole("treeitem", { name: /^src/ }).click();
          }
          await expect.poll(() => tree.getByRole("treeitem").count()).toBe(1);
          await hand.write(page.getByLabel("Filter files"), "f14");
          await page.getByText("10 of 150").waitFor();
        },
        { files: FILES },
      )(),
  );

  test(
    "[Y23, R2160, U10] keys go on where the cards end, and say where they are",
    shown(
      async (project) => {
        const agent = await Agent.start(project);
        const names = Array.from({ length: 61 }, (_, index) => `f${String(index).padStart(2, "0")}.txt`);
        await agent.turn("Make many", Object.fromEntries(names.map((name) => [name, `${name}\n`])));
      },
      async ({ page }) => {
        await compareButton(page).click();
        await page.waitForURL(/\/compare\//);
        await page.getByLabel("Filter files").fill("f59");
        await page.getByRole("treeitem", { name: /f59\.txt/ }).click();
        await inView(page.getByRole("region", { name: "added f59.txt" }));
        await page.getByRole("region", { name: "Differences" }).focus();
        const next = page.getByRole("region", { name: "added f60.txt" });
        await expect
          .poll(async () => {
            await page.keyboard.press("j");
            return next.count();
          })
          .toBe(1);
        await inView(next);
        // the last short file never comes to the top, and is the one that keys act on
        const status = page.getByRole("status");
        await expect.poll(() => next.getAttribute("data-at")).toBe("");
        await next.getByRole("group", { name: /hunk 1 of 1$/ }).waitFor();
        await page.keyboard.press(".");
        await status.filter({ hasText: "f60.txt, hunk 1 of 1" }).waitFor();
        await page.keyboard.press("f");
        await dialog(page)
          .getByRole("heading", { name: /: f60\.txt$/ })
          .waitFor();
        await page.keyboard.press("Escape");
        await dialog(page).waitFor({ state: "detached" });
      },
      { files: FILES },
    ),
  );

  test(
    "[U4, A36, R2161] a double click approves nothing and deletes nothing",
    shown(
      twoTurns,
      async ({ page, project }) => {
        await row(page, "Add retry").waitFor();
        await page.getByRole("link", { name: /^Pending/ }).click();
        const card = page.getByRole("region", { name: "Payment retries" });
        await card.getByRole("button", { name: /^Approve 3 files…/ }).dblclick();
        await page.getByLabel("Message, may stay empty").waitFor();
        const { threads } = await project.ok("GET", "/api/threads");
        expect(threads[0].lastApprovedAt).toBeNull();
        await page.getByRole("link", { name: "Storage" }).click();
        const count = async () =>
          (await project.ok("GET", "/api/checkpoints?limit=1000")).checkpoints.length as number;
        const before = await count();
        await page
          .getByRole("checkbox", { name: /^Checkpoint/ })
          .first()
          .check();
        await page.getByRole("button", { name: "Delete 1", exact: true }).dblclick();
        await page.getByRole("button", { name: "Yes, delete 1" }).waitFor();
        expect(await count()).toBe(before);
        // the second press of a person who saw the question does
        await page.getByRole("button", { name: "Yes, delete 1" }).press("Enter");
        await toast(page).getByText("Deleted 1 checkpoint.").waitFor();
        expect(await count()).toBe(before - 1);
        verifyStore(project);
      },
      { files: FILES },
    ),
  );

  test(
    "[A36] an approval whose answer takes long is sent once, however often it is pressed",
    shown(
      twoTurns,
      async ({ page, project }) => {
        const held = Promise.withResolvers<void>();
        const sent: string[] = [];
        await page.route(/\/approve/, async (route) => {
          sent.push(route.request().url());
          await held.promise;
          await route.continue();
        });
        await row(page, "Add retry").waitFor();
        await page.getByRole("link", { name: /^Pending/ }).click();
        await page.getByRole("button", { name: /^Approve 3 files…/ }).click();
        const message = page.getByLabel("Message, may stay empty");
        await message.fill("good");
        for (let presses = 0; presses < 3; presses += 1) await message.press("Enter");
        await expect.poll(() => sent.length).toBe(1);
        held.resolve();
        await toast(page).getByText("Approved 3 files of Payment retries.").waitFor();
        expect(sent).toHaveLength(1);
        verifyStore(project);
      },
      { files: FILES },
    ),
  );

  test(
    "[S17, U6, R2162] without a connection what is loaded can be read, and what would change something says why it cannot be pressed",
    shown(
      twoTurns,
      async ({ page, project }) => {
        await row(page, "Add retry").click();
        await page.getByText("export const made = true").first().waitFor();
        const before = treeOf(project);
        await project.kill();
        await page.getByText(/^Not connected\./).waitFor();
        for (const name of [/^Restore to before this/, /^Undo only this/, /^Undo this file… src\/new\.ts/]) {
          const button = page.getByRole("button", { name });
          await expect.poll(() => isOff(button)).toBe("true");
          expect(await button.getAttribute("title")).toBe("Not connected");
          await button.dispatchEvent("click");
        }
        const inRow = row(page, "Add retry").getByRole("button", { name: /^Restore to/ });
        await expect.poll(() => isOff(inRow)).toBe("true");
        await inRow.dispatchEvent("click");
        expect(await dialog(page).count()).toBe(0);
        await page.getByRole("link", { name: /^Pending/ }).click();
        const approve = page.getByRole("button", { name: /^Approve/ });
        await expect
          .poll(() => approve.first().or(page.getByText("Nothing pending")).count())
          .toBeGreaterThan(0);
        expect(treeOf(project)).toEqual(before);
      },
      { files: FILES, expected: CUT_OFF },
    ),
  );

  test(
    "[U7, R2164] a strip that comes while a button is held down does not take the press away",
    shown(
      twoTurns,
      async ({ page, project, context }) => {
        await row(page, "Add retry").waitFor();
        const other = await context.newPage();
        await other.goto(page.url());
        await row(other, "Add retry").waitFor();
        await page.bringToFront();
        const link = page.getByRole("link", { name: "Settings" });
        const { x, y, width, height } = (await link.boundingBox())!;
        await page.mouse.move(x + width / 2, y + height / 2);
        await page.mouse.down();
        await project.kill();
        await other.getByText(/^Not connected\./).waitFor();
        expect((await link.boundingBox())!.y).toBe(y);
        await page.mouse.up();
        await page.waitForURL(/\/settings$/);
        await page.getByText(/^Not connected\./).waitFor();
      },
      { files: FILES, expected: CUT_OFF },
    ),
  );

  test(
    "[Y06, U10, R2166] a setting that is changed keeps the focus, and says where its value comes from",
    shown(
      async () => undefined,
      async ({ page, project }) => {
        await page.getByRole("link", { name: "Settings" }).waitFor();
        await page.goto(new URL("/settings", page.url()).href);
        const policy = page.getByRole("group", { name: "What causes them" }).getByText("Prompts");
        await policy.waitFor();
        await page.waitForURL(/\/w\/[^/]+\/settings$/);
        const value = async (key: string) => (await project.ok("GET", "/api/settings")).settings[key].value;
        await policy.focus();
        await page.keyboard.press("Enter");
        await expect.poll(() => value("checkpoints.policy")).toBe("message");
        await expect.poll(() => policy.getAttribute("aria-pressed")).toBe("true");
        const back = page.getByRole("button", { name: "Default of What causes them" });
        await back.waitFor();
        expect(await policy.evaluate((button) => button === document.activeElement)).toBe(true);
        const limit = page.getByLabel("Largest file", { exact: true });
        await limit.fill("65536KiB");
        await limit.press("Enter");
        await expect.poll(() => value("limits.fileBytes")).toBe(64 * 1024 ** 2);
        await limit.fill("32MiB");
        await limit.press("Enter");
        await expect.poll(() => value("limits.fileBytes")).toBe(32 * 1024 ** 2);
        await page.getByRole("button", { name: "Default of Largest file" }).waitFor();
        expect(await focused(page)).toBe("limits.fileBytes");
        await page.getByRole("radio", { name: /^Last 50/ }).click();
        await page.getByRole("button", { name: "Default of How long checkpoints stay" }).press("Enter");
        await expect.poll(() => page.getByRole("radio", { name: /^Default/ }).isChecked()).toBe(true);
        await back.press("Enter");
        await back.waitFor({ state: "detached" });
        expect(await page.evaluate("document.activeElement === document.body")).toBe(false);
      },
    ),
  );
});

/** Waits until an element is within the window. */
async function inView(place: Locator): Promise<void> {
  await place.waitFor();
  await expect
    .poll(() =>
      place.evaluate((element) => {
        const { top, bottom } = element.getBoundingClientRect();
        return bottom > 0 && top < innerHeight;
      }),
    )
    .toBe(true);
}
