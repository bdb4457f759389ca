/** Branches, forks and runs in the page, by mouse and again by keyboard alone, on real files and programs. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { ServedProject } from "../../server/test/support/served-project.ts";
import { Agent } from "./support/agent.ts";
import { branchWith } from "./support/branches.ts";
import { CHROMIUM, closeBrowser, shown } from "./support/browser.ts";
import { expectTree, treeOf, verifyStore } from "./support/going-back.ts";
import { dialog, Hand, HANDS, row, toast } from "./support/hand.ts";
import { FILES } from "./support/work.ts";

afterAll(closeBrowser);

const STUB = [process.execPath, join(import.meta.dirname, "../../agents/test/programs/stub-agent.cjs")];

async function ideaAndMain(project: ServedProject): Promise<void> {
  await branchWith(project, "idea", { "src/a.ts": "export const a = 9;\n", "src/idea.ts": "export {};\n" });
  project.write("README.md", "# Mine\n");
  await project.ok("POST", "/api/checkpoints", { name: "On main" });
}

/** The button of the result brings everything back. */
async function takeBack(
  hand: Hand,
  project: ServedProject,
  before: ReturnType<typeof treeOf>,
): Promise<void> {
  await hand.press(toast(hand.page).getByRole("button", { name: "Undo" }));
  await hand.confirm(/^Undo \d+ files?/);
  await toast(hand.page)
    .getByText(/^Undid/)
    .waitFor();
  expect(treeOf(project)).toEqual(before);
  verifyStore(project);
}

/** The branch gets another name, goes, and comes back: from the result, or from the list of deleted ones. */
async function changeBranch(hand: Hand): Promise<void> {
  const { page } = hand;
  const branches = page.getByRole("list", { name: "Branches" }).getByRole("listitem");
  await hand.press(page.getByRole("button", { name: "More about other-way" }));
  await hand.press(page.getByRole("button", { name: "Rename…" }));
  const name = dialog(page).getByRole("textbox", { name: "Name" });
  await hand.write(name, "main");
  await page.keyboard.press("Enter");
  await dialog(page).getByRole("alert").waitFor();
  await hand.write(name, "second-way");
  await page.keyboard.press("Enter");
  await toast(page).getByText("The branch other-way is called second-way now.").waitFor();
  await hand.press(page.getByRole("button", { name: "More about main" }));
  await page.getByText("The files here are on it: switch to another branch first.").waitFor();
  await page.keyboard.press("Escape");
  await hand.press(page.getByRole("button", { name: "More about second-way" }));
  await hand.press(page.getByRole("button", { name: "Delete…" }));
  await hand.press(dialog(page).getByRole("button", { name: "Delete the branch" }));
  await toast(page)
    .getByText("The branch second-way was deleted. For 30 days you can bring it back.")
    .waitFor();
  await expect.poll(() => branches.count()).toBe(1);
  if (hand.kind === "mouse") await toast(page).getByRole("button", { name: "Bring back" }).click();
  else {
    await hand.press(page.getByText("1 deleted branch"));
    await hand.press(page.getByRole("button", { name: "Bring second-way back" }));
  }
  await toast(page).getByText("The branch second-way is back.").waitFor();
  await expect.poll(() => branches.count()).toBe(2);
}

