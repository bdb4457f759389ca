/** What people do with the page, by mouse and again by keyboard alone, on real files. */
import { afterAll, describe, expect, test } from "vitest";
import type { Page } from "playwright-core";
import type { ServedProject } from "../../server/test/support/served-project.ts";
import { Agent } from "./support/agent.ts";
import { CHROMIUM, closeBrowser, shown, type Shown } from "./support/browser.ts";

afterAll(closeBrowser);

const FILES = {
  "src/a.ts": "export const a = 1;\n",
  "src/b.ts": "export const b = 1;\n",
  "README.md": "# Read me\n",
};

/** Two turns of one agent: the second changes, makes and deletes. */
async function twoTurns(project: ServedProject): Promise<void> {
  const agent = await Agent.start(project);
  await agent.turn("Use idempotency keys", { "src/a.ts": "export const a = 2;\n" });
  await agent.turn(
    "Add retry with backoff",
    { "src/a.ts": "export const a = 3;\n" },
    { "src/new.ts": "export const made = true;\n" },
    { "src/b.ts": null },
  );
}

const HOSTILE = [
  "<script>globalThis.wasHurt = 1</script>",
  "<img src=x onerror=globalThis.wasHurt=1>",
  "right to left \u202egnp.exe",
  "x".repeat(10_000),
  "javascript:globalThis.wasHurt=1",
];

/** The same story with both hands. */
const HANDS = ["mouse", "keyboard"] as const;
type Hand = (typeof HANDS)[number];

const row = (page: Page, title: string) => page.getByRole("row", { name: title });
const dialog = (page: Page) => page.locator("dialog[open]");

/** Selects a row with the given hand. */
async function select(page: Page, hand: Hand, title: string): Promise<void> {
  const wanted = row(page, title).first();
  await wanted.waitFor();
  if (hand === "mouse") return wanted.click();
  await page.getByRole("treegrid").focus();
  await page.keyboard.press("Home");
  for (let moves = 0; moves < 30; moves += 1) {
    if ((await wanted.getAttribute("aria-selected")) === "true") return;
    await page.keyboard.press("ArrowDown");
  }
  throw new Error(`"${title}" was not reached`);
}

async function confirm(page: Page, hand: Hand, words: RegExp): Promise<void> {
  const button = dialog(page).getByRole("button", { name: words });
  await button.waitFor();
  await expect.poll(() => button.getAttribute("aria-disabled")).toBe("false");
  await (hand === "mouse" ? button.click() : page.keyboard.press("Control+Enter"));
  await dialog(page).waitFor({ state: "detached" });
}

const toast = (page: Page) => page.locator(".b-toast");

function verifyStore(project: ServedProject): void {
  const { status, stdout } = project.belay("verify", "--full");
  expect(status, stdout).toBe(0);
}

const FIRST = {
  "src/a.ts": "export const a = 1;\n",
  "src/b.ts": "export const b = 1;\n",
  "src/new.ts": undefined,
};
const SECOND = { ...FIRST, "src/a.ts": "export const a = 2;\n" };
const THIRD = {
  "src/a.ts": "export const a = 3;\n",
  "src/b.ts": undefined,
  "src/new.ts": "export const made = true;\n",
};

function expectTree(project: ServedProject, files: Readonly<Record<string, string | undefined>>): void {
  expect(Object.fromEntries(Object.keys(files).map((path) => [path, project.read(path)]))).toEqual(files);
}

