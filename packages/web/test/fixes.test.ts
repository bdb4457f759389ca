/** The auto-fix loop asks in the page, in the words of the terminal: what is left, and a r v m c. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { Page } from "playwright-core";
import type { ServedProject } from "../../server/test/support/served-project.ts";
import { CHROMIUM, closeBrowser, shown } from "./support/browser.ts";
import { expectTree, treeOf, verifyStore } from "./support/going-back.ts";
import { dialog, Hand, HANDS, toast } from "./support/hand.ts";
import { FILES } from "./support/work.ts";

afterAll(closeBrowser);

const program = (script: string) => [process.execPath, "-e", script];

function configure(project: ServedProject, runs: object): void {
  const settings = {
    runs,
    agents: { fixer: { command: program(`require("fs").appendFileSync("src/a.ts", "// tried\\n")`) } },
    reviews: {
      always: { command: program(`console.log("src/a.ts:1:1: error: still <wrong>"); process.exit(1)`) },
    },
    "agentOrchestration.autoFix": { maxRetries: { medium: 1 }, exponentialBackoff: false },
  };
  writeFileSync(join(project.home, "config.json"), JSON.stringify(settings));
}

/** A loop that made one attempt, which wrote a file and left the issue. */
async function escalated(project: ServedProject): Promise<void> {
  configure(project, {});
  const { status, stderr } = project.belay("fix", "--review", "always", "--agent", "fixer", "--yes");
  expect(status, stderr).toBe(3);
}

const stateOf = async (project: ServedProject) => (await project.ok("GET", "/api/fixes")).fixes[0].state;

/** Something else happens, twice, and the page has heard of it: the preview that is open is not planned again. */
async function expectPlannedOnce(page: Page, project: ServedProject): Promise<void> {
  const asked: string[] = [];
  page.on("request", (request) => void asked.push(`${request.method()} ${new URL(request.url()).pathname}`));
  const times = (what: string) => asked.filter((each) => each === what).length;
  for (const count of [1, 2]) {
    await project.ok("POST", "/api/checkpoints", { name: `Meanwhile ${count}` });
    await expect.poll(() => times("GET /api/fixes")).toBeGreaterThanOrEqual(count);
  }
  expect(times("POST /api/plans")).toBe(0);
}

describe.skipIf(CHROMIUM === undefined)("auto-fix", { timeout: 90_000 }, () => {
  test.each(HANDS)(
    "[M56, M57, R1553] asked with what is left; viewed, rejected with a preview, taken back, by %s",
    (kind) =>
      shown(
        escalated,
        async ({ page, project }) => {
          const hand = new Hand(page, kind);
          const answer = async (letter: string, words: RegExp) => {
            await dialog(page).getByRole("button", { name: words }).waitFor();
            if (kind === "mouse") await dialog(page).getByRole("button", { name: words }).click();
            else await page.keyboard.press(letter);
          };
          const decide = () =>
            hand.press(
              page
                .getByRole("group", { name: "Auto-fix needs you" })
                .getByRole("button", { name: "Decide…" }),
            );
          const before = treeOf(project);
          expect(project.read("src/a.ts")).toBe(`${FILES["src/a.ts"]}// tried\n`);
          await expect.poll(() => page.title()).toMatch(/^\(1\) /);
          await decide();
          await dialog(page)
            .getByRole("heading", { name: "Auto-fix Max retries (1) reached for medium issues" })
            .waitFor();
          await dialog(page)
            .getByText("Issues remaining (1). Snapshots created: 1 (available for rollback)")
            .waitFor();
          await dialog(page).getByText("still <wrong>").waitFor();
          await answer("v", /View diff \(compare current vs snapshot\)/);
          await page.waitForURL(/\/compare\//);
          await page.goBack();
          await decide();
          // the place of an issue leads to its diff
          await hand.press(dialog(page).getByRole("button", { name: "(src/a.ts:1)" }));
          await page.waitForURL(/\/compare\/.*file=src%2Fa\.ts/);
          await page.goBack();
          await decide();
          await answer("r", /Reject all changes \(rollback to snapshot before this agent\)/);
          await dialog(page).getByRole("region", { name: "Will change" }).getByText("a.ts").waitFor();
          expect(treeOf(project)).toEqual(before);
          await expectPlannedOnce(page, project);
          await hand.confirm(/^Restore 1 file/);
          await toast(page).getByText("Rejected: the files are as they were before this agent.").waitFor();
          expectTree(project, FILES);
          expect(await stateOf(project)).toBe("rejected");
          await expect.poll(() => page.title()).toMatch(/^(?!\()/);
          verifyStore(project);
          await hand.press(toast(page).getByRole("button", { name: "Undo" }));
          await hand.confirm(/^Undo 1 file/);
          await toast(page)
            .getByText(/^Undid/)
            .waitFor();
          expect(treeOf(project)).toEqual(before);
        },
        { files: FILES },
      )(),
  );

  test("[M57] accepted: the loop is over, the files stay", () =>
    shown(
      escalated,
      async ({ page, project }) => {
        const before = treeOf(project);
        await page.getByRole("button", { name: "Decide…" }).click();
        await dialog(page)
          .getByRole("button", { name: /Accept anyway/ })
          .click();
        await toast(page).getByText("Accepted").waitFor();
        await expect.poll(() => page.getByRole("group", { name: "Auto-fix needs you" }).count()).toBe(0);
        expect(await stateOf(project)).toBe("accepted");
        expect(treeOf(project)).toEqual(before);
      },
      { files: FILES },
    )());

  test("[M57, R100] one more attempt only where programs may be started; then it is exactly one; then by hand", () =>
    shown(
      escalated,
      async ({ page, project }) => {
        await page.getByRole("button", { name: "Decide…" }).click();
        await dialog(page)
          .getByRole("button", { name: /Continue trying/ })
          .click();
        await dialog(page)
          .getByRole("alert")
          .getByText(/Programs are not started over HTTP here.*belay fix answer/)
          .waitFor();
        expect(await stateOf(project)).toBe("escalated");
        configure(project, { http: true });
        await dialog(page)
          .getByRole("button", { name: /Continue trying/ })
          .click();
        await toast(page).getByText("One more attempt: 1 issue is left.").waitFor();
        expect(project.read("src/a.ts")).toBe(`${FILES["src/a.ts"]}// tried\n// tried\n`);
        await page.getByRole("button", { name: "Decide…" }).click();
        await dialog(page)
          .getByRole("button", { name: /Manual fix/ })
          .click();
        await toast(page).getByText("It is yours to fix.").waitFor();
        expect(await stateOf(project)).toBe("manual");
        verifyStore(project);
      },
      { files: FILES, expected: /status of 403/ },
    )());
});
