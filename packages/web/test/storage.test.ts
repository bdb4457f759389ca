/** Storage: every checkpoint in a table, and what takes the space. */
import { randomBytes } from "node:crypto";
import { afterAll, describe, expect, test } from "vitest";
import { Agent } from "./support/agent.ts";
import { CHROMIUM, closeBrowser, shown } from "./support/browser.ts";

afterAll(closeBrowser);

describe.skipIf(CHROMIUM === undefined)("storage", () => {
  test(
    "[L23, L33, L38, Y67, C64] checkpoints are found, selected, deleted with a second press, and brought back",
    shown(
      async (project) => {
        const agent = await Agent.start(project);
        await agent.turn(
          "Change a",
          { "a.txt": "two\n" },
          { "b.txt": randomBytes(300_000).toString("base64") },
        );
        await project.ok("POST", "/api/checkpoints", { name: "All green", tags: ["demo"] });
        for (let index = 0; index < 60; index += 1)
          await project.ok("POST", "/api/checkpoints", { name: `Kept ${index}` });
      },
      async ({ page, project }) => {
        const count = async () =>
          (await project.ok("GET", "/api/checkpoints?limit=1000")).checkpoints.length as number;
        const before = await count();
        await page.getByRole("link", { name: "Storage" }).click();
        const table = page.getByRole("table", { name: "Checkpoints" });
        await table.getByText("Kept 59").waitFor();
        expect(Number(await table.getAttribute("aria-rowcount"))).toBe(before + 1);
        // only what is in view is in the document
        await expect.poll(() => table.getByRole("row").count()).toBeLessThan(40);
        await page.getByRole("searchbox", { name: "Search checkpoints" }).fill("green");
        await table.getByText("All green").waitFor();
        await expect.poll(() => table.getByRole("row").count()).toBe(2);
        await page.getByRole("searchbox", { name: "Search checkpoints" }).fill("");
        await page.getByLabel("Age", { exact: true }).selectOption("Older than a day");
        await expect.poll(() => table.getByRole("row").count()).toBe(1);
        await page.getByLabel("Age", { exact: true }).selectOption("Age: any");
        // one thread's, all of them
        await page.getByLabel("Thread", { exact: true }).selectOption("Payment retries");
        const { threads } = await project.ok("GET", "/api/threads");
        const its = (await project.ok("GET", `/api/threads/${threads[0].id}/checkpoints?limit=1000`))
          .checkpoints;
        await expect.poll(() => table.getAttribute("aria-rowcount")).toBe(String(its.length + 1));
        await page.getByLabel("Thread", { exact: true }).selectOption("Thread: any");
        await page.getByLabel("Kind", { exact: true }).selectOption("tool");
        await table.getByText("+1 ~0 −0").first().waitFor();
        // [R1721] only the checkpoint that brought it in counts the large file
        await page.getByLabel("Own size", { exact: true }).selectOption("Over 100 KiB");
        await expect.poll(() => table.getByRole("row").count()).toBe(2);
        await table
          .getByRole("row")
          .nth(1)
          .getByText(/^\d+ KiB$/)
          .waitFor();
        await page.getByLabel("Own size", { exact: true }).selectOption("Own size: any");
        await table
          .getByRole("checkbox", { name: /^Checkpoint/ })
          .first()
          .check();
        // by key: a strip that comes in between a button's going down and up would move it away from the pointer
        await page.getByRole("button", { name: "Delete 1", exact: true }).press("Enter");
        await expect.poll(count).toBe(before);
        await page.getByRole("button", { name: "Yes, delete 1" }).press("Enter");
        await page.getByText("Deleted 1 checkpoint. For 24 hours you can bring them back.").waitFor();
        await expect.poll(count).toBe(before - 1);
        await page.locator(".b-toast").getByRole("button", { name: "Bring back" }).click();
        await page.getByText("Brought back 1 checkpoint.").waitFor();
        await expect.poll(count).toBe(before);
        await page.getByRole("button", { name: "Change the cap" }).click();
        await page.getByLabel("Largest file").waitFor();
      },
    ),
  );
});
