/**
 * Strings of strangers in what several agents bring: names of branches, forks and agents, prompts, issues, files in
 * conflict and the words of a merger. The page shows them as text, and what the merger offers can be taken.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { Page } from "playwright-core";
import type { ServedProject } from "../../server/test/support/served-project.ts";
import { branchWith, merge } from "./support/branches.ts";
import { CHROMIUM, closeBrowser, shown } from "./support/browser.ts";
import { treeOf, verifyStore } from "./support/going-back.ts";
import { dialog, Hand, toast } from "./support/hand.ts";
import { expectHarmless } from "./support/harmless.ts";

afterAll(closeBrowser);

/** Markup with a script, and signs that turn the direction of what follows. */
const STRANGE = "<img src=x onerror=globalThis.wasHurt=1>\u202egnp.exe \u2066<b>b</b> \u200f";
/** The same as far as git's rules for names let it through. */
const BRANCH = "idea/<img/src=x/onerror=wasHurt=1>\u202egnp";
const LONG = "long-name-".repeat(19);
const PATH = "<img src=x onerror=globalThis.wasHurt=1>\u202e\u0007.ts";

const LINES = Array.from({ length: 9 }, (_, at) => `const a${at + 1} = ${at + 1};`);
/** Both sides insert at one place: nothing overlaps, and the order is a guess. */
const withLines = (...inserted: string[]) =>
  `${[...LINES.slice(0, 4), ...inserted, ...LINES.slice(4)].join("\n")}\n`;
const [OURS, THEIRS, EXTRA] = ["const ours = 1;", `const theirs = "${STRANGE}";`, "const extra = 3;"];
const MERGED = withLines(OURS, THEIRS);

const program = (script: string) => [process.execPath, "-e", script];

/** A merger that keeps both sides but for one line, and says so in words of its own. */
const MERGER = `const fs = require("node:fs");
const task = JSON.parse(fs.readFileSync(process.env.BELAY_TASK, "utf8"));
const [conflict] = task.conflicts;
fs.writeFileSync(conflict.path, ${JSON.stringify(MERGED)});
const dropped = [{ side: "theirs", text: ${JSON.stringify(EXTRA)}, reason: ${JSON.stringify(STRANGE)} }];
fs.writeFileSync(process.env.BELAY_ANSWER, JSON.stringify({
  answers: [{ id: conflict.id, status: "resolved", explanation: ${JSON.stringify(`Both ${STRANGE}`)}, dropped }],
}));`;

async function strangeAgents(project: ServedProject): Promise<void> {
  const settings = {
    agents: {
      stub: { command: program(`require("fs").writeFileSync("by-agent.txt", "1")`) },
    },
    reviews: {
      always: {
        command: program(`console.log(${JSON.stringify(`a.txt:1:1: error: ${STRANGE}`)}); process.exit(1)`),
      },
    },
    "agentOrchestration.autoFix": { maxRetries: { medium: 0 } },
  };
  writeFileSync(join(project.home, "config.json"), JSON.stringify(settings));
  const run = (status: number, ...words: string[]) => {
    const ran = project.belay(...words);
    expect({ words, status: ran.status }, ran.stderr + ran.stdout).toEqual({ words, status });
  };
  run(0, "fork", "spare-<b>room</b>\u202e".replace("/", ""), "--no-git");
  run(0, "agents", "run", "--in-place", "--yes", "--agent", "stub", "-p", `${STRANGE} ${"x".repeat(5000)}`);
  run(3, "fix", "--review", "always", "--agent", "stub", "--yes");
  await project.ok("POST", "/api/threads", { agent: STRANGE, title: STRANGE });
  await project.ok("POST", "/api/threads", { agent: "constructor", title: "constructor" });
  await project.ok("POST", "/api/branches", { name: LONG, description: STRANGE });
  await branchWith(project, BRANCH, { [PATH]: withLines(THEIRS, EXTRA) });
  project.write(PATH, withLines(OURS));
  await merge(project, BRANCH);
  const merger = join(project.base, "merger.cjs");
  writeFileSync(merger, MERGER);
  run(3, "resolve", "--agent", "--yes", "--", process.execPath, merger);
}

