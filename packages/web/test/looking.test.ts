/** Seeing, comparing, finding, approving and naming in the page, by mouse and again by keyboard alone. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { Agent } from "./support/agent.ts";
import { addressOf, CHROMIUM, sharedServer, shown as shownAlone, type Shown } from "./support/browser.ts";
import { expectTree, goBack, treeOf, verifyStore } from "./support/going-back.ts";
import { compareButton, dialog, Hand, HANDS, row, toast } from "./support/hand.ts";
import { FILES, FIRST, twoTurns } from "./support/work.ts";

const { shown, close } = sharedServer();
afterAll(close);

describe.skipIf(CHROMIUM === undefined)("looking", () => {
  test.each(HANDS)(
    "[S1, M03, Y05, Y62, L27, C64] the newest turn is selected, its changes are beside it, and new turns appear, by %s",
    (kind) =>
      shown(
        twoTurns,
        async ({ page, project }) => {
          const hand = new Hand(page, kind);
          await row(page, "Add retry with backoff").waitFor();
          await expect
            .poll(() => row(page, "Add retry with backoff").getAttribute("aria-selected"))
            .toBe("true");
          await expect.poll(() => row(page, "You are here").count()).toBe(1);
          await page.getByText("Today").first().waitFor();
          const files = page.getByRole("group", { name: "Changed files" }).getByRole("button");
          await expect.poll(() => files.allInnerTexts()).toHaveLength(3);
          await expect.poll(() => page.getByText("export const made = true").count()).toBeGreaterThan(0);
          await hand.select("Use idempotency keys");
          await expect.poll(() => files.allInnerTexts()).toHaveLength(1);
          const before = treeOf(project);
          const agent = await Agent.start(project, "codex", "Docs");
          await agent.prompt("Write the docs");
          // the row of a turn that began is there before it ends, and is no longer at work when it has ended
          await row(page, "Write the docs").getByText("working").waitFor();
          await agent.writes({ "docs.md": "one\n" });
          await agent.stop();
          await row(page, "Write the docs").getByText("1 file", { exact: true }).waitFor();
          await expect
            .poll(() => row(page, "Use idempotency keys").getAttribute("aria-selected"))
            .toBe("true");
          expect(treeOf(project)).toEqual(new Map(before).set("docs.md", treeOf(project).get("docs.md")!));
          // every checkpoint, of all kinds and phases
          await hand.use("a", page.getByRole("button", { name: "Everything", exact: true }));
          await row(page, "Initial checkpoint").waitFor();
          await expect.poll(() => row(page, "Initial checkpoint").count()).toBe(1);
          const { checkpoints } = await project.ok("GET", "/api/checkpoints?limit=1000");
          await page.getByText(`${checkpoints.length} rows`, { exact: true }).first().waitFor();
          const made = checkpoints.find((each: { changes: { added: number } }) => each.changes.added > 0);
          await row(page, made.description).getByText("+1 ~0 −0").first().waitFor();
          // a row is the state that it is, and goes back to it
          await hand.select(made.description);
          await hand.open("b", /^Restore to/);
          await page.keyboard.press("Escape");
          verifyStore(project);
        },
        { files: FILES },
      )(),
  );

  test.each(HANDS)("[S7, Y20, Y21, Y22, Y23, Y25, Y65] compare two states, by %s", (kind) =>
    shown(
      twoTurns,
      async ({ page, project }) => {
        const hand = new Hand(page, kind);
        const before = treeOf(project);
        await mark(hand, "Use idempotency keys");
        await mark(hand, "Initial checkpoint");
        // the older of the two is the one that the other is compared with, whichever was marked first
        await row(page, "Initial checkpoint").getByText("A", { exact: true }).waitFor();
        await row(page, "Use idempotency keys").getByText("B", { exact: true }).waitFor();
        await hand.use("d", page.getByRole("button", { name: "Compare", exact: true }));
        await page.waitForURL(/\/compare\//);
        const files = page.getByRole("tree", { name: "Changed files" }).getByRole("treeitem", { level: 2 });
        await expect.poll(() => files.allInnerTexts()).toHaveLength(1);
        await expect.poll(() => page.getByText("export const a = 2").count()).toBeGreaterThan(0);
        await hand.press(page.getByRole("button", { name: "Copy the change of src/a.ts as a patch" }));
        await expect
          .poll(() => page.evaluate("navigator.clipboard.readText()"))
          .toContain("-export const a = 1;\n+export const a = 2;\n");
        // one change of the file, alone
        await hand.press(page.getByRole("button", { name: /^Copy hunk 1 of/ }).first());
        await expect.poll(() => page.evaluate("navigator.clipboard.readText()")).toMatch(/^@@ .*\n-export/);
        await expectBothLayouts(hand);
        await page.keyboard.press("Escape");
        await row(page, "Use idempotency keys").waitFor();
        expect(treeOf(project)).toEqual(before);
      },
      { files: FILES },
    )(),
  );

  test(
    "[Y21] where both sides fit only just, a comparison begins unified and is split when that is chosen",
    shown(
      twoTurns,
      async ({ page }) => {
        await page.setViewportSize({ width: 1024, height: 844 });
        const hand = new Hand(page, "mouse");
        await hand.select("Add retry");
        await compareButton(page).click();
        await page.waitForURL(/\/compare\//);
        await page.locator("diffs-container").first().waitFor();
        await expect.poll(() => page.evaluate(columnsOf)).toBe(1);
        await expectBothLayouts(hand);
      },
      { files: FILES },
    ),
  );

  test.each(HANDS)(
    "[S7, Y20] the first row compares the newest state with the files on disk, by %s",
    (kind) =>
      shown(
        async (project) => {
          const agent = await Agent.start(project);
          await agent.turn("Write a file", { "src/a.ts": "export const a = 1;\n" });
          project.write("src/a.ts", "export const a = 2;\n");
        },
        async ({ page }) => {
          const hand = new Hand(page, kind);
          await hand.select("You are here");
          await hand.press(row(page, "You are here").getByRole("button", { name: "Compare…" }));
          await page.getByRole("region", { name: /src\/a\.ts$/ }).waitFor();
          expect(page.url()).toMatch(/\/compare\/.*\/disk/);
        },
      )(),
  );

  test.each(HANDS)("[S7, S6, Y23, M27] go from file to file and restore one of them, by %s", (kind) =>
    shown(
      async (project) => {
        const agent = await Agent.start(project);
        const text = Array.from({ length: 60 }, (_, index) => `const v${index} = ${index};\n`).join("");
        await agent.turn("Write long files", { "src/a.ts": text, "src/b.ts": text, "src/c.ts": text });
      },
      async ({ page, project }) => {
        const hand = new Hand(page, kind);
        await hand.select("Write long files");
        await hand.press(compareButton(page));
        await page.waitForURL(/\/compare\//);
        const top = async (path: string) =>
          page
            .getByRole("region", { name: new RegExp(`${path}$`) })
            .evaluate((card) =>
              Math.round(
                card.getBoundingClientRect().top - card.closest(".b-cmpbody")!.getBoundingClientRect().top,
              ),
            );
        await page.getByRole("region", { name: /c\.ts$/ }).waitFor();
        if (kind === "keyboard") {
          await hand.reach(page.getByRole("region", { name: "Differences" }));
          await page.keyboard.press("j");
          await page.keyboard.press("j");
          await page.keyboard.press("k");
        } else await page.getByRole("treeitem", { name: /b\.ts/ }).click();
        await expect.poll(() => top("src/b.ts")).toBeLessThan(60);
        await expect.poll(() => top("src/a.ts")).toBeLessThan(0);
        await hand.press(page.getByRole("button", { name: "Restore this file… src/b.ts" }));
        await goBack({
          project,
          hand,
          confirm: /^Restore 1 file/,
          says: /^Restored 1 file/,
          check: () => expectTree(project, { "src/b.ts": FIRST["src/b.ts"] }),
        });
      },
      { files: FILES },
    )(),
  );

  test(
    "[Y24, Y65, M79] code has colours of its language, and added and removed lines their sign",
    shown(
      async (project) => {
        const agent = await Agent.start(project);
        await agent.turn("Write code", {
          "src/a.ts": 'export function a(): string {\n  return "two"; // words\n}\n',
        });
      },
      async ({ page }) => {
        await row(page, "Write code").waitFor();
        await expect.poll(() => page.getByText('"two"').count()).toBeGreaterThan(0);
        // read from the lines as they are painted: a keyword, a string and a comment differ
        await expect
          .poll(() =>
            page.evaluate(() => {
              const root = document.querySelector("diffs-container")!.shadowRoot!;
              const words = [...root.querySelectorAll("[data-line] span, [data-column-content] span")];
              return new Set(words.map((word) => getComputedStyle(word).color)).size;
            }),
          )
          .toBeGreaterThan(2);
      },
      { files: FILES },
    ),
  );

  test.each(HANDS)(
    "[S7, Y20] a side of a comparison is another state when it is chosen; each file says who changed it, by %s",
    (kind) =>
      shown(
        async (project) => {
          await twoTurns(project);
          project.write("src/a.ts", "export const a = 4;\n");
        },
        async ({ page, project }) => {
          const hand = new Hand(page, kind);
          const before = treeOf(project);
          await hand.select("Add retry");
          await hand.use("d", compareButton(page));
          await page.waitForURL(/\/compare\//);
          await hand.press(page.getByRole("button", { name: /^A .*choose another state/ }));
          await hand.press(page.getByRole("button", { name: /^before “Use idempotency keys”/ }));
          await hand.press(page.getByRole("button", { name: /^B .*choose another state/ }));
          await hand.press(page.getByRole("button", { name: "the files on disk" }).first());
          await page.waitForURL(/\/disk$/);
          const files = page.getByRole("tree", { name: "Changed files" });
          const changed = files.getByRole("treeitem", { name: /a\.ts.*Claude Code.*by hand too/ });
          await changed.waitFor();
          await files.getByRole("treeitem", { name: /b\.ts.*Claude Code/ }).waitFor();
          await expect.poll(() => files.getByText("by hand too").count()).toBe(1);
          expect(treeOf(project)).toEqual(before);
        },
        { files: FILES },
      )(),
  );

  test.each(HANDS)("[S8, A36, A37, A38, A39] review, tick off and approve, by %s", (kind) =>
    shown(
      twoTurns,
      async ({ page, project }) => {
        const hand = new Hand(page, kind);
        await row(page, "Add retry").waitFor();
        await hand.use("p", page.getByRole("link", { name: /^Pending/ }));
        const card = page.getByRole("region", { name: "Payment retries" });
        await card.getByText("3 files · nothing approved yet").waitFor();
        await hand.press(card.getByRole("button", { name: /src\/new\.ts/ }));
        await expect.poll(() => page.getByText("export const made = true").count()).toBeGreaterThan(0);
        const seen = card.getByRole("checkbox", { name: "Seen src/new.ts", exact: true });
        await hand.tick(seen);
        await expect.poll(() => seen.isChecked()).toBe(true);
        project.write("src/new.ts", "export const made = false;\n");
        await project.ok("POST", "/api/checkpoints", {});
        await card.getByText("new since you looked").waitFor();
        const before = treeOf(project);
        if (kind === "mouse") await card.getByRole("button", { name: /^Approve 3 files…/ }).click();
        else await page.keyboard.press("A");
        // the first press approves nothing
        const message = page.getByLabel("Message, may stay empty");
        await message.waitFor();
        const { threads } = await project.ok("GET", "/api/threads");
        expect(threads[0].lastApprovedAt).toBeNull();
        await hand.write(message, "good");
        await page.keyboard.press("Enter");
        await toast(page).getByText("Approved 3 files of Payment retries.").waitFor();
        await card.getByText("nothing pending").waitFor();
        for (const words of [/^Approve/, /^Reset/])
          await expect
            .poll(() => card.getByRole("button", { name: words }).getAttribute("aria-disabled"))
            .toBe("true");
        expect(treeOf(project)).toEqual(before);
        // what was approved is in the sessions, with its message
        await hand.press(card.getByText(/^Sessions of/));
        await card.getByRole("row", { name: /“good”/ }).waitFor();
        // and can be gone back to
        project.write("src/new.ts", "spoilt\n");
        await hand.press(card.getByRole("button", { name: "Restore what was approved in session_1…" }));
        await goBack({
          project,
          hand,
          confirm: /^Restore 1 file/,
          says: /^Restored 1 file/,
          check: (tree) => expect(tree).toEqual(before),
        });
      },
      { files: FILES },
    )(),
  );

  test.each(HANDS)("[S11, Y07, Y08, Y10, Y11, Y63] keep a state, and go back to it, by %s", (kind) =>
    shown(
      twoTurns,
      async ({ page, project }) => {
        const hand = new Hand(page, kind);
        await row(page, "Add retry").waitFor();
        await hand.open("c", /^Checkpoint/);
        await hand.write(dialog(page).getByLabel("Name"), "All green");
        await hand.write(dialog(page).getByLabel("Note"), "shown on Tuesday");
        await hand.write(dialog(page).getByLabel("Tags"), "demo, good");
        if (kind === "mouse")
          await dialog(page)
            .getByRole("button", { name: /^Keep this state/ })
            .click();
        else await page.keyboard.press("Enter");
        await toast(page)
          .getByText(/^Kept “All green”.*3 files/)
          .waitFor();
        const { checkpoints } = await project.ok("GET", "/api/checkpoints?limit=1");
        expect(checkpoints[0]).toMatchObject({
          name: "All green",
          note: "shown on Tuesday",
          tags: ["demo", "good"],
        });
        await row(page, "All green").getByText("shown on Tuesday").waitFor();
        const kept = treeOf(project);
        const agent = await Agent.start(project, "codex", "Docs");
        await agent.turn("Spoil it", { "src/a.ts": "broken\n", "README.md": null });
        await row(page, "Spoil it").waitFor();
        await hand.select("All green");
        await hand.open("b", /^Restore to this checkpoint/);
        // the note is in the preview too
        await dialog(page).getByText("shown on Tuesday").waitFor();
        await goBack({
          project,
          hand,
          confirm: /^Restore 2 files/,
          says: /^Restored 2 files/,
          check: (tree) => expect(tree).toEqual(kept),
        });
      },
      { files: FILES },
    )(),
  );

  test.each(HANDS)(
    "[S12, Y26, Y29] note, name and tags are written, changed and left as they were, by %s",
    (kind) =>
      shown(
        twoTurns,
        async ({ page, project }) => {
          const hand = new Hand(page, kind);
          const before = treeOf(project);
          for (const [key, button, field, words] of [
            ["n", /^Write a note/, "Note", "the good one"],
            ["t", /^Tags/, "Tags", "stable"],
            ["m", /^Name$/, "Name", "Milestone"],
          ] as const) {
            await hand.select("Use idempotency keys");
            await hand.open(key, button);
            await hand.write(dialog(page).getByLabel(field), words);
            await page.keyboard.press("Enter");
            await dialog(page).waitFor({ state: "detached" });
            await page.getByRole("treegrid").getByText(words).first().waitFor();
          }
          await hand.open("n", /^Write a note/);
          await hand.write(dialog(page).getByLabel("Note"), "other words");
          await page.keyboard.press("Escape");
          await dialog(page).waitFor({ state: "detached" });
          await page.getByRole("treegrid").getByText("the good one").first().waitFor();
          await expect.poll(() => page.getByText("other words").count()).toBe(0);
          expect(treeOf(project)).toEqual(before);
          verifyStore(project);
        },
        { files: FILES },
      )(),
  );

  test.each(HANDS)("[S13, Y27, C63] find by words, files and agents, and come back, by %s", (kind) =>
    shown(
      async (project) => {
        await twoTurns(project);
        const codex = await Agent.start(project, "codex", "Docs");
        await codex.turn("Write docs", { "docs.md": "docs\n" });
      },
      async ({ page }) => {
        const hand = new Hand(page, kind);
        await row(page, "Add retry").waitFor();
        const field = page.getByRole("searchbox", { name: /^Search/ });
        const find = async (words: string) => {
          await hand.use("/", field);
          await page.keyboard.press("Control+a");
          await page.keyboard.type(words);
        };
        await find("idempotency");
        await row(page, "Add retry").waitFor({ state: "detached" });
        await row(page, "Use idempotency keys").waitFor();
        await page.keyboard.type(" zzzz");
        await page.getByText("Nothing matches “idempotency zzzz”").first().waitFor();
        await page.getByText(/^Without the filter there are \d+ rows\./).waitFor();
        await page.keyboard.press("Escape");
        await row(page, "Add retry").waitFor();
        await expect.poll(() => field.inputValue()).toBe("");
        await find("agent:codex");
        await row(page, "Add retry").waitFor({ state: "detached" });
        await row(page, "Write docs").waitFor();
        await page.keyboard.press("Escape");
        await row(page, "Add retry").waitFor();
        await find("file:src/b.ts");
        await row(page, "Write docs").waitFor({ state: "detached" });
        await row(page, "Add retry").waitFor();
      },
      { files: FILES },
    )(),
  );

  test(
    "seven tabs are live over one stream",
    shownAlone(
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

  test.each(HANDS)("[S16] a restore in one tab is seen in all, and a new tab needs no code, by %s", (kind) =>
    shownAlone(
      twoTurns,
      async ({ page, project, context }: Shown) => {
        await row(page, "Add retry").waitFor();
        const other = await context.newPage();
        await other.goto(page.url());
        await row(other, "Add retry").waitFor();
        await page.bringToFront();
        const hand = new Hand(page, kind);
        await hand.select("Use idempotency keys");
        await hand.open("b", /^Restore to before this/);
        await goBack({
          project,
          hand,
          confirm: /^Restore 3 files/,
          says: /^Restored 3 files/,
          check: () => expectTree(project, FIRST),
        });
        await row(other, "Restored to before").first().waitFor();
      },
      { files: FILES },
    )(),
  );

  test.each(HANDS)(
    "[S16] another project is chosen from the menu, and each keeps its own rows, by %s",
    (kind) =>
      shownAlone(
        twoTurns,
        async ({ page, project, context }) => {
          const second = join(project.base, "another");
          mkdirSync(second);
          expect(project.belay("-C", second, "init", "--no-agents", "--yes").status).toBe(0);
          await row(page, "Add retry").waitFor();
          await page.reload();
          const hand = new Hand(page, kind);
          await hand.press(page.getByRole("button", { name: /^Project project;/ }));
          await hand.press(page.getByRole("button", { name: /another/ }));
          await page.getByRole("button", { name: /^Project another;/ }).waitFor();
          await row(page, "Initial checkpoint").waitFor();
          await expect.poll(() => row(page, "Add retry").count()).toBe(0);
          // a tab that stayed in the first project has its own address
          const stayed = await context.newPage();
          await stayed.goto(addressOf(project));
          await row(stayed, "Add retry").waitFor();
          expect(stayed.url()).not.toBe(page.url());
        },
        { files: FILES },
      )(),
  );
});

/** Marks a row for comparison. */
async function mark(hand: Hand, title: string): Promise<void> {
  await hand.select(title);
  await hand.use("Space", hand.page.getByRole("button", { name: `Mark for comparison: ${title}` }));
}

/** Side by side draws two columns, unified one. */
async function expectBothLayouts(hand: Hand): Promise<void> {
  const { page } = hand;
  const columns = () => page.evaluate(columnsOf);
  await hand.press(page.getByRole("button", { name: "Side by side" }));
  await expect.poll(columns).toBe(2);
  await hand.press(page.getByRole("button", { name: "Unified" }));
  await expect.poll(columns).toBe(1);
}

/** How many columns of code the first file has. */
function columnsOf(): number {
  const root = document.querySelector("diffs-container")!.shadowRoot!;
  return root.querySelectorAll("code").length;
}