describe.skipIf(CHROMIUM === undefined)("branches", { timeout: 90_000 }, () => {
  test.each(HANDS)("[Y89] switched to with a preview, compared, and back by undo, by %s", (kind) =>
    shown(
      ideaAndMain,
      async ({ page, project }) => {
        const hand = new Hand(page, kind);
        const before = treeOf(project);
        // the branch that the files are on stands on top, and leads to the others
        await hand.press(page.getByRole("button", { name: /^Branch main/ }));
        await page.waitForURL(/\/branches/);
        const branches = page.getByRole("list", { name: "Branches" });
        const idea = branches.getByRole("listitem").filter({ hasText: "idea" });
        await idea.getByText(/^\d+ ahead of main, \d+ behind/).waitFor();
        await branches.getByRole("listitem").filter({ hasText: "you are here" }).getByText("main").waitFor();
        await hand.press(page.getByRole("button", { name: "Switch to idea…" }));
        await dialog(page).getByRole("heading", { name: "Switch to idea" }).waitFor();
        await dialog(page).getByRole("region", { name: "Will be added" }).getByText("idea.ts").waitFor();
        expect(await page.evaluate("document.activeElement.textContent")).toContain("Cancel");
        expect(treeOf(project)).toEqual(before);
        await hand.confirm(/^Switch, 3 files/);
        await toast(page).getByText("Switched to idea: 3 files.").waitFor();
        expectTree(project, {
          "src/a.ts": "export const a = 9;\n",
          "src/idea.ts": "export {};\n",
          "README.md": FILES["README.md"],
        });
        await page.getByRole("button", { name: /^Branch idea/ }).waitFor();
        verifyStore(project);
        await takeBack(hand, project, before);
        await page.getByRole("button", { name: /^Branch main/ }).waitFor();
        await hand.press(page.getByRole("button", { name: "Compare with idea" }));
        await page.waitForURL(/\/compare\/.*\/disk/);
        await expect.poll(() => page.getByText("export const a = 9").count()).toBeGreaterThan(0);
      },
      { files: FILES },
    )(),
  );

  test.each(HANDS)("[Y89] merged with a preview, as one step with its way back, by %s", (kind) =>
    shown(
      ideaAndMain,
      async ({ page, project }) => {
        const hand = new Hand(page, kind);
        const before = treeOf(project);
        await hand.press(page.getByRole("button", { name: /^Branch main/ }));
        await hand.press(page.getByRole("button", { name: "Merge idea…" }));
        await dialog(page).getByText("2 files change, 0 files merged by lines, 0 conflicts.").waitFor();
        expect(treeOf(project)).toEqual(before);
        await hand.confirm(/^Merge 2 files/);
        await toast(page).getByText("Merged “idea” into main: 2 files.").waitFor();
        expectTree(project, {
          "src/a.ts": "export const a = 9;\n",
          "src/idea.ts": "export {};\n",
          "README.md": "# Mine\n",
        });
        verifyStore(project);
        await takeBack(hand, project, before);
      },
      { files: FILES },
    )(),
  );

  test.each(HANDS)(
    "[Y89, R1552] begun at a row, renamed, deleted, back, and merged with conflicts, by %s",
    (kind) =>
      shown(
        async (project) => {
          const agent = await Agent.start(project);
          await agent.turn("Change a", { "src/a.ts": "export const a = 2;\n" });
        },
        async ({ page, project }) => {
          const hand = new Hand(page, kind);
          const before = treeOf(project);
          await hand.select("Change a");
          await hand.press(page.getByRole("button", { name: /^More about Change a/ }));
          await hand.press(page.getByRole("button", { name: "Branch here…" }));
          await hand.write(dialog(page).getByRole("textbox", { name: "Name" }), "from here");
          await page.keyboard.press("Enter");
          await dialog(page).getByRole("alert").waitFor();
          await hand.write(dialog(page).getByRole("textbox", { name: "Name" }), "other-way");
          await page.keyboard.press("Enter");
          await toast(page).getByText("The branch other-way begins before “Change a”.").waitFor();
          expect(treeOf(project)).toEqual(before);
          const { branches } = await project.ok("GET", "/api/branches");
          expect(branches).toMatchObject([{ name: "main" }, { name: "other-way", parent: "main" }]);
          await row(page, "Change a").getByText("other-way").waitFor();
          await hand.press(toast(page).getByRole("button", { name: "Branches" }));
          await changeBranch(hand);
          expect(treeOf(project)).toEqual(before);
          // both sides change the same line
          const at = "/api/branches/second-way/switch";
          const go = async (path: string) =>
            project.ok("POST", path, { planId: (await project.ok("GET", `${path}/preview`)).plan.id });
          await go(at);
          project.write("src/a.ts", "export const a = 7;\n");
          await project.ok("POST", "/api/checkpoints", { name: "Seven" });
          await go("/api/branches/main/switch");
          await hand.press(page.getByRole("button", { name: "Merge second-way…" }));
          await dialog(page).getByText("1 file was changed on both sides.").waitFor();
          await hand.confirm(/^Decide 1 conflict/);
          await page.waitForURL(/\/conflicts\//);
          await page.getByRole("article", { name: "In second-way" }).getByText("a = 7").waitFor();
          expect(project.read("src/a.ts")).toBe("export const a = 2;\n");
          await page.keyboard.press("Escape");
          await page.getByRole("link", { name: /^Conflicts/ }).waitFor();
          verifyStore(project);
        },
        // the browser itself notes the names that were refused
        { files: FILES, expected: /status of 4(00|09)/ },
      )(),
  );

  test("[M15, M71] runs and forks: who, how it stands, what it cost; a run at work is stopped", () =>
    shown(
      async (project) => {
        writeFileSync(
          join(project.home, "config.json"),
          JSON.stringify({ agents: { stub: { command: STUB } } }),
        );
        project.belay("fork", "spare-room", "--no-git");
        const run = (words: string, ...more: string[]) =>
          project.belay("agents", "run", "--in-place", "--yes", "--agent", "stub", "-p", words, ...more);
        run("write made.txt 1\ncost 0.25 1200");
        run("write started.txt 1\nhang", "--detach");
      },
      async ({ page, project }) => {
        await page.goto(`${page.url().split("?")[0]!.replace(/\/$/, "")}/branches`);
        const runs = page.getByRole("region", { name: "Runs of agents" }).getByRole("listitem");
        await runs.filter({ hasText: "done" }).getByText("1 file · $0.25 · 1,200 tokens").waitFor();
        const working = runs.filter({ hasText: "hang" });
        await working.getByText("running").waitFor();
        await working.getByText(/cost not reported/).waitFor();
        await page.getByRole("region", { name: "Forks" }).getByText("spare-room", { exact: true }).waitFor();
        await expect.poll(() => existsSync(project.path("started.txt"))).toBe(true);
        await page.getByRole("button", { name: /^Stop the run/ }).click();
        await dialog(page).getByRole("button", { name: "Stop it" }).click();
        await toast(page).getByText("is stopped. Its work stays.").waitFor();
        await working.getByText("stopped", { exact: true }).waitFor();
        expect(project.read("started.txt")).toBe("1\n");
        verifyStore(project);
      },
      { files: FILES },
    )());
});