describe.skipIf(CHROMIUM === undefined)("strings of strangers, several agents", { timeout: 120_000 }, () => {
  test(
    "[U11, S10, M45, M46, R98] are shown as text, and what a merger offers is taken with its reason, and taken back",
    shown(
      strangeAgents,
      async ({ page, project }) => {
        const hand = new Hand(page, "mouse");
        const before = treeOf(project);
        await page.getByRole("group", { name: "Auto-fix needs you" }).waitFor();
        await expectHarmless(page, "timeline");
        await page
          .getByRole("group", { name: "Auto-fix needs you" })
          .getByRole("button", { name: "Decide…" })
          .click();
        await dialog(page).getByText("<img src=x onerror").first().waitFor();
        await expectHarmless(page, "escalation");
        await page.keyboard.press("Escape");
        await lookAtBranches(page);
        await page.getByRole("link", { name: /^Conflicts/ }).click();
        await page.getByRole("heading", { name: /^<img src=x onerror/ }).waitFor();
        await expectHarmless(page, "conflict");
        const made = page.getByRole("radio", { name: /^What the merger made/ });
        await page.getByText("Lines it left out on purpose: 1.").waitFor();
        await page.getByText(/^Both <img src=x/).waitFor();
        await made.click();
        const result = page.getByRole("article", { name: "Result" });
        await expect.poll(() => result.getByText("const theirs").count()).toBeGreaterThan(0);
        await expectHarmless(page, "conflict, result");
        const use = page.getByRole("button", { name: /^Use this/ });
        await expect.poll(() => use.getAttribute("aria-disabled")).toBe("false");
        await use.click();
        await page.getByRole("heading", { name: /^Everything is decided/ }).waitFor();
        await expectHarmless(page, "conflict, summary");
        expect(treeOf(project)).toEqual(before);
        const apply = page.getByRole("button", { name: /^Merge 1 file/ });
        await expect.poll(() => apply.getAttribute("aria-disabled")).toBe("false");
        await apply.click();
        await toast(page)
          .getByText(/^Merged “idea/)
          .waitFor();
        await expectHarmless(page, "merged");
        expect(project.read(PATH)).toBe(MERGED);
        await toast(page).getByRole("button", { name: "Undo" }).click();
        await hand.confirm(/^Undo 1 file/);
        await toast(page)
          .getByText(/^Undid/)
          .waitFor();
        expect(treeOf(project)).toEqual(before);
        verifyStore(project);
      },
      { files: { [PATH]: withLines(), "a.txt": "one\n" } },
    ),
  );
});

/** The list, and every dialog that it opens. */
async function lookAtBranches(page: Page): Promise<void> {
  await page.getByRole("button", { name: /^Branch main/ }).click();
  await page.getByRole("region", { name: "Runs of agents" }).waitFor();
  await page.getByRole("region", { name: "Forks" }).waitFor();
  await expectHarmless(page, "branches");
  for (const [button, shows] of [
    [/^Switch to idea/, /^Switch, \d+ files?/],
    [/^Merge long-name/, /^Merge \d+ files?/],
  ] as const) {
    await page.getByRole("button", { name: button }).click();
    await dialog(page).getByRole("button", { name: shows }).waitFor();
    await expectHarmless(page, String(button));
    await page.keyboard.press("Escape");
  }
  for (const words of ["Rename…", "Delete…"]) {
    await page.getByRole("button", { name: /^More about idea/ }).click();
    await page.getByRole("button", { name: words }).click();
    await dialog(page).waitFor();
    await expectHarmless(page, words);
    await page.keyboard.press("Escape");
  }
}
