/** Previews beyond the stories: conversations that go back, plans that grew old, restores that take a while. */
import { afterAll, describe, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { Agent } from "./support/agent.ts";
import { CHROMIUM, closeBrowser, shown } from "./support/browser.ts";

afterAll(closeBrowser);

const dialog = (page: Page) => page.locator("dialog[open]");
const FILES = { "a.txt": "one\n" };

async function confirm(page: Page, words: RegExp): Promise<void> {
  const button = dialog(page).getByRole("button", { name: words });
  await expect.poll(() => button.getAttribute("aria-disabled"), { timeout: 10_000 }).toBe("false");
  await button.click();
}

describe.skipIf(CHROMIUM === undefined)("previews", { timeout: 90_000 }, () => {
  test(
    "[S14, M31, Y17, Y88] conversation alone changes no file; both change both; messages are marked, never removed",
    shown(
      async (project) => {
        const agent = await Agent.start(project, "my-agent", "Talk");
        await agent.turn("Change a", { "a.txt": "two\n" });
        await agent.turn("Change a again", { "a.txt": "three\n" });
      },
      async ({ page, project }) => {
        const messages = async () => {
          const [{ id }] = (await project.ok("GET", "/api/threads")).threads;
          const answer = await project.ok("GET", `/api/threads/${id}/messages`);
          return Object.fromEntries(
            answer.messages.map((each: { content: string; rolledBack: boolean }) => [
              each.content,
              each.rolledBack,
            ]),
          );
        };
        await page.getByRole("row", { name: "Change a again" }).click();
        await page.getByRole("button", { name: /^Restore to before this/ }).click();
        await dialog(page).getByRole("button", { name: "Conversation", exact: true }).click();
        await dialog(page).getByText("No file changes.").waitFor();
        await confirm(page, /^Go back in the conversation/);
        await page.getByText(/^The conversation went back to before “Change a again”\./).waitFor();
        expect(project.read("a.txt")).toBe("three\n");
        expect(await messages()).toEqual({ "Change a": false, "Change a again": true });
        await page
          .getByRole("row", { name: /Change a,/ })
          .first()
          .click();
        await page.getByRole("button", { name: /^Restore to before this/ }).click();
        await dialog(page).getByRole("button", { name: "Both", exact: true }).click();
        await confirm(page, /^Restore 1 file/);
        await page.getByText(/^Restored 1 file to before “Change a”\./).waitFor();
        expect(project.read("a.txt")).toBe("one\n");
        expect(await messages()).toEqual({ "Change a": true, "Change a again": true });
        await page.getByRole("button", { name: "Show diff" }).click();
        await page.waitForURL(/compare/);
        expect(project.belay("verify", "--full").status).toBe(0);
      },
      { files: FILES },
    ),
  );

  test(
    "[S14] where the agent's conversation cannot be forked, the words say so and nothing has changed",
    shown(
      async (project) => {
        const agent = await Agent.start(project, "claude-code", "Talk");
        await agent.turn("Change a", { "a.txt": "two\n" });
      },
      async ({ page, project }) => {
        await page.getByRole("row", { name: "Change a" }).click();
        await page.getByRole("button", { name: /^Restore to before this/ }).click();
        await dialog(page).getByRole("button", { name: "Both", exact: true }).click();
        await confirm(page, /^Restore 1 file/);
        await dialog(page).getByText("Nothing was changed.").first().waitFor();
        expect(project.read("a.txt")).toBe("two\n");
      },
      { files: FILES, expected: /4\d\d|5\d\d/ },
    ),
  );

  test(
    "a plan that grew old names the file that was written, and marks it in the new preview",
    shown(
      async (project) => {
        const agent = await Agent.start(project);
        await agent.turn("Change both", { "a.txt": "two\n", "b.txt": "two\n" });
      },
      async ({ page, project }) => {
        await page.getByRole("row", { name: "Change both" }).click();
        await page.getByRole("button", { name: /^Restore to before this/ }).click();
        const button = dialog(page).getByRole("button", { name: /^Restore 2 files/ });
        await expect.poll(() => button.getAttribute("aria-disabled"), { timeout: 10_000 }).toBe("false");
        project.write("a.txt", "three\nfour\n");
        await button.click();
        await dialog(page).getByText("a.txt was written meanwhile.").waitFor();
        const changed = dialog(page).getByRole("region", { name: "Will change" });
        expect(await changed.getByText("new", { exact: true }).count()).toBe(1);
        expect(project.read("a.txt")).toBe("three\nfour\n");
      },
      { files: FILES, expected: /409/ },
    ),
  );

  test(
    "a large restore shows how far it is, and its result stays with the way back",
    shown(
      async (project) => {
        const agent = await Agent.start(project);
        const many = Object.fromEntries(
          Array.from({ length: 1500 }, (_, index) => [`many/${index}.txt`, "x\n"]),
        );
        await agent.turn("Make many", many);
      },
      async ({ page, project }) => {
        await page.getByRole("row", { name: "Make many" }).click();
        await page.getByRole("button", { name: /^Restore to before this/ }).click();
        await confirm(page, /^Restore 1,500 files/);
        await dialog(page).getByText("If the power fails now").waitFor();
        // it cannot be closed while it runs
        await page.keyboard.press("Escape");
        expect(await dialog(page).count()).toBe(1);
        await page.getByText(/^Restored 1,500 files/).waitFor({ timeout: 60_000 });
        expect(project.read("many/1499.txt")).toBeUndefined();
      },
      { files: FILES },
    ),
  );
});
