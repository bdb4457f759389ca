/** Remotes in the page: a real database, a second machine, and what each of them sees. */
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { missingPostgres, startPostgres } from "../../remote/test/support/postgres-server.ts";
import { expectGoodInBoth } from "./support/access.ts";
import { Agent } from "./support/agent.ts";
import { CHROMIUM, closeBrowser, shown } from "./support/browser.ts";
import { treeOf, verifyStore } from "./support/going-back.ts";
import { dialog, toast } from "./support/hand.ts";

const missing = missingPostgres();
if (missing !== undefined) console.warn(`The test of remotes in the page is skipped: ${missing}`);

afterAll(closeBrowser);

describe.skipIf(CHROMIUM === undefined || missing !== undefined)("remotes", { timeout: 180_000 }, () => {
  test("[R1720] a remote says how it stands, synchronises, is verified, and shows its members and lines", async () => {
    const database = await startPostgres();
    const url = `postgres://belay@127.0.0.1:${database.port}/postgres/page`;
    let elsewhere = "";
    try {
      await shown(
        async (project) => {
          const agent = await Agent.start(project);
          await agent.turn("Add retry", { "a.txt": "two\n" });
          const key = join(project.base, "key.txt");
          expect(project.belay("remote", "add", "team", url, "--recovery-file", key)).toMatchObject({
            status: 0,
          });
          elsewhere = join(project.base, "elsewhere");
        },
        async ({ page, project }) => {
          const ran = (...words: string[]) => {
            const { status, stderr } = project.belay(...words);
            expect(status, stderr).toBe(0);
          };
          await page.getByRole("link", { name: "Storage" }).click();
          const card = page.getByRole("region", { name: "Remotes" });
          await card.getByText(/\d+ queued/).waitFor();
          await card.getByText("nothing sent yet").waitFor();
          await card.getByRole("button", { name: "Synchronise with team" }).click();
          await toast(page).getByText("team is as it is here.").waitFor();
          await card.getByText("synced", { exact: true }).waitFor();
          await card.getByText(/you are admin · keys of generation 1 · sent just now/).waitFor();
          // another machine: a home of its own, which joins the space and sends a line
          const there = ["--home", join(project.base, "their-home"), "-C", elsewhere];
          ran("--home", there[1]!, "clone", url, elsewhere, "--recovery-file", join(project.base, "key.txt"));
          project.write("../elsewhere/a.txt", "theirs\n");
          ran(...there, "checkpoint", "-m", "From the other machine");
          ran(...there, "push", "--yes");
          const before = treeOf(project);
          await card.getByRole("button", { name: "Synchronise with team" }).click();
          await card.getByRole("button", { name: "Members and lines of team" }).click();
          const members = card.getByRole("list", { name: "Members of team" });
          await members.getByText("this machine").waitFor();
          await expect.poll(() => members.getByRole("listitem").count()).toBeGreaterThan(1);
          await card
            .getByRole("list", { name: "Lines of team" })
            .getByText("From the other machine")
            .waitFor();
          // the line as a lane of its own
          await card.getByRole("button", { name: /^Checkpoints of / }).click();
          const lane = card.getByRole("list", { name: /^Checkpoints of / });
          await lane.getByText("From the other machine").waitFor();
          await expect.poll(() => lane.getByRole("listitem").count()).toBeGreaterThan(1);
          await expectGoodInBoth(page, "remotes");
          await card.getByRole("button", { name: "Verify team" }).click();
          await toast(page).getByText("team is sound: every line and its signatures.").waitFor();
          // [R1720] what the other machine has can be looked at, and nothing on this disk changes by that
          await card.getByRole("button", { name: /^Compare the newest of .* with the disk$/ }).click();
          await page.waitForURL(/compare/);
          await page.getByText("theirs").first().waitFor();
          expect(treeOf(project)).toEqual(before);
          expect(await dialog(page).count()).toBe(0);
          verifyStore(project);
        },
      )();
    } finally {
      database.stop();
    }
  });
});