describe.skipIf(CHROMIUM === undefined)("stories", { timeout: 90_000 }, () => {
  test(
    "[S1, M03, Y62, L27] the newest turn is selected, and its changes are beside it",
    shown(
      twoTurns,
      async ({ page, project }) => {
        await row(page, "Add retry with backoff").waitFor();
        expect(await row(page, "Add retry with backoff").getAttribute("aria-selected")).toBe("true");
        expect(await row(page, "You are here").count()).toBe(1);
        const files = page.getByRole("group", { name: "Changed files" }).getByRole("button");
        await expect.poll(() => files.allInnerTexts()).toHaveLength(3);
        await expect.poll(() => page.locator("diffs-container").count()).toBeGreaterThan(0);
        await expect.poll(() => page.getByText("export const made = true").count()).toBeGreaterThan(0);
        const agent = await Agent.start(project, "codex", "Docs");
        await agent.turn("Write the docs", { "docs.md": "one\n" });
        await row(page, "Write the docs").waitFor();
        expect(await row(page, "Add retry with backoff").getAttribute("aria-selected")).toBe("false");
      },
      { files: FILES },
    ),
  );

  test.each(HANDS)("[S2, S3, L05, C35, C64] undo the last turn and redo it, by %s", (hand) =>
    shown(
      twoTurns,
      async ({ page, project }) => {
        await row(page, "Add retry with backoff").waitFor();
        await open(page, hand, "u", /^Undo Add retry/);
        await dialog(page).getByText("Undo the last turn of Claude Code").waitFor();
        await dialog(page).getByText("“Add retry with backoff”").waitFor();
        expectTree(project, THIRD);
        await confirm(page, hand, /^Undo 3 files/);
        await toast(page).getByText("Undid “Add retry with backoff”").waitFor();
        expectTree(project, SECOND);
        await row(page, "undone").waitFor();
        await open(page, hand, "r", /^Redo Add retry/);
        await confirm(page, hand, /^Redo 3 files/);
        await toast(page).getByText("Redid").waitFor();
        expectTree(project, THIRD);
        verifyStore(project);
      },
      { files: FILES },
    )(),
  );

  test.each(HANDS)("[S4] undo only this keeps what came later, by %s", (hand) =>
    shown(
      async (project) => {
        const agent = await Agent.start(project);
        await agent.turn("Change a", { "src/a.ts": "export const a = 2;\n" });
        await agent.turn("Change b", { "src/b.ts": "export const b = 2;\n" });
      },
      async ({ page, project }) => {
        await select(page, hand, "Change a");
        await open(page, hand, "R", /^Undo only this/);
        await confirm(page, hand, /^Undo 1 file/);
        await toast(page).getByText("Undid only “Change a”").waitFor();
        expect(project.read("src/a.ts")).toBe("export const a = 1;\n");
        expect(project.read("src/b.ts")).toBe("export const b = 2;\n");
        verifyStore(project);
      },
      { files: FILES },
    )(),
  );

  test.each(HANDS)("[S5, Y13, Y14, L07, L29, L31, A40] restore to before a turn, and back, by %s", (hand) =>
    shown(
      twoTurns,
      async ({ page, project }) => {
        await select(page, hand, "Use idempotency keys");
        await open(page, hand, "b", /^Restore to before this/);
        await dialog(page)
          .getByRole("heading", { name: "Go back to before “Use idempotency keys”" })
          .waitFor();
        // the first focus changes nothing
        expect(await page.evaluate("document.activeElement.textContent")).toContain("Cancel");
        await dialog(page).getByRole("region", { name: "Will be deleted" }).getByText("new.ts").waitFor();
        await dialog(page).getByRole("region", { name: "Will come back" }).getByText("b.ts").waitFor();
        await dialog(page).getByText("The present files are saved first, and you can undo this.").waitFor();
        expectTree(project, THIRD);
        await confirm(page, hand, /^Restore 3 files/);
        await toast(page).getByText("Restored 3 files to before “Use idempotency keys”.").waitFor();
        expectTree(project, FIRST);
        await row(page, "Restored to before").first().waitFor();
        await toast(page).getByRole("button", { name: "Undo" }).click();
        await confirm(page, hand, /^Undo 3 files/);
        await toast(page).getByText("Undid").waitFor();
        expectTree(project, THIRD);
        verifyStore(project);
      },
      { files: FILES },
    )(),
  );

  test.each(HANDS)("[S5] Escape leaves everything as it is, by %s", (hand) =>
    shown(
      twoTurns,
      async ({ page, project }) => {
        await select(page, hand, "Use idempotency keys");
        await open(page, hand, "b", /^Restore to before this/);
        await dialog(page)
          .getByRole("button", { name: /^Restore 3 files/ })
          .waitFor();
        if (hand === "mouse") await dialog(page).getByRole("button", { name: "Cancel" }).click();
        else await page.keyboard.press("Escape");
        await dialog(page).waitFor({ state: "detached" });
        expectTree(project, THIRD);
      },
      { files: FILES },
    )(),
  );

  test(
    "[S5] files that are left out stay, and files made since can be kept",
    shown(
      twoTurns,
      async ({ page, project }) => {
        await select(page, "mouse", "Add retry with backoff");
        await open(page, "mouse", "b", /^Restore to before this/);
        await dialog(page).getByRole("checkbox", { name: "src/a.ts" }).uncheck();
        await dialog(page)
          .getByRole("button", { name: /^Restore 2 files/ })
          .waitFor();
        await dialog(page).getByRole("radio", { name: "Keep files made since" }).check();
        await confirm(page, "mouse", /^Restore 1 file/);
        expectTree(project, { ...THIRD, "src/b.ts": FIRST["src/b.ts"] });
        verifyStore(project);
      },
      { files: FILES },
    ),
  );

  test(
    "[S5] another agent's work is left alone unless it is taken back too",
    shown(
      async (project) => {
        const [claude, codex] = [await Agent.start(project), await Agent.start(project, "codex", "Docs")];
        await claude.turn("Change a", { "src/a.ts": "export const a = 2;\n" });
        await codex.turn("Write docs", { "docs.md": "docs\n" });
      },
      async ({ page, project }) => {
        await select(page, "mouse", "Change a");
        await open(page, "mouse", "b", /^Restore to before this/);
        await dialog(page).getByText("Codex’s work, left alone").waitFor();
        await confirm(page, "mouse", /^Restore 1 file/);
        await toast(page).getByText("Codex’s 1 file was left alone.").waitFor();
        expectTree(project, { "src/a.ts": FIRST["src/a.ts"], "docs.md": "docs\n" });
        await toast(page).getByRole("button", { name: "Undo" }).click();
        await confirm(page, "mouse", /^Undo 1 file/);
        await select(page, "mouse", "Claude Code, Change a");
        await open(page, "mouse", "b", /^Restore to before this/);
        await dialog(page).getByRole("button", { name: "Take back too" }).click();
        await confirm(page, "mouse", /^Restore 2 files/);
        expectTree(project, { "src/a.ts": FIRST["src/a.ts"], "docs.md": undefined });
        verifyStore(project);
      },
      { files: FILES },
    ),
  );

  test(
    "[S6, M27, Y69] restore one file of a turn",
    shown(
      twoTurns,
      async ({ page, project }) => {
        await select(page, "mouse", "Add retry with backoff");
        await page.getByRole("button", { name: "Restore this file… src/b.ts" }).click();
        await confirm(page, "mouse", /^Restore 1 file/);
        expectTree(project, { ...THIRD, "src/b.ts": FIRST["src/b.ts"] });
        verifyStore(project);
      },
      { files: FILES },
    ),
  );

  test.each(HANDS)("[S6, Y69] undo one hunk of a turn, and keep the other, by %s", (hand) => {
    const lines = Array.from({ length: 40 }, (_, index) => `line ${index}`);
    const text = (changed: Readonly<Record<number, string>>) =>
      lines.map((line, index) => `${changed[index] ?? line}\n`).join("");
    return shown(
      async (project) => {
        const agent = await Agent.start(project);
        await agent.turn("Change two places", { "long.txt": text({ 2: "two!", 35: "thirty-five!" }) });
      },
      async ({ page, project }) => {
        await select(page, hand, "Change two places");
        await open(page, hand, "R", /^Undo only this/);
        const second = dialog(page).getByRole("checkbox", { name: "Hunk 2 of 2" });
        await second.focus();
        await page.keyboard.press("Space");
        expect(await second.isChecked()).toBe(false);
        await confirm(page, hand, /^Undo 1 file/);
        expect(project.read("long.txt")).toBe(text({ 35: "thirty-five!" }));
        verifyStore(project);
      },
      { files: { "long.txt": text({}) } },
    )();
  });

  test.each(HANDS)("[S7, Y20, Y22, Y23] compare two states, by %s", (hand) =>
    shown(
      twoTurns,
      async ({ page }) => {
        await select(page, hand, "Use idempotency keys");
        await page.keyboard.press("Space");
        await select(page, hand, "First checkpoint");
        await page.getByRole("treegrid").focus();
        await page.keyboard.press("Space");
        if (hand === "mouse") await page.getByRole("button", { name: "Compare", exact: true }).click();
        else await page.keyboard.press("d");
        await page.waitForURL(/\/compare\//);
        const files = page.getByRole("navigation", { name: "Files" }).getByRole("button");
        await expect.poll(() => files.allInnerTexts()).toHaveLength(1);
        await expect.poll(() => page.getByText("export const a = 2").count()).toBeGreaterThan(0);
        await page.getByRole("button", { name: "Copy the change of src/a.ts as a patch" }).click();
        expect(await page.evaluate("navigator.clipboard.readText()")).toContain(
          "-export const a = 1;\n+export const a = 2;\n",
        );
        await page.getByRole("region", { name: "Differences" }).focus();
        await page.keyboard.press("Escape");
        await row(page, "Use idempotency keys").waitFor();
      },
      { files: FILES },
    )(),
  );

  test.each(HANDS)("[S11, Y07, Y11, Y63] keep a state, by %s", (hand) =>
    shown(
      twoTurns,
      async ({ page, project }) => {
        await row(page, "Add retry").waitFor();
        await open(page, hand, "c", /^Checkpoint/);
        await dialog(page).getByLabel("Name").fill("All green");
        await dialog(page).getByLabel("Note").fill("shown on Tuesday");
        await dialog(page).getByLabel("Tags").fill("demo, good");
        await (hand === "mouse"
          ? dialog(page)
              .getByRole("button", { name: /^Keep this state/ })
              .click()
          : page.keyboard.press("Enter"));
        await toast(page).getByText("Kept “All green”").waitFor();
        const { checkpoints } = await project.ok("GET", "/api/checkpoints?limit=1");
        expect(checkpoints[0]).toMatchObject({
          name: "All green",
          note: "shown on Tuesday",
          tags: ["demo", "good"],
        });
        await row(page, "All green").waitFor();
      },
      { files: FILES },
    )(),
  );

  test.each(HANDS)("[S12, Y26, Y29] a note is written, changed and left as it was, by %s", (hand) =>
    shown(
      twoTurns,
      async ({ page }) => {
        await select(page, hand, "Use idempotency keys");
        await open(page, hand, "n", /^Write a note/);
        await dialog(page).getByLabel("Note").fill("the good one");
        await page.keyboard.press("Enter");
        await dialog(page).waitFor({ state: "detached" });
        await row(page, "Use idempotency keys").getByText("the good one").waitFor();
        await select(page, hand, "Use idempotency keys");
        await open(page, hand, "n", /^Write a note/);
        await dialog(page).getByLabel("Note").fill("other words");
        await page.keyboard.press("Escape");
        expect(await row(page, "Use idempotency keys").innerText()).toContain("the good one");
      },
      { files: FILES },
    )(),
  );

  test.each(HANDS)("[S13, Y27, C63] find by words, and come back, by %s", (hand) =>
    shown(
      twoTurns,
      async ({ page }) => {
        await row(page, "Add retry").waitFor();
        const field = page.getByRole("searchbox", { name: /^Search/ });
        if (hand === "mouse") await field.click();
        else {
          await page.getByRole("treegrid").focus();
          await page.keyboard.press("/");
        }
        await page.keyboard.type("idempotency");
        await row(page, "Add retry").waitFor({ state: "detached" });
        await row(page, "Use idempotency keys").waitFor();
        await page.keyboard.type(" zzzz");
        await page.getByText("Nothing matches “idempotency zzzz”.").waitFor();
        await page.keyboard.press("Escape");
        await row(page, "Add retry").waitFor();
        expect(await field.inputValue()).toBe("");
      },
      { files: FILES },
    )(),
  );

  test.each(HANDS)("[S8, A36, A37, A38] review, tick off and approve, by %s", (hand) =>
    shown(
      twoTurns,
      async ({ page, project }) => {
        await row(page, "Add retry").waitFor();
        if (hand === "mouse") await page.getByRole("link", { name: "Pending" }).click();
        else {
          await page.getByRole("treegrid").focus();
          await page.keyboard.press("p");
        }
        const card = page.getByRole("region", { name: "Payment retries" });
        await card.getByText("3 files · nothing approved yet").waitFor();
        const press = async (place: ReturnType<Page["getByRole"]>) =>
          hand === "mouse" ? place.click() : place.focus().then(() => page.keyboard.press("Enter"));
        await press(card.getByRole("button", { name: /src\/new\.ts/ }));
        await expect.poll(() => page.getByText("export const made = true").count()).toBeGreaterThan(0);
        await card.getByRole("checkbox", { name: "Seen src/new.ts" }).focus();
        await page.keyboard.press("Space");
        expect(await card.getByRole("checkbox", { name: "Seen src/new.ts" }).isChecked()).toBe(true);
        project.write("src/new.ts", "export const made = false;\n");
        await project.ok("POST", "/api/checkpoints", {});
        await card.getByText("new since you looked").waitFor();
        if (hand === "mouse") await card.getByRole("button", { name: /^Approve 3 files…/ }).click();
        else await page.keyboard.press("A");
        // the first press approves nothing
        const { thread } = (await project.ok("GET", "/api/threads")).threads.map((each: object) => ({
          thread: each,
        }))[0];
        expect(thread.lastApprovedAt).toBeNull();
        await page.getByLabel("Message, may stay empty").fill("good");
        await page.keyboard.press("Enter");
        await toast(page).getByText("Approved 3 files of Payment retries.").waitFor();
        await card.getByText("nothing pending").waitFor();
        expect(await card.getByRole("button", { name: /^Approve/ }).getAttribute("aria-disabled")).toBe(
          "true",
        );
        expect(project.read("src/new.ts")).toBe("export const made = false;\n");
        verifyStore(project);
      },
      { files: FILES },
    )(),
  );

  test.each(HANDS)("[S9, A19, A37] reset to what was approved, and back, by %s", (hand) =>
    shown(
      async (project) => {
        const agent = await Agent.start(project);
        await agent.turn("Change a", { "src/a.ts": "export const a = 2;\n" });
        await project.ok("POST", `/api/threads/${agent.id}/approve`, {});
        await agent.turn("Change a again", { "src/a.ts": "export const a = 3;\n", "src/new.ts": "new\n" });
        const codex = await Agent.start(project, "codex", "Docs");
        await codex.turn("Write docs", { "docs.md": "docs\n" });
      },
      async ({ page, project }) => {
        await row(page, "Change a again").waitFor();
        await page.getByRole("link", { name: "Pending" }).click();
        const reset = page.getByRole("button", { name: "Reset… Payment retries" });
        await expect.poll(() => reset.getAttribute("aria-disabled")).toBe("false");
        if (hand === "mouse") await reset.click();
        else {
          await reset.focus();
          await page.keyboard.press("X");
        }
        await confirm(page, hand, /^Reset 2 files/);
        await toast(page).getByText("Reset 2 files").waitFor();
        expectTree(project, {
          "src/a.ts": "export const a = 2;\n",
          "src/new.ts": undefined,
          "docs.md": "docs\n",
        });
        await toast(page).getByRole("button", { name: "Undo" }).click();
        await confirm(page, hand, /^Undo 2 files/);
        expectTree(project, {
          "src/a.ts": "export const a = 3;\n",
          "src/new.ts": "new\n",
          "docs.md": "docs\n",
        });
        verifyStore(project);
      },
      { files: FILES },
    )(),
  );

  test.each(HANDS)(
    "[A40, L10, L29, L30, Y17] go back from the conversation, only where something changed, by %s",
    (hand) =>
      shown(
        async (project) => {
          const agent = await Agent.start(project);
          await agent.turn("Only talk");
          await agent.turn("Change a", { "src/a.ts": "export const a = 2;\n" });
        },
        async ({ page, project }) => {
          await page.getByRole("link", { name: "Threads" }).click();
          await page.getByRole("button", { name: /^Payment retries/ }).click();
          const prompts = page.getByRole("article", { name: /^Prompt/ });
          await expect.poll(() => prompts.count()).toBe(2);
          const badge = page.getByRole("button", { name: /^Restore… to before/ });
          await badge.waitFor();
          expect(await badge.count()).toBe(1);
          expect(await badge.getAttribute("title")).toBe("Undo all changes from this point onwards");
          await (hand === "mouse" ? badge.click() : badge.focus().then(() => page.keyboard.press("Enter")));
          await confirm(page, hand, /^Restore 1 file/);
          await toast(page).getByText("Restored 1 file to before “Change a”.").waitFor();
          expect(project.read("src/a.ts")).toBe("export const a = 1;\n");
          verifyStore(project);
        },
        { files: FILES },
      )(),
  );

  test(
    "an agent writes between preview and confirm: nothing is restored, and the new preview has to be confirmed",
    shown(
      twoTurns,
      async ({ page, project }) => {
        await select(page, "mouse", "Use idempotency keys");
        await open(page, "mouse", "b", /^Restore to before this/);
        const button = dialog(page).getByRole("button", { name: /^Restore 3 files/ });
        await expect.poll(() => button.getAttribute("aria-disabled")).toBe("false");
        project.write("src/a.ts", "export const a = 99;\n");
        await button.click();
        await dialog(page).getByText("The files changed since this preview.").waitFor();
        expect(project.read("src/a.ts")).toBe("export const a = 99;\n");
        await confirm(page, "mouse", /^Restore 3 files/);
        expectTree(project, FIRST);
        await toast(page).getByRole("button", { name: "Undo" }).click();
        await confirm(page, "mouse", /^Undo 3 files/);
        expect(project.read("src/a.ts")).toBe("export const a = 99;\n");
        verifyStore(project);
      },
      { files: FILES, expected: /409/ },
    ),
  );

  test(
    "names, prompts, notes and contents of strangers are shown as text",
    shown(
      async (project) => {
        const agent = await Agent.start(project, "claude-code", "<b>title</b>");
        for (const [index, text] of HOSTILE.entries())
          await agent.turn(text, { [`f${index}<i>.txt`]: `${text}\n` });
        await project.ok("POST", "/api/checkpoints", { annotation: HOSTILE[0], tags: ["<u>x"] });
      },
      async ({ page }) => {
        await page
          .getByRole("row", { name: /script/ })
          .first()
          .waitFor();
        await page.locator("diffs-container").first().waitFor();
        expect(await page.evaluate("globalThis.wasHurt")).toBeUndefined();
        expect(await page.locator("b, script:not([src]), iframe, img").count()).toBe(0);
        expect(await page.getByText("\\u202e").count()).toBeGreaterThan(0);
      },
    ),
  );

  test(
    "seven tabs are live over one stream",
    shown(
      twoTurns,
      async ({ page, project, context }) => {
        const streams: string[] = [];
        context.on(
          "request",
          (request) => void (request.url().includes("/api/events") && streams.push(request.url())),
        );
        await row(page, "Add retry").waitFor();
        const tabs = [page];
        for (let count = 0; count < 6; count += 1) {
          const tab = await context.newPage();
          await tab.goto(page.url());
          await row(tab, "Add retry").waitFor();
          tabs.push(tab);
        }
        const agent = await Agent.start(project, "codex", "Docs");
        await agent.turn("Write the docs", { "docs.md": "one\n" });
        await Promise.all(tabs.map((tab) => row(tab, "Write the docs").waitFor()));
        expect(streams.length).toBeLessThanOrEqual(1);
      },
      { files: FILES },
    ),
  );

  test(
    "[S16] a restore in one tab is seen in all, and a new tab needs no code",
    shown(
      twoTurns,
      async ({ page, project, context }: Shown) => {
        await row(page, "Add retry").waitFor();
        const other = await context.newPage();
        await other.goto(page.url());
        await row(other, "Add retry").waitFor();
        await select(page, "mouse", "Use idempotency keys");
        await open(page, "mouse", "b", /^Restore to before this/);
        await confirm(page, "mouse", /^Restore 3 files/);
        await row(other, "Restored to before").first().waitFor();
        expectTree(project, FIRST);
      },
      { files: FILES },
    ),
  );
});

/** Opens a dialog by its button or its key. */
async function open(page: Page, hand: Hand, key: string, button: RegExp): Promise<void> {
  const place = page.getByRole("button", { name: button }).first();
  await place.waitFor();
  if (hand === "mouse") await place.click();
  else {
    await page.getByRole("treegrid").focus();
    await page.keyboard.press(key);
  }
  await dialog(page).waitFor();
}
