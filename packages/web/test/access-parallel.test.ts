/** What is about several agents works for readers, keys and every eye, in both themes and three widths. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ServedProject } from "../../server/test/support/served-project.ts";
import { expectGoodInBoth, WIDTHS } from "./support/access.ts";
import { Agent } from "./support/agent.ts";
import { branchWith, merge } from "./support/branches.ts";
import { addressOf, CHROMIUM, closeBrowser, newContext, newPage } from "./support/browser.ts";

const text = (...lines: string[]) =>
  `${["one", "two", "three", "four", "five", "six", "seven", ...lines].join("\n")}\n`;
const REVIEW = `console.log("src/client.ts:1:1: error: ${"a long story ".repeat(20)}"); process.exit(1)`;
const FILES = { "src/client.ts": text("eight"), "src/undone.ts": text(), "src/free.ts": text() };

describe.skipIf(CHROMIUM === undefined)("access, several agents", { timeout: 120_000 }, () => {
  let project: ServedProject;
  let merged: string;

  beforeAll(async () => {
    project = await ServedProject.start(FILES);
    const long = `export const explained = "${"a line that is longer than any window of ours is wide, ".repeat(6)}";`;
    await branchWith(project, "idea/with-a-name-that-is-rather-long-for-a-branch", {
      "src/client.ts": text("from idea", long),
      "src/made.ts": "export const made = true;\n",
    });
    project.write("src/client.ts", text("from here"));
    merged = await merge(project, "idea/with-a-name-that-is-rather-long-for-a-branch");
    const agent = await Agent.start(project);
    await agent.turn("Add retry", { "src/undone.ts": text("retry"), "src/free.ts": text("free") });
    project.write("src/undone.ts", text("mine"));
    await project.ok("POST", "/api/checkpoints", { name: "Mine" });
    const program = (script: string) => [process.execPath, "-e", script];
    const settings = {
      agents: { fixer: { command: program("") } },
      reviews: { always: { command: program(REVIEW) } },
      "agentOrchestration.autoFix": { maxRetries: { medium: 0 } },
    };
    writeFileSync(join(project.home, "config.json"), JSON.stringify(settings));
    project.belay("fix", "--review", "always", "--agent", "fixer", "--yes");
    project.belay(
      "agents",
      "run",
      "--in-place",
      "--yes",
      "--agent",
      "fixer",
      "-p",
      `Think about it. ${long}`,
    );
    project.belay("fork", "spare-room", "--no-git");
  }, 60_000);

  afterAll(async () => {
    await closeBrowser();
    await project[Symbol.asyncDispose]();
  });

  test.each(WIDTHS)("[S10] no violation at %i px, in both themes", async (width) => {
    const context = await newContext({ width, height: 844 });
    const problems: string[] = [];
    const page = await newPage(context, problems);
    const at = (path: string) => page.goto(`${project.url}/w/${workspace}/${path}`);
    await page.goto(addressOf(project));
    // the code works once: the page has to have its key before it is loaded again
    await page.getByRole("treegrid").waitFor();
    const workspace = new URL(page.url()).pathname.split("/")[2]!;
    await at("");
    await page.getByRole("group", { name: "Auto-fix needs you" }).waitFor();
    await expectGoodInBoth(page, "needs you");
    await page.getByRole("button", { name: "Decide…" }).click();
    await expectGoodInBoth(page, "escalation");
    await page.keyboard.press("Escape");
    await at("branches");
    await page.getByRole("region", { name: "Runs of agents" }).waitFor();
    await page.getByRole("region", { name: "Forks" }).waitFor();
    await expectGoodInBoth(page, "branches");
    await page.getByRole("button", { name: /^Switch to idea/ }).click();
    await page.getByRole("button", { name: /^Switch, \d files/ }).waitFor();
    await expectGoodInBoth(page, "switch");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "New branch…" }).click();
    await expectGoodInBoth(page, "new branch");
    await page.keyboard.press("Escape");
    await at(`conflicts/${merged}`);
    await page
      .getByRole("radio", { name: /^Keep what is on disk/ })
      .first()
      .waitFor();
    await expectGoodInBoth(page, "merge");
    await page
      .getByRole("radio", { name: /^Take idea/ })
      .first()
      .click();
    await page.getByRole("article", { name: "Result" }).locator("diffs-container").first().waitFor();
    await page.getByRole("button", { name: "Show what was before" }).click();
    await expectGoodInBoth(page, "merge, result");
    await page.getByRole("button", { name: /^Give this merge up/ }).click();
    await expectGoodInBoth(page, "give up");
    await page.keyboard.press("Escape");
    await at("conflicts/undo");
    await page.getByRole("radio", { name: /^Write it yourself/ }).click();
    await page.getByRole("textbox", { name: "The text of src/undone.ts" }).fill("mine\n");
    await expectGoodInBoth(page, "own text");
    const use = page.getByRole("button", { name: /^Use this/ });
    await expect.poll(() => use.getAttribute("aria-disabled")).toBe("false");
    await use.click();
    await page.getByRole("heading", { name: /2 files would change/ }).waitFor();
    await expectGoodInBoth(page, "summary");
    expect(problems).toEqual([]);
    await context.close();
  });
});
