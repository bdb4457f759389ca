/** Storage and settings, on a real store. */
import { afterAll, describe, expect, test } from "vitest";
import { Agent } from "./support/agent.ts";
import { addressOf, CHROMIUM, closeBrowser, newContext, newPage, shown } from "./support/browser.ts";
import { treeOf, verifyStore } from "./support/going-back.ts";
import { dialog, Hand, HANDS, toast } from "./support/hand.ts";

afterAll(closeBrowser);

const SECRET = "password 7f1b";

describe.skipIf(CHROMIUM === undefined)("upkeep", () => {
  test.each(HANDS)(
    "[S15, L38, M67, Y67] forget a secret: it is shown where, wants the word, and is gone; the file stays, by %s",
    (kind) =>
      shown(
        async (project) => {
          const agent = await Agent.start(project);
          await agent.turn("Write the secret", { "secret.txt": SECRET });
          await agent.turn("Something else", { "a.txt": "two\n" });
        },
        async ({ page, project }) => {
          const hand = new Hand(page, kind);
          const before = treeOf(project);
          const { checkpoints } = await project.ok("GET", "/api/checkpoints?limit=100");
          const holders = () =>
            (checkpoints as { id: string }[]).filter(
              ({ id }) => project.belay("cat", id, "secret.txt").stdout === SECRET,
            );
          expect(holders().length).toBeGreaterThan(1);
          await hand.press(page.getByRole("link", { name: "Storage" }));
          await page.getByRole("heading", { name: /of at most 10 GiB/ }).waitFor();
          await hand.press(page.getByRole("button", { name: "Forget…" }));
          await hand.write(dialog(page).getByLabel("Path"), "secret.txt");
          await page.keyboard.press("Enter");
          await dialog(page).getByText("can bring the content back").waitFor();
          await hand.write(dialog(page).getByLabel("Type forget"), "forge");
          await page.keyboard.press("Enter");
          expect(project.belay("search", "secret.txt").stdout).not.toBe("");
          await hand.write(dialog(page).getByLabel("Type forget"), "forget");
          await page.keyboard.press("Enter");
          await toast(page)
            .getByText(/^Forgot secret\.txt in \d+ checkpoints?\./)
            .waitFor();
          expect(treeOf(project)).toEqual(before);
          expect(holders().length).toBe(0);
          await hand.press(page.getByRole("button", { name: "Verify" }));
          await toast(page).getByText("The store is sound.").waitFor();
          verifyStore(project);
        },
      )(),
  );

  test.each(HANDS)(
    "[S15, L33, R1722] prune shows first what it would drop, and what it dropped comes back, by %s",
    (kind) =>
      shown(
        async (project) => {
          const agent = await Agent.start(project);
          for (let index = 0; index < 20; index += 1)
            await agent.turn(`Turn ${index}`, { "a.txt": `${index}\n` });
          await project.ok("PUT", "/api/settings", { key: "retention.policy", value: "moldable" });
        },
        async ({ page, project }) => {
          const hand = new Hand(page, kind);
          const files = treeOf(project);
          await hand.press(page.getByRole("link", { name: "Storage" }));
          const count = async () =>
            (await project.ok("GET", "/api/checkpoints?limit=1000")).checkpoints.length as number;
          const before = await count();
          // [R1722] how many and how much, before anything is pressed
          await page.getByText(/Would drop \d+ checkpoints and free about [\d.]+ (B|KiB)\./).waitFor();
          await hand.press(page.getByRole("button", { name: "Preview…" }));
          await dialog(page).getByText("would be dropped").waitFor();
          // the first five by name, then how many more
          const listed = dialog(page)
            .getByRole("list", { name: "Checkpoints to drop" })
            .getByRole("listitem");
          expect(await listed.count()).toBe(6);
          expect(await listed.nth(0).innerText()).toMatch(/ at \d\d:\d\d · \S/);
          expect(await listed.nth(5).innerText()).toMatch(/^…and \d+ more$/);
          await expect.poll(count).toBe(before);
          await hand.press(dialog(page).getByRole("button", { name: /^Drop \d+ checkpoints/ }));
          await toast(page)
            .getByText(/^Dropped \d+ checkpoints\./)
            .waitFor();
          await expect.poll(count).toBeLessThan(before);
          await hand.press(toast(page).getByRole("button", { name: "Bring back" }));
          await toast(page)
            .getByText(/^Brought back \d+ checkpoints\./)
            .waitFor();
          await expect.poll(count).toBe(before);
          await hand.press(page.getByRole("button", { name: /^Free( [\d.]+ (B|KiB))?$/ }));
          await toast(page).getByText("No checkpoint was removed.").waitFor();
          await expect.poll(count).toBe(before);
          expect(treeOf(project)).toEqual(files);
          verifyStore(project);
        },
      )(),
  );

  test(
    "[Y06] settings are saved at once, say where they come from, and go back to the default",
    shown(
      async () => undefined,
      async ({ page, project }) => {
        await page.getByRole("link", { name: "Settings" }).click();
        await page.getByRole("group", { name: "Automatic checkpoints" }).getByText("Off").click();
        await page.getByText("From config.json.").waitFor();
        const settings = async () => (await project.ok("GET", "/api/settings")).settings;
        expect((await settings())["checkpoints.automatic"].value).toBe("off");
        await page.getByRole("button", { name: "Default of Automatic checkpoints" }).click();
        await expect.poll(async () => (await settings())["checkpoints.automatic"].source).toBe("default");
        await page.getByLabel("Largest file").fill("a lot");
        await page.keyboard.press("Enter");
        await page.getByText("it must be a number of bytes").waitFor();
        expect((await settings())["limits.fileBytes"].source).toBe("default");
      },
      { expected: /400|409|422/ },
    ),
  );

  test(
    "[R271] another page is ended from the settings",
    shown(
      async () => undefined,
      async ({ page, project }) => {
        const other = await newContext();
        const theirs = await newPage(other, []);
        await theirs.goto(addressOf(project));
        await theirs.getByRole("link", { name: "Settings" }).waitFor();
        await page.getByRole("link", { name: "Settings" }).click();
        await page.getByRole("button", { name: /^End the page/ }).click();
        await theirs.getByText("Open this page from a terminal:").waitFor();
        await expect.poll(() => page.getByText("· this page").count()).toBe(1);
        await other.close();
      },
    ),
  );
});
