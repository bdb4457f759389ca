/** Undo, redo, undo only this, restore and reset in the page, by mouse and again by keyboard alone, on real files. */
import { afterAll, describe, expect, test } from "vitest";
import { Agent } from "./support/agent.ts";
import { CHROMIUM, sharedServer } from "./support/browser.ts";
import { expectTree, goBack, treeOf, verifyStore } from "./support/going-back.ts";
import { dialog, Hand, HANDS, row, toast } from "./support/hand.ts";
import { expectRed } from "./support/red.ts";
import { FILES, FIRST, SECOND, THIRD, twoTurns } from "./support/work.ts";

const { shown, close } = sharedServer();
afterAll(close);

describe.skipIf(CHROMIUM === undefined)("going back", () => {
  test.each(HANDS)("[S2, S3, L05, C35, C64] undo the last turn and redo it, by %s", (kind) =>
    shown(
      twoTurns,
      async ({ page, project }) => {
        const hand = new Hand(page, kind);
        await row(page, "Add retry with backoff").waitFor();
        await hand.open("u", /^Undo Add retry/);
        await dialog(page).getByText("Undo the last turn of Claude Code").waitFor();
        await dialog(page).getByText("“Add retry with backoff”").waitFor();
        expectTree(project, THIRD);
        await goBack({
          project,
          hand,
          confirm: /^Undo 3 files/,
          says: /^Undid “Add retry with backoff”/,
          check: () => expectTree(project, SECOND),
        });
        await hand.open("u", /^Undo Add retry/);
        await hand.confirm(/^Undo 3 files/);
        await row(page, "undone").waitFor();
        await hand.open("r", /^Redo Add retry/);
        await goBack({
          project,
          hand,
          confirm: /^Redo 3 files/,
          says: /^Redid/,
          check: () => expectTree(project, THIRD),
        });
      },
      { files: FILES },
    )(),
  );

  test.each(HANDS)("[S2] two steps at once, and what a person changed meanwhile stays, by %s", (kind) =>
    shown(
      async (project) => {
        await twoTurns(project);
        project.write("README.md", "# Mine\n");
      },
      async ({ page, project }) => {
        const hand = new Hand(page, kind);
        await row(page, "Add retry with backoff").waitFor();
        await hand.open("u", /^Undo Add retry/);
        await dialog(page).getByText("Changed meanwhile by hand, stays:").waitFor();
        await hand.press(dialog(page).getByRole("button", { name: "One more step" }));
        await dialog(page).getByRole("region", { name: "Will come back" }).waitFor();
        await goBack({
          project,
          hand,
          confirm: /^Undo 3 files/,
          says: /^Undid/,
          check: () => expectTree(project, { ...FIRST, "README.md": "# Mine\n" }),
        });
      },
      { files: FILES },
    )(),
  );

  test.each(HANDS)("[S4] undo only this keeps what came later, by %s", (kind) =>
    shown(
      async (project) => {
        const agent = await Agent.start(project);
        await agent.turn("Change a", { "src/a.ts": "export const a = 2;\n" });
        await agent.turn("Change b", { "src/b.ts": "export const b = 2;\n" });
      },
      async ({ page, project }) => {
        const hand = new Hand(page, kind);
        await hand.select("Change a");
        await hand.open("R", /^Undo only this/);
        await goBack({
          project,
          hand,
          confirm: /^Undo 1 file/,
          says: /^Undid only “Change a”/,
          check: () =>
            expectTree(project, { "src/a.ts": FIRST["src/a.ts"], "src/b.ts": "export const b = 2;\n" }),
        });
      },
      { files: FILES },
    )(),
  );

  test.each(HANDS)("[S5, Y13, Y14, Y64, L07, L31, A40] restore to before a turn, and back, by %s", (kind) =>
    shown(
      twoTurns,
      async ({ page, project }) => {
        const hand = new Hand(page, kind);
        await hand.select("Use idempotency keys");
        // each row has its own way back
        const buttons = page.getByRole("treegrid").getByRole("button", { name: /^Restore to before “/ });
        await expect.poll(() => buttons.count()).toBe(2);
        await hand.use(
          "b",
          row(page, "Use idempotency keys")
            .first()
            .getByRole("button", { name: /^Restore/ }),
        );
        await dialog(page).waitFor();
        await dialog(page)
          .getByRole("heading", { name: "Go back to before “Use idempotency keys”" })
          .waitFor();
        // the first focus changes nothing
        await expect.poll(() => page.evaluate("document.activeElement.textContent")).toContain("Cancel");
        await dialog(page).getByRole("region", { name: "Will be deleted" }).getByText("new.ts").waitFor();
        await dialog(page).getByRole("region", { name: "Will come back" }).getByText("b.ts").waitFor();
        await dialog(page).getByText("The present files are saved first, and you can undo this.").waitFor();
        // what deletes looks dangerous, and a reader is told so
        await expect.poll(() => dialog(page).getAttribute("role")).toBe("alertdialog");
        await expectRed(dialog(page).getByRole("button", { name: /^Restore 3 files/ }));
        expectTree(project, THIRD);
        await goBack({
          project,
          hand,
          confirm: /^Restore 3 files/,
          says: /^Restored 3 files to before “Use idempotency keys”\./,
          check: () => expectTree(project, FIRST),
        });
        await row(page, "Restored to before").first().waitFor();
      },
      { files: FILES },
    )(),
  );

  test.each(HANDS)("[S5] Escape leaves everything as it is, by %s", (kind) =>
    shown(
      twoTurns,
      async ({ page, project }) => {
        const hand = new Hand(page, kind);
        await hand.select("Use idempotency keys");
        await hand.open("b", /^Restore to before this/);
        await dialog(page)
          .getByRole("button", { name: /^Restore 3 files/ })
          .waitFor();
        if (kind === "mouse") await dialog(page).getByRole("button", { name: "Cancel" }).click();
        else await page.keyboard.press("Escape");
        await dialog(page).waitFor({ state: "detached" });
        expectTree(project, THIRD);
      },
      { files: FILES },
    )(),
  );

  test.each(HANDS)("[S5] files that are left out stay, and files made since can be kept, by %s", (kind) =>
    shown(
      twoTurns,
      async ({ page, project }) => {
        const hand = new Hand(page, kind);
        await hand.select("Add retry with backoff");
        await hand.open("b", /^Restore to before this/);
        await hand.tick(dialog(page).getByRole("checkbox", { name: "src/a.ts" }));
        await dialog(page)
          .getByRole("button", { name: /^Restore 2 files/ })
          .waitFor();
        await hand.tick(dialog(page).getByRole("radio", { name: "Keep files made since" }));
        await goBack({
          project,
          hand,
          confirm: /^Restore 1 file/,
          says: /^Restored 1 file/,
          check: () => expectTree(project, { ...THIRD, "src/b.ts": FIRST["src/b.ts"] }),
        });
      },
      { files: FILES },
    )(),
  );

  test.each(HANDS)("[S5, L32] the first five files of a group, then the rest, by %s", (kind) =>
    shown(
      async (project) => {
        const agent = await Agent.start(project);
        const names = Array.from({ length: 12 }, (_, index) => `made/${index}.txt`);
        await agent.turn("Make many", Object.fromEntries(names.map((name) => [name, `${name}\n`])));
      },
      async ({ page, project }) => {
        const hand = new Hand(page, kind);
        await hand.select("Make many");
        await hand.open("b", /^Restore to before this/);
        const group = dialog(page).getByRole("region", { name: "Will be deleted" });
        await group.getByRole("button", { name: "…and 7 more" }).waitFor();
        await expect.poll(() => group.getByRole("checkbox", { name: /^made/ }).count()).toBe(5);
        await goBack({ project, hand, confirm: /^Restore 12 files/, says: /^Restored 12 files/ });
      },
      { files: FILES },
    )(),
  );

  test.each(HANDS)("[S5] another agent's work is left alone unless it is taken back too, by %s", (kind) =>
    shown(
      async (project) => {
        const [claude, codex] = [await Agent.start(project), await Agent.start(project, "codex", "Docs")];
        await claude.turn("Change a", { "src/a.ts": "export const a = 2;\n" });
        await codex.turn("Write docs", { "docs.md": "docs\n" });
      },
      async ({ page, project }) => {
        const hand = new Hand(page, kind);
        await hand.select("Change a");
        await hand.open("b", /^Restore to before this/);
        await dialog(page).getByText("Codex’s work, left alone").waitFor();
        await goBack({
          project,
          hand,
          confirm: /^Restore 1 file/,
          says: /Codex’s 1 file was left alone\.$/,
          check: () => expectTree(project, { "src/a.ts": FIRST["src/a.ts"], "docs.md": "docs\n" }),
        });
        await hand.select("Claude Code, Change a");
        await hand.open("b", /^Restore to before this/);
        await hand.press(dialog(page).getByRole("button", { name: "Take back too" }));
        await goBack({
          project,
          hand,
          confirm: /^Restore 2 files/,
          says: /^Restored 2 files/,
          check: () => expectTree(project, { "src/a.ts": FIRST["src/a.ts"], "docs.md": undefined }),
        });
      },
      { files: FILES },
    )(),
  );

  test.each(HANDS)(
    "[S5, R1939] of a file that two agents changed, the way that keeps both is named, by %s",
    (kind) =>
      shown(
        async (project) => {
          const [claude, codex] = [await Agent.start(project), await Agent.start(project, "codex", "Docs")];
          await claude.turn("Change a", { "src/a.ts": "export const a = 2;\n" });
          await codex.turn("Change a too", { "src/a.ts": "export const a = 2;\nexport const codex = 1;\n" });
        },
        async ({ page, project }) => {
          const hand = new Hand(page, kind);
          const before = treeOf(project);
          await hand.select("Claude Code, Change a,");
          await hand.open("b", /^Restore to before this/);
          await dialog(page)
            .getByRole("region", { name: "Will change" })
            .getByText("Codex too", { exact: true })
            .waitFor();
          await dialog(page).getByText("Undo only this keeps Codex’s lines.").waitFor();
          await page.keyboard.press("Escape");
          await dialog(page).waitFor({ state: "detached" });
          expect(treeOf(project)).toEqual(before);
        },
        { files: FILES },
      )(),
  );

  test.each(HANDS)("[S6, M27, Y69] restore one file of a turn, by %s", (kind) =>
    shown(
      twoTurns,
      async ({ page, project }) => {
        const hand = new Hand(page, kind);
        await hand.select("Add retry with backoff");
        await hand.press(page.getByRole("button", { name: "Undo this file… src/b.ts" }));
        await goBack({
          project,
          hand,
          confirm: /^Restore 1 file/,
          says: /^Restored 1 file/,
          check: () => expectTree(project, { ...THIRD, "src/b.ts": FIRST["src/b.ts"] }),
        });
      },
      { files: FILES },
    )(),
  );

  test.each(HANDS)("[S6, Y69] undo one hunk of a turn, and keep the other, by %s", (kind) => {
    const lines = Array.from({ length: 40 }, (_, index) => `line ${index}`);
    const text = (changed: Readonly<Record<number, string>>) =>
      lines.map((line, index) => `${changed[index] ?? line}\n`).join("");
    return shown(
      async (project) => {
        const agent = await Agent.start(project);
        await agent.turn("Change two places", { "long.txt": text({ 2: "two!", 35: "thirty-five!" }) });
      },
      async ({ page, project }) => {
        const hand = new Hand(page, kind);
        await hand.select("Change two places");
        await hand.open("R", /^Undo only this/);
        const second = dialog(page).getByRole("checkbox", { name: "Hunk 2 of 2" });
        await hand.tick(second);
        await expect.poll(() => second.isChecked()).toBe(false);
        await goBack({
          project,
          hand,
          confirm: /^Undo 1 file/,
          says: /^Undid only/,
          check: () => expectTree(project, { "long.txt": text({ 35: "thirty-five!" }) }),
        });
      },
      { files: { "long.txt": text({}) } },
    )();
  });

  test.each(HANDS)(
    "[S6, S8] a hunk of what is pending is ticked off, or goes back to what was approved, by %s",
    (kind) => {
      const lines = Array.from({ length: 40 }, (_, index) => `line ${index}`);
      const text = (changed: Readonly<Record<number, string>>) =>
        lines.map((line, index) => `${changed[index] ?? line}\n`).join("");
      return shown(
        async (project) => {
          const agent = await Agent.start(project);
          await agent.turn("Change one place", { "long.txt": text({ 20: "twenty!" }) });
          await project.ok("POST", `/api/threads/${agent.id}/approve`, {});
          await agent.turn("Change two places", {
            "long.txt": text({ 2: "two!", 20: "twenty!", 35: "thirty-five!" }),
          });
        },
        async ({ page, project }) => {
          const hand = new Hand(page, kind);
          await row(page, "Change two places").waitFor();
          await hand.use("p", page.getByRole("link", { name: /^Pending/ }));
          const card = page.getByRole("region", { name: "Payment retries" });
          await hand.press(card.getByRole("button", { name: /long\.txt/ }));
          await hand.tick(card.getByRole("checkbox", { name: "Seen hunk 2 of long.txt" }));
          await card.getByText("1 of 2 hunks seen").waitFor();
          await hand.tick(card.getByRole("checkbox", { name: "Seen hunk 1 of long.txt" }));
          await expect
            .poll(() => card.getByRole("checkbox", { name: "Seen long.txt", exact: true }).isChecked())
            .toBe(true);
          await hand.press(card.getByRole("button", { name: "Undo this hunk… hunk 1 of long.txt" }));
          await goBack({
            project,
            hand,
            confirm: /^Restore 1 file/,
            says: /^Restored 1 file to what was approved/,
            check: () => expectTree(project, { "long.txt": text({ 20: "twenty!", 35: "thirty-five!" }) }),
          });
        },
        { files: { "long.txt": text({}) } },
      )();
    },
  );

  test.each(HANDS)("[S9, A19, A37] reset to what was approved, and back, by %s", (kind) =>
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
        const hand = new Hand(page, kind);
        await row(page, "Change a again").waitFor();
        await hand.use("p", page.getByRole("link", { name: /^Pending/ }));
        const reset = page.getByRole("button", { name: "Reset… Payment retries" });
        await expect.poll(() => reset.getAttribute("aria-disabled")).toBe("false");
        if (kind === "mouse") await reset.click();
        else {
          await hand.reach(reset);
          await page.keyboard.press("X");
        }
        await goBack({
          project,
          hand,
          confirm: /^Reset 2 files/,
          says: /^Reset 2 files/,
          check: () =>
            expectTree(project, {
              "src/a.ts": "export const a = 2;\n",
              "src/new.ts": undefined,
              "docs.md": "docs\n",
            }),
        });
      },
      { files: FILES },
    )(),
  );

  test.each(HANDS)(
    "[A40, L10, L29, L30, Y17, Y66] go back from the conversation, only where something changed, by %s",
    (kind) =>
      shown(
        async (project) => {
          const agent = await Agent.start(project);
          await agent.turn("Only talk");
          await agent.turn("Change a", { "src/a.ts": "export const a = 2;\n" });
        },
        async ({ page, project }) => {
          const hand = new Hand(page, kind);
          await hand.press(page.getByRole("link", { name: "Threads" }));
          await hand.press(page.getByRole("button", { name: /^Payment retries/ }));
          const prompts = page.getByRole("article", { name: /^Prompt/ });
          await expect.poll(() => prompts.count()).toBe(2);
          const badge = page.getByRole("button", { name: /^Restore… to before/ });
          await badge.waitFor();
          await expect.poll(() => badge.count()).toBe(1);
          await expect
            .poll(() => badge.getAttribute("title"))
            .toBe("Undo all changes from this point onwards");
          // at the bottom right of the prompt that changed something, which is as wide as the conversation
          const prompt = page.getByRole("article").filter({ has: badge });
          await prompt.getByText("Change a").waitFor();
          const [around, button] = [(await prompt.boundingBox())!, (await badge.boundingBox())!];
          expect(around.width).toBe((await prompt.locator("..").boundingBox())!.width);
          expect(around.x + around.width - button.x - button.width).toBeLessThan(32);
          expect(around.y + around.height - button.y - button.height).toBeLessThan(20);
          // quiet at rest, never invisible; plain under the pointer and with the focus
          const opacity = () => badge.evaluate((element) => Number(getComputedStyle(element).opacity));
          await page.mouse.move(0, 0);
          await expect.poll(opacity).toBe(0.85);
          if (kind === "mouse") await badge.hover();
          else await hand.reach(badge);
          await expect.poll(opacity).toBe(1);
          await hand.press(badge);
          await goBack({
            project,
            hand,
            confirm: /^Restore 1 file/,
            says: /^Restored 1 file to before “Change a”\./,
            check: () => expectTree(project, { "src/a.ts": FIRST["src/a.ts"] }),
          });
        },
        { files: FILES },
      )(),
  );

  test.each(HANDS)("[A41] an agent's tool call makes its own checkpoints: no button does, by %s", (kind) =>
    shown(
      async (project) => {
        const agent = await Agent.start(project);
        await agent.prompt("Change a");
        await agent.writes({ "src/a.ts": "export const a = 2;\n" });
      },
      async ({ page, project }) => {
        const hand = new Hand(page, kind);
        // the way back is there as soon as the first file changed, while the agent still works
        await hand.select("Change a");
        await row(page, "Change a").getByText("working").waitFor();
        const count = async () => (await project.ok("GET", "/api/checkpoints?limit=1000")).checkpoints.length;
        const before = await count();
        await hand.press(page.getByRole("tab", { name: /^Steps/ }));
        await page.getByText("src/a.ts").first().waitFor();
        await expect.poll(count).toBe(before);
        await hand.open("b", /^Restore to before this/);
        await dialog(page).getByText("Claude Code is working right now.").waitFor();
        await goBack({
          project,
          hand,
          confirm: /^Restore 1 file/,
          says: /^Restored 1 file/,
          check: () => expectTree(project, { "src/a.ts": FIRST["src/a.ts"] }),
        });
        await expect.poll(() => toast(page).count()).toBe(1);
        verifyStore(project);
      },
      { files: FILES },
    )(),
  );
});
