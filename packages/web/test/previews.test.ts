/** Previews beyond the stories: conversations that go back, plans that grew old, restores that take a while. */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { standsStillAt, untilStandingStill } from "../../engine/test/support/standing-still.ts";
import { Agent } from "./support/agent.ts";
import { CHROMIUM, closeBrowser, shown } from "./support/browser.ts";
import { treeOf, verifyStore } from "./support/going-back.ts";
import { dialog, Hand, HANDS, toast } from "./support/hand.ts";

afterAll(closeBrowser);

const FILES = { "a.txt": "one\n" };

describe.skipIf(CHROMIUM === undefined)("previews", () => {
  test.each(HANDS)(
    "[S14, M31, Y17, Y88] conversation alone changes no file; both change both; messages are marked, never removed, by %s",
    (kind) =>
      shown(
        async (project) => {
          const agent = await Agent.start(project, "my-agent", "Talk");
          await agent.turn("Change a", { "a.txt": "two\n" });
          await agent.turn("Change a again", { "a.txt": "three\n" });
        },
        async ({ page, project }) => {
          const hand = new Hand(page, kind);
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
          await hand.select("Change a again");
          await hand.open("b", /^Restore to before this/);
          await hand.press(dialog(page).getByRole("button", { name: "Conversation", exact: true }));
          await dialog(page).getByText("No file changes.").waitFor();
          await hand.confirm(/^Go back in the conversation/);
          await toast(page)
            .getByText(/^The conversation went back to before “Change a again”\./)
            .waitFor();
          expect(project.read("a.txt")).toBe("three\n");
          await expect.poll(messages).toEqual({ "Change a": false, "Change a again": true });
          const before = treeOf(project);
          await hand.select("my-agent, Change a,");
          await hand.open("b", /^Restore to before this/);
          await hand.press(dialog(page).getByRole("button", { name: "Both", exact: true }));
          await hand.confirm(/^Restore 1 file/);
          await toast(page)
            .getByText(/^Restored 1 file to before “Change a”\./)
            .waitFor();
          expect(project.read("a.txt")).toBe("one\n");
          await expect.poll(messages).toEqual({ "Change a": true, "Change a again": true });
          verifyStore(project);
          await hand.press(toast(page).getByRole("button", { name: "Undo", exact: true }));
          await hand.confirm(/^Undo 1 file/);
          await toast(page)
            .getByText(/^Undid/)
            .waitFor();
          expect(treeOf(project)).toEqual(before);
          await hand.press(toast(page).getByRole("button", { name: "Show diff" }));
          await page.waitForURL(/compare/);
          verifyStore(project);
        },
        { files: FILES },
      )(),
  );

  test(
    "[R1942] between a choice and its plan nothing can be confirmed",
    shown(
      async (project) => {
        const agent = await Agent.start(project, "my-agent", "Talk");
        await agent.turn("Change a", { "a.txt": "two\n" });
      },
      async ({ page, project }) => {
        await page.getByRole("row", { name: "Change a" }).click();
        await page.getByRole("button", { name: /^Restore to before this/ }).click();
        const button = dialog(page).getByRole("button", { name: /^Restore 1 file/ });
        await expect.poll(() => button.getAttribute("aria-disabled")).toBe("false");
        const planned = page.waitForResponse((answer) => answer.url().includes("/api/plans"));
        // the key right after the choice is drawn, sooner than any hand
        await dialog(page).evaluate(async (element) => {
          [...element.querySelectorAll("button")].find((each) => each.textContent === "Both")!.click();
          for (let turns = 0; turns < 5; turns += 1) await Promise.resolve();
          const key = { key: "Enter", ctrlKey: true, bubbles: true, cancelable: true };
          element.dispatchEvent(new KeyboardEvent("keydown", key));
        });
        expect((await planned).url()).not.toContain("apply");
        await expect.poll(() => button.getAttribute("aria-disabled")).toBe("false");
        expect(project.read("a.txt")).toBe("two\n");
        await page.keyboard.press("Escape");
      },
      { files: FILES },
    ),
  );

  test.each(HANDS)(
    "[S14] where the agent's conversation cannot be forked, the words say so and nothing has changed, by %s",
    (kind) =>
      shown(
        async (project) => {
          const agent = await Agent.start(project, "claude-code", "Talk");
          await agent.turn("Change a", { "a.txt": "two\n" });
        },
        async ({ page, project }) => {
          const hand = new Hand(page, kind);
          await hand.select("Change a");
          await hand.open("b", /^Restore to before this/);
          await hand.press(dialog(page).getByRole("button", { name: "Both", exact: true }));
          const button = dialog(page).getByRole("button", { name: /^Restore 1 file/ });
          await expect.poll(() => button.getAttribute("aria-disabled")).toBe("false");
          await (kind === "mouse" ? button.click() : page.keyboard.press("Control+Enter"));
          await dialog(page).getByText("Nothing was changed.").first().waitFor();
          expect(project.read("a.txt")).toBe("two\n");
        },
        { files: FILES, expected: /4\d\d|5\d\d/ },
      )(),
  );

  let agent: Agent;
  test(
    "[R1943] a plan that grew old names what was written, by whom and when, and marks it in the new preview",
    shown(
      async (project) => {
        agent = await Agent.start(project);
        await agent.turn("Change both", { "a.txt": "two\n", "b.txt": "two\n" });
      },
      async ({ page, project }) => {
        await page.getByRole("row", { name: "Change both" }).click();
        await page.getByRole("button", { name: /^Restore to before this/ }).click();
        const button = dialog(page).getByRole("button", { name: /^Restore 2 files/ });
        await expect.poll(() => button.getAttribute("aria-disabled")).toBe("false");
        project.write("a.txt", "three\nfour\n");
        await button.click();
        await dialog(page)
          .getByText(/a\.txt was changed by hand \d+ s ago\. Nothing was restored\./)
          .waitFor();
        await dialog(page).getByRole("button", { name: "Show the new preview" }).click();
        const changed = dialog(page).getByRole("region", { name: "Will change" });
        await expect.poll(() => changed.getByText("new", { exact: true }).count()).toBe(1);
        expect(project.read("a.txt")).toBe("three\nfour\n");
        await expect.poll(() => button.getAttribute("aria-disabled")).toBe("false");
        await agent.prompt("And again");
        await agent.writes({ "a.txt": "five\nsix\nseven\n" });
        await button.click();
        await dialog(page)
          .getByText(/Claude Code wrote a\.txt \d+ s ago\. Nothing was restored\./)
          .waitFor();
        expect(project.read("a.txt")).toBe("five\nsix\nseven\n");
      },
      { files: FILES, expected: /409/ },
    ),
  );

  test(
    "[S17, R1941] while another process restores, the preview says which and since when, and waits for its end",
    shown(
      async (project) => {
        const agent = await Agent.start(project);
        await agent.turn("Change a", { "a.txt": "two\n" });
      },
      async ({ page, project }) => {
        const { rows } = await project.ok("GET", "/api/history");
        const { before } = rows.find(({ ref }: { ref: string }) => ref === "T1");
        project.variables = { NODE_OPTIONS: standsStillAt("a.txt") };
        const other = project.start("restore", before, "--yes");
        await untilStandingStill(other.pid!);
        try {
          await page.getByRole("row", { name: "Change a" }).click();
          await page.getByRole("button", { name: /^Restore to before this/ }).click();
          const said = new RegExp(`Another restore is running \\(process ${other.pid}, since \\d{4}-`);
          const button = dialog(page).getByRole("button", { name: /^Restore/ });
          await dialog(page).getByText(said).or(button).first().waitFor();
          if ((await dialog(page).getByText(said).count()) === 0) await button.click();
          await dialog(page).getByText(said).waitFor();
          expect(project.read("a.txt")).toBe("two\n");
        } finally {
          other.kill("SIGCONT");
          await once(other, "exit");
        }
        await dialog(page).getByText("Another restore is running").waitFor({ state: "detached" });
        expect(project.read("a.txt")).toBe("one\n");
      },
      { files: FILES, expected: /423|409/ },
    ),
  );

  test(
    "lines that are still on their way when the preview is confirmed are dropped: they would be those of a plan that is gone",
    shown(
      async (project) => {
        const agent = await Agent.start(project);
        await agent.turn("Change a", { "a.txt": "two\n" });
      },
      async ({ page, project }) => {
        const late = Promise.withResolvers<void>();
        await page.route(/\/api\/plans\/.*\/diff/, async (route) => {
          // not with the answer itself: the page has to see it before it can drop anything
          await page.getByText(/^Restored 1 file/).waitFor();
          await route.continue().catch(() => undefined);
          late.resolve();
        });
        await page.getByRole("row", { name: "Change a" }).click();
        await page.getByRole("button", { name: /^Restore to before this/ }).click();
        await new Hand(page, "mouse").confirm(/^Restore 1 file/);
        await page.getByText(/^Restored 1 file/).waitFor();
        await late.promise;
        // a round trip: whatever the console would say was said
        await page.getByRole("link", { name: /^Pending/ }).click();
        await page.getByText("Nothing pending").waitFor();
        expect(project.read("a.txt")).toBe("one\n");
      },
      { files: FILES },
    ),
  );

  test(
    "[U5, R390] a file that is left out stays, and no empty directory stays for the others; with the next change its Undo is over",
    shown(
      async (project) => {
        const agent = await Agent.start(project);
        await agent.turn("Make some", { "a.txt": "two\n", "made/1.txt": "1\n", "made/2.txt": "2\n" });
      },
      async ({ page, project }) => {
        await page.getByRole("row", { name: "Make some" }).click();
        await page.getByRole("button", { name: /^Restore to before this/ }).click();
        await dialog(page).getByRole("checkbox", { name: "a.txt" }).click();
        await new Hand(page, "mouse").confirm(/^Restore 2 files/);
        const result = page.getByText(/^Restored 2 files/);
        await result.waitFor();
        expect([project.read("a.txt"), existsSync(project.path("made"))]).toEqual(["two\n", false]);
        const codex = await Agent.start(project, "codex", "Docs");
        await codex.turn("Only talk");
        await page.getByRole("link", { name: /^Docs/ }).waitFor();
        await page.getByRole("button", { name: "Undo", exact: true }).waitFor();
        // what it would undo now is no longer what it says
        await codex.turn("Write docs", { "docs.md": "docs\n" });
        await result.waitFor({ state: "detached" });
      },
      { files: FILES },
    ),
  );

  test.each(HANDS)(
    "[Y16, U9] details of a preview: the line for the terminal, and a patch that takes it back, by %s",
    (kind) =>
      shown(
        async (project) => {
          const agent = await Agent.start(project);
          await agent.turn("Change some", {
            "a.txt": "two\nlines\n",
            "made/1.txt": "1\n",
            "gone.txt": null,
          });
        },
        async ({ page, project }) => {
          const hand = new Hand(page, kind);
          const before = treeOf(project);
          await hand.select("Change some");
          await hand.open("b", /^Restore to before this/);
          const summary = dialog(page).getByText("Details", { exact: true });
          await hand.press(summary);
          const line = await dialog(page).locator(".b-command code").innerText();
          expect(project.belay(...line.split(" ").slice(1), "--dry-run").stdout).toContain("3 files");
          await hand.press(dialog(page).getByRole("button", { name: "Copy the way back as a patch" }));
          await toast(page)
            .getByText(/patch that takes this back was copied/)
            .waitFor();
          const patch = await page.evaluate("navigator.clipboard.readText()");
          await hand.confirm(/^Restore 3 files/);
          await toast(page)
            .getByText(/^Restored 3 files/)
            .waitFor();
          expect(project.read("a.txt")).toBe("one\n");
          const applied = spawnSync("git", ["apply", "-"], {
            cwd: project.project,
            input: String(patch),
            timeout: 10_000,
          });
          expect(String(applied.stderr)).toBe("");
          expect(treeOf(project)).toEqual(before);
        },
        { files: { ...FILES, "gone.txt": "gone\n" } },
      )(),
  );

  test(
    "a restore that takes a while shows that it is at work, and its result stays with the way back",
    shown(
      async (project) => {
        const agent = await Agent.start(project);
        await agent.turn("Change a", { "a.txt": "two\n" });
      },
      async ({ page, project }) => {
        // however fast the machine is: the process that restores stands still until the page was looked at
        await page.route(/\/apply/, async (route) => {
          process.kill(project.pid, "SIGSTOP");
          await route.continue();
        });
        try {
          await page.getByRole("row", { name: "Change a" }).click();
          await page.getByRole("button", { name: /^Restore to before this/ }).click();
          const button = dialog(page).getByRole("button", { name: /^Restore 1 file/ });
          await expect.poll(() => button.getAttribute("aria-disabled")).toBe("false");
          await button.click();
          await dialog(page).getByText("If the power fails now").waitFor();
          // it cannot be closed while it runs
          await page.keyboard.press("Escape");
          await expect.poll(() => dialog(page).count()).toBe(1);
          expect(project.read("a.txt")).toBe("two\n");
        } finally {
          process.kill(project.pid, "SIGCONT");
        }
        await page.getByText(/^Restored 1 file/).waitFor();
        expect(project.read("a.txt")).toBe("one\n");
      },
      { files: FILES },
    ),
  );
});
