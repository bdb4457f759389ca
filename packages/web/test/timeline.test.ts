/** The main screen beyond the stories: folds, badges, what is not captured, lanes. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { Agent } from "./support/agent.ts";
import { CHROMIUM, closeBrowser, shown } from "./support/browser.ts";
import { FILES, twoTurns } from "./support/work.ts";

afterAll(closeBrowser);

describe.skipIf(CHROMIUM === undefined)("the timeline", () => {
  test(
    "turns without changes stand in one line, which opens in place by mouse and by key",
    shown(
      async (project) => {
        const agent = await Agent.start(project);
        await agent.turn("Change a", { "a.txt": "two\n" });
        await agent.turn("Only talk");
        await agent.turn("Talk again");
        await agent.turn("Change a again", { "a.txt": "three\n" });
        await agent.turn("Last words");
      },
      async ({ page }) => {
        const row = (name: string) => page.getByRole("row", { name });
        await row("2 turns without changes").waitFor();
        await row("1 turn without changes").waitFor();
        await expect.poll(() => row("Only talk").count()).toBe(0);
        await expect.poll(() => row("Change a again").getAttribute("aria-selected")).toBe("true");
        await page.getByRole("treegrid").focus();
        await page.keyboard.press("ArrowDown");
        await expect.poll(() => row("2 turns without changes").getAttribute("aria-selected")).toBe("true");
        await page.keyboard.press("ArrowRight");
        await row("Only talk").waitFor();
        await expect.poll(() => row("Talk again").getAttribute("aria-selected")).toBe("true");
        await row("1 turn without changes").click();
        await row("Last words").waitFor();
        await page.getByRole("button", { name: "Everything", exact: true }).click();
        await expect.poll(() => page.getByRole("row", { name: /without changes/ }).count()).toBe(0);
      },
    ),
  );

  let agent: Agent;
  test(
    "[U7] further down, new turns wait behind a pill: nothing moves, and the pill leads to them",
    shown(
      async (project) => {
        agent = await Agent.start(project);
        for (let at = 0; at < 12; at += 1) await agent.turn(`Turn ${at}.`, { "a.txt": `${at}\n` });
      },
      async ({ page }) => {
        const row = (name: string) => page.getByRole("row", { name });
        const list = page.getByRole("treegrid");
        await row("Turn 11.").waitFor();
        await list.evaluate((element) => element.scrollTo(0, element.scrollHeight));
        await row("Turn 0.").click();
        const at = await list.evaluate((element) => element.scrollTop);
        expect(at).toBeGreaterThan(50);
        await agent.turn("Meanwhile one.", { "b.txt": "1\n" });
        await agent.turn("Meanwhile two.", { "b.txt": "2\n" });
        const pill = page.getByRole("button", { name: "2 new turns" });
        await pill.waitFor();
        expect(await list.evaluate((element) => element.scrollTop)).toBe(at);
        expect(await row("Turn 0.").getAttribute("aria-selected")).toBe("true");
        await pill.click();
        await row("Meanwhile two.").waitFor();
        await expect.poll(() => pill.count()).toBe(0);
      },
      { height: 420 },
    ),
  );

  test(
    "[R1940] a restore that is pointed at or selected marks the row that it led to",
    shown(
      async (project) => {
        const agent = await Agent.start(project);
        await agent.turn("First.", { "a.txt": "1\n" });
        await agent.turn("Second.", { "a.txt": "2\n" });
        await agent.turn("Third.", { "a.txt": "3\n" });
        const { rows } = await project.ok("GET", "/api/history");
        const { before } = rows.find(({ ref }: { ref: string }) => ref === "T2");
        expect(project.belay("restore", before, "--yes").status).toBe(0);
      },
      async ({ page }) => {
        const row = (name: string | RegExp) => page.getByRole("row", { name });
        const isMarked = (name: string | RegExp) =>
          row(name).evaluate((element) => getComputedStyle(element).outlineStyle === "dashed");
        const back = row(/Restored to before “Second\.”/);
        await back.hover();
        await expect.poll(() => isMarked(/Claude Code, Second\./)).toBe(true);
        expect(await isMarked(/Claude Code, Third\./)).toBe(false);
        await row(/Claude Code, First\./).hover();
        await expect.poll(() => isMarked(/Claude Code, Second\./)).toBe(false);
        await back.click();
        await row(/Claude Code, First\./).hover();
        await expect.poll(() => isMarked(/Claude Code, Second\./)).toBe(true);
      },
    ),
  );

  test(
    "[U4] a file that was written all the while is a chip on its turn, which leads to the details",
    shown(
      async (project) => {
        const agent = await Agent.start(project);
        const busy = JSON.stringify(project.path("busy.log"));
        const script = `const fs = require("node:fs"), file = fs.openSync(${busy}, "w");
          for (let at = 0; ; at += 1) fs.writeSync(file, Buffer.alloc(1 << 20, at), 0, 1 << 20, 0);`;
        const writer = spawn(process.execPath, ["-e", script]);
        try {
          await expect.poll(() => existsSync(project.path("busy.log"))).toBe(true);
          await agent.turn(
            "Beside a build.",
            ...["1\n", "2\n", "3\n", "4\n"].map((text) => ({ "a.txt": text })),
          );
        } finally {
          writer.kill();
          await once(writer, "exit");
        }
      },
      async ({ page }) => {
        const row = page.getByRole("row", { name: /Beside a build\..*captured late/ });
        await row.getByRole("button", { name: /^\d+ late$/, includeHidden: true }).click();
        await page
          .getByRole("tabpanel")
          .getByText(/^\d+ after the agent went on$/)
          .waitFor();
      },
    ),
  );

  test(
    "[R1727] a row whose state is the present one is marked, and the first row names what it is before",
    shown(
      twoTurns,
      async ({ page, project }) => {
        const row = (name: string) => page.getByRole("row", { name });
        await row("Add retry with backoff").waitFor();
        expect(await page.getByText("= now", { exact: true }).count()).toBe(0);
        expect(project.belay("undo", "--yes")).toMatchObject({ status: 0 });
        await row("Use idempotency keys").getByText("= now", { exact: true }).waitFor();
        await row("You are here")
          .getByText(/^Files on disk; the same as before “Add retry with backoff”, \d\d:\d\d$/)
          .waitFor();
        project.write("src/a.ts", "export const a = 9;\n");
        await project.ok("POST", "/api/checkpoints", { name: "Other" });
        await expect.poll(() => page.getByText("= now", { exact: true }).count()).toBe(0);
      },
      { files: FILES },
    ),
  );

  test(
    "[R1936] a turn that was cut short is a ring with a cross, and says so to readers too",
    shown(
      async (project) => {
        const agent = await Agent.start(project);
        await agent.prompt("Cut short");
        await agent.writes({ "a.txt": "two\n" });
        await agent.turn("Done", { "a.txt": "three\n" });
      },
      async ({ page }) => {
        const short = page.getByRole("row", { name: /Cut short,.*, interrupted/ });
        await short.getByText("interrupted", { exact: true }).waitFor();
        expect(await short.locator(".b-knot svg").count()).toBe(1);
        expect(await page.getByRole("row", { name: "Done," }).locator(".b-knot svg").count()).toBe(0);
      },
    ),
  );

  test(
    "[R1937] turns that overlap have lanes of their own; those that do not are on one rope",
    shown(
      async (project) => {
        const [claude, codex] = [await Agent.start(project), await Agent.start(project, "codex", "Docs")];
        await claude.turn("Alone", { "a.txt": "two\n" });
        await claude.prompt("First of two");
        await codex.prompt("Second of two");
        await codex.writes({ "docs.md": "docs\n" });
        await claude.writes({ "a.txt": "three\n" });
        await codex.stop();
        await claude.stop();
        await claude.turn("Alone again", { "a.txt": "four\n" });
      },
      async ({ page }) => {
        const beside = (name: string) => page.getByRole("row", { name }).locator(".b-knot.b-lane2").count();
        await page.getByRole("row", { name: "Alone again," }).waitFor();
        expect(await beside("Second of two,")).toBe(1);
        for (const name of ["Alone,", "First of two,", "Alone again,"]) expect(await beside(name)).toBe(0);
        expect(await page.locator(".b-beside").count()).toBe(1);
      },
    ),
  );

  test(
    "[R1938] where more contrast is asked for, quiet text and lines are stronger",
    shown(
      twoTurns,
      async ({ page }) => {
        await page.getByRole("row", { name: "Add retry" }).first().waitFor();
        const look = () =>
          page
            .locator(".b-meta")
            .first()
            .evaluate((its) => getComputedStyle(its).color);
        const text = await page
          .locator(".b-title")
          .first()
          .evaluate((its) => getComputedStyle(its).color);
        expect(await look()).not.toBe(text);
        await page.emulateMedia({ contrast: "more" });
        await expect.poll(look).toBe(text);
      },
      { files: FILES },
    ),
  );

  test(
    "[A36] the side says how many files wait for approval, thread by thread, and forgets it when they are approved",
    shown(
      async (project) => {
        const agent = await Agent.start(project);
        await agent.turn("Change a", { "a.txt": "two\n", "b.txt": "b\n" });
        await Agent.start(project, "codex", "Docs");
      },
      async ({ page, project }) => {
        await page.getByRole("link", { name: "Pending 2 files to approve" }).waitFor();
        await page.getByRole("link", { name: /Payment retries.*2 pending/ }).waitFor();
        const { threads } = await project.ok("GET", "/api/threads");
        const { id } = threads.find(({ title }: { title: string }) => title === "Payment retries");
        await project.ok("POST", `/api/threads/${id}/approve`, {});
        await page.getByRole("link", { name: "Pending", exact: true }).waitFor();
        await page.getByRole("link", { name: /Payment retries.*approved/ }).waitFor();
        await expect.poll(() => page.getByRole("link", { name: /to approve/ }).count()).toBe(0);
      },
    ),
  );

  test(
    "[R214] a change without an agent names its file where it is the only one, and you where it was you",
    shown(
      async (project) => {
        const claude = await Agent.start(project);
        await claude.turn("Change a", { "a.txt": "two\n" });
        project.write("docs/mine.md", "mine\n");
        await claude.turn("Change b", { "b.txt": "two\n" });
        // during a pause agents may have written too
        await project.ok("PUT", "/api/pause", { minutes: 30 });
        project.write("one.md", "one\n");
        project.write("two.md", "two\n");
        await project.ok("PUT", "/api/pause", { minutes: null });
        await claude.turn("Change c", { "c.txt": "two\n" });
      },
      async ({ page }) => {
        const mine = page.getByRole("row", { name: /Changed by hand, docs\/mine\.md, 1 line added$/ });
        await mine.getByText("docs/mine.md").waitFor();
        await mine.getByText("You", { exact: true }).waitFor();
        const nobodys = page.getByRole("row", { name: /Changed outside any agent, 2 files/ });
        await nobodys.getByText("2 files").waitFor();
        expect(await nobodys.getByText("You", { exact: true }).count()).toBe(0);
      },
    ),
  );

  test(
    "[A40] a turn has its own part of the conversation, answers as text with code; nothing in them is markup",
    shown(
      async (project) => {
        const agent = await Agent.start(project);
        await agent.prompt("Change a");
        await agent.writes({ "a.txt": "two\n" });
        await project.ok("POST", `/api/threads/${agent.id}/messages`, {
          role: "assistant",
          content:
            "Done with `withBackoff`, see https://example.org/x\n```ts\nconst a = 1;\n```\n<b>bold</b>",
        });
        await agent.stop();
        await agent.turn("Another one", { "a.txt": "three\n" });
      },
      async ({ page }) => {
        await page.getByRole("row", { name: "Change a" }).click();
        await page.getByRole("tab", { name: "Conversation" }).click();
        const answer = page.getByRole("article", { name: /^Answer/ });
        await answer.waitFor();
        await expect.poll(() => page.getByRole("article", { name: /^Prompt/ }).count()).toBe(1);
        // the way back to before it is here too
        await page
          .getByRole("article", { name: /^Prompt/ })
          .getByRole("button", { name: "Restore… to before Change a" })
          .waitFor();
        await expect.poll(() => answer.locator("code").innerText()).toBe("withBackoff");
        await expect.poll(() => answer.locator("pre").innerText()).toBe("const a = 1;");
        await expect.poll(() => answer.getByRole("link").getAttribute("rel")).toBe("noopener noreferrer");
        await expect.poll(() => answer.locator("b").count()).toBe(0);
        await answer.getByText("<b>bold</b>").waitFor();
      },
    ),
  );

  test(
    "[R2369, A40] under a turn that was undone stands that you did it in the page; of another, only when",
    shown(
      async (project) => {
        const agent = await Agent.start(project);
        await agent.turn("Change a", { "a.txt": "two\n" });
        await agent.turn("Change it again", { "a.txt": "three\n" });
        expect(project.belay("undo", "--yes").status).toBe(0);
      },
      async ({ page }) => {
        await page.getByRole("button", { name: /^Undo Change a/ }).click();
        await page.getByRole("button", { name: /^Undo 1 file/ }).click();
        await page.getByText(/^Undid “Change a”/).waitFor();
        await page.getByRole("link", { name: /^Payment retries/ }).click();
        const words = async (at: number) =>
          (
            await page
              .getByRole("article", { name: /^Prompt/ })
              .nth(at)
              .innerText()
          ).replaceAll(/\s+/g, " ");
        const told = "Claude Code is told so at its next prompt.";
        await expect.poll(() => words(0)).toMatch(/You undid this turn today at \d\d:\d\d\./);
        await expect.poll(() => words(0)).toContain(told);
        await expect.poll(() => words(1)).toMatch(/This turn was undone today at \d\d:\d\d\./);
        await expect.poll(() => words(1)).toContain(told);
      },
    ),
  );

  test(
    "[S17] a pause is said on top of every view, with the way out",
    shown(
      async (project) => {
        await project.ok("PUT", "/api/pause", { minutes: 30 });
      },
      async ({ page }) => {
        const strip = page.locator(".b-strip");
        await strip
          .getByText(/paused/i)
          .first()
          .waitFor();
        await strip.getByRole("button", { name: "Settings" }).click();
        await page.getByRole("button", { name: "Resume" }).click();
        await strip.waitFor({ state: "detached" });
        await expect.poll(() => page.getByText(/^Protected/).count()).toBeGreaterThan(0);
      },
    ),
  );

  test(
    "[R1550, R1554, Y16] a turn has its own changes, also where another overlapped; its details, patch, export and way back",
    shown(
      async (project) => {
        const git = (...words: string[]) =>
          execFileSync("git", words, { cwd: project.project, timeout: 20_000 });
        git("init", "-q", "-b", "trunk");
        const [claude, codex] = [await Agent.start(project), await Agent.start(project, "codex", "Docs")];
        await codex.prompt("Write docs");
        await claude.turn("Change a", { "a.txt": "two\n" });
        await codex.writes({ "docs.md": "0123456789\n" });
        await codex.stop();
        await claude.turn("Change a again", { "a.txt": "three\n" });
        git("symbolic-ref", "HEAD", "refs/heads/later");
      },
      async ({ page, project }) => {
        const files = page.getByRole("group", { name: "Changed files" }).getByRole("button");
        await page.getByRole("row", { name: "Write docs," }).click();
        await expect.poll(() => files.allInnerTexts()).toMatchObject([expect.stringContaining("docs.md")]);
        await page.getByText("0123456789").first().waitFor();
        await page.getByRole("tab", { name: "Details" }).click();
        const facts = page.getByRole("tabpanel");
        await facts.getByText(/; 15 B of that is new since the state before$/).waitFor();
        await facts.getByText(/^trunk/).waitFor();
        await facts.getByText(/^later/).waitFor();
        await page.getByRole("button", { name: /^Branch main; git: later/ }).waitFor();
        await page.getByRole("row", { name: "Change a," }).click();
        await page.locator(".b-facts").getByText("trunk").waitFor();
        const menu = async (words: string) => {
          await page.getByRole("button", { name: "More about Change a", exact: true }).click();
          await page.getByRole("button", { name: words }).click();
        };
        await menu("Copy as patch");
        await page.getByText("The patch was copied.").waitFor();
        await expect.poll(() => page.evaluate("navigator.clipboard.readText()")).toContain("-one\n+two\n");
        const saved = page.waitForEvent("download");
        await menu("Export the files after this");
        const file = await (await saved).path();
        await page.getByText(/belay-T2\.tar/).waitFor();
        expect(project.read("a.txt")).toBe("three\n");
        expect(execFileSync("tar", ["-xOf", file, "a.txt"], { encoding: "utf8" })).toBe("two\n");
        await menu("Restore to after this…");
        await page.getByRole("heading", { name: "Go back to after “Change a”" }).waitFor();
      },
    ),
  );
});
