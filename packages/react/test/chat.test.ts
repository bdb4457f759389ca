/** The reference document's own flows, in the example's chat: a host that is not ours, against a real process. */
import { afterAll, describe, expect, test } from "vitest";
import { CHROMIUM, closeBrowser } from "../../web/test/support/browser.ts";
import { expectRed } from "../../web/test/support/red.ts";
import { chatting, REACTS, removePages } from "./support/chat.ts";

afterAll(async () => {
  await closeBrowser();
  removePages();
});

const FIRST = { "app.txt": "the first version\n", "src/lib.ts": "export const lib = 1;\n" };
const SECOND = { ...FIRST, "app.txt": "the second version\n", "made.txt": "new\n" };
const WRITES = "write app.txt the second version; write made.txt new";

describe.skipIf(CHROMIUM === undefined)("a chat with checkpoints", () => {
  test.each(REACTS)(
    "[L05, L06, L24, L28, A40, Y64] goes back to before a message, and forth, under %s",
    (react) =>
      chatting(
        async ({ chat, page, project }) => {
          await chat.send(WRITES);
          await chat.send("write later.txt made by the next answer");
          await page.getByText("The app, shown 1 times").waitFor();
          await chat.ask(WRITES);
          await chat.dialog.getByText(`Go back to before “${WRITES}”`).waitFor();
          await chat.dialog.getByText("3 files change, 2 of them are deleted.").waitFor();
          expect(project.tree()).toEqual({ ...SECOND, "later.txt": "made by the next answer\n" });
          await chat.confirm(/^Restore 3 files/);
          expect(project.tree()).toEqual(FIRST);
          await page.getByText("The app, shown 2 times").waitFor();
          await page.getByText("app.txt: the first version").waitFor();
          await chat.toast.getByText(`Restored 3 files to before “${WRITES}”.`).waitFor();
          await chat.toast.getByRole("button", { name: "Undo" }).click();
          await chat.confirm(/^Undo 3 files/);
          expect(project.tree()).toEqual({ ...SECOND, "later.txt": "made by the next answer\n" });
          chat.verifyStore();
        },
        { react },
      )(),
  );

  test("[L10, L27, L29, L30] the badge is at the bottom right of a message that changed something, and of no other", () =>
    chatting(async ({ chat, page }) => {
      await chat.send(WRITES);
      await chat.send("only words");
      await chat.badge(WRITES).waitFor();
      await expect.poll(() => chat.badge("only words").count()).toBe(0);
      await expect
        .poll(() => chat.badge(WRITES).getAttribute("title"))
        .toBe("Undo all changes from this point onwards");
      const [message, badge] = [
        await chat.message(WRITES).boundingBox(),
        await chat.badge(WRITES).boundingBox(),
      ];
      const list = await page.getByRole("list", { name: "Chat" }).boundingBox();
      expect(message!.width).toBe(list!.width);
      expect(message!.x + message!.width - (badge!.x + badge!.width)).toBeLessThan(16);
      expect(message!.y + message!.height - (badge!.y + badge!.height)).toBeLessThan(16);
      const opacity = () =>
        chat
          .badge(WRITES)
          .evaluate((element) => (globalThis as any).getComputedStyle(element).opacity as string);
      await page.mouse.move(0, 0);
      await expect.poll(opacity).toBe("0");
      await chat.message(WRITES).hover();
      await expect.poll(opacity).toBe("1");
      await page.mouse.move(0, 0);
      await chat.badge(WRITES).focus();
      await page.keyboard.press("Shift+Tab");
      await page.keyboard.press("Tab");
      await expect.poll(opacity).toBe("1");
    })());

  test("[L27] an answer that ends with an error is looked at too: what it changed can be taken back", () =>
    chatting(
      async ({ chat, project }) => {
        await chat.send("write half.txt done; fail", "error");
        expect(project.read("half.txt")).toBe("done\n");
        await chat.ask("write half.txt");
        await chat.confirm(/^Restore 1 file/);
        expect(project.tree()).toEqual(FIRST);
      },
      { expected: /ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_CONNECTION/ },
    )());

  test("[L31] Escape and Cancel leave everything as it is; the dialog is red where files are deleted", () =>
    chatting(async ({ chat, page, project }) => {
      await chat.send(WRITES);
      await chat.ask(WRITES);
      await expect.poll(() => chat.dialog.getAttribute("role")).toBe("alertdialog");
      await chat.dialog.getByText("The present files are saved first, and you can undo this.").waitFor();
      await expectRed(chat.dialog.getByRole("button", { name: /^Restore 2/ }));
      await page.keyboard.press("Escape");
      await chat.dialog.waitFor({ state: "detached" });
      await chat.ask(WRITES);
      await chat.dialog.getByRole("button", { name: /^Cancel/ }).click();
      await chat.dialog.waitFor({ state: "detached" });
      expect(project.tree()).toEqual(SECOND);
    })());

  test("[M31, Y17] the conversation goes back without the files, or with them", () =>
    chatting(async ({ chat, project }) => {
      await chat.send("write app.txt the second version");
      await chat.send("write made.txt new");
      const rolledBack = async () => {
        const { threads } = await project.ok("GET", "/api/threads");
        const { messages } = await project.ok("GET", `/api/threads/${threads[0].id}/messages`);
        return messages.filter((message: any) => message.rolledBack).map(({ content }: any) => content);
      };
      await chat.ask("write made.txt");
      await chat.dialog.getByRole("button", { name: "Conversation" }).click();
      await chat.dialog.getByText("No file changes.").waitFor();
      await chat.confirm(/^Go back in the conversation/);
      expect(project.tree()).toEqual(SECOND);
      await expect.poll(rolledBack).toEqual(["write made.txt new"]);
      await expect.poll(() => chat.message("write made.txt").getAttribute("class")).toContain("host-gone");
      await expect.poll(() => chat.message("write app.txt").getAttribute("class")).not.toContain("host-gone");
      await chat.ask("write app.txt");
      await chat.dialog.getByRole("button", { name: "Both" }).click();
      await chat.confirm(/^Restore 2 files/);
      expect(project.tree()).toEqual(FIRST);
      expect((await rolledBack()).toSorted()).toEqual([
        "write app.txt the second version",
        "write made.txt new",
      ]);
      await expect.poll(() => chat.message("write app.txt").getAttribute("class")).toContain("host-gone");
      chat.verifyStore();
    })());

  test("[L21, L24, L28, L30] the host can restore by itself: the preview asks, and nothing in it can be left out", () =>
    chatting(async ({ chat, page, project }) => {
      await chat.send(WRITES);
      await page.getByLabel("The chat restores by itself").check();
      await chat.ask(WRITES);
      await chat.dialog.getByText("2 files change").waitFor();
      await expect.poll(() => chat.dialog.locator("input").count()).toBe(0);
      await chat.confirm(/^Restore 2 files/);
      await chat.status.getByText(`Restored 1, deleted 1, ${FIRST["app.txt"].length} bytes`).waitFor();
      expect(project.tree()).toEqual(FIRST);
      await page.getByText("The app, shown 2 times").waitFor();
    })());

  test("[L22, L24] older checkpoints of a conversation are dropped, and can be brought back", () =>
    chatting(async ({ chat, page, project }) => {
      for (const word of ["one", "two", "three"]) await chat.send(`write app.txt ${word}`);
      await chat.status.getByText("3 checkpoints").waitFor();
      await page.getByRole("button", { name: "Keep only the last checkpoint" }).click();
      await chat.status.getByText("Dropped 2").waitFor();
      await chat.status.getByText("1 checkpoints").waitFor();
      await expect.poll(() => chat.badge("write app.txt one").count()).toBe(0);
      await chat.badge("write app.txt three").waitFor();
      expect((await project.ok("POST", "/api/prune/undo", {})).restoredTotal).toBe(2);
      chat.verifyStore();
    })());

  test("[L24] without an app in focus nothing is asked and nothing is captured", () =>
    chatting(async ({ chat, page, project }) => {
      await page.getByLabel("The app is in focus").uncheck();
      await chat.send(WRITES);
      await chat.status.getByText("nothing is captured").waitFor();
      expect((await project.ok("GET", "/api/threads")).threads).toEqual([]);
      await expect.poll(() => chat.badge(WRITES).count()).toBe(0);
    })());

  test("[L26] a conversation has its id before its first message, which has a checkpoint", () =>
    chatting(async ({ chat, project }) => {
      await chat.send("only words");
      await chat.status.getByText("1 checkpoints").waitFor();
      const { threads } = await project.ok("GET", "/api/threads");
      expect(threads).toHaveLength(1);
      expect(threads[0].externalId).toMatch(/^[\da-f-]{36}$/);
      const { checkpoints } = await project.ok(
        "GET",
        `/api/threads/${threads[0].id}/checkpoints?kind=message`,
      );
      expect(checkpoints).toHaveLength(1);
    })());
});

/** What Chromium itself says about a request that was refused or never answered. */
const REFUSED = /Failed to load resource|ERR_/;

describe.skipIf(CHROMIUM === undefined)("when Belay is in trouble", () => {
  test("[L25] a message goes out although the process is gone, and the chat says that it was not captured", () =>
    chatting(
      async ({ chat, page, project }) => {
        await chat.send("write app.txt the second version");
        await chat.badge("write app.txt").waitFor();
        await project.kill();
        await chat.send("write made.txt new");
        expect(project.tree()).toEqual(SECOND);
        await page.getByRole("alert").getByText("Belay does not answer.").first().waitFor();
        await expect.poll(() => chat.badge("write made.txt").count()).toBe(0);
        await chat.ask("write app.txt");
        await chat.dialog.getByText("Belay does not answer.").waitFor();
        await page.keyboard.press("Escape");
        expect(project.tree()).toEqual(SECOND);
      },
      { expected: REFUSED },
    )());

  test("[L25] a key that was ended keeps no message back, and the chat says why nothing is captured", () =>
    chatting(
      async ({ chat, page, project }) => {
        await chat.send("write app.txt the second version");
        const { pages } = await project.ok("GET", "/api/pages");
        await project.ok("DELETE", `/api/pages/${pages[0].id}`);
        await chat.send("write made.txt new");
        expect(project.tree()).toEqual(SECOND);
        await page.getByRole("alert").getByText("This page was ended from another page.").first().waitFor();
        const { threads } = await project.ok("GET", "/api/threads");
        const { messages } = await project.ok("GET", `/api/threads/${threads[0].id}/messages`);
        expect(messages.map(({ content }: any) => content)).toEqual(["write app.txt the second version"]);
      },
      { expected: REFUSED },
    )());

  test("an agent that writes between preview and confirm: nothing is restored before the new preview is confirmed", () =>
    chatting(
      async ({ chat, project }) => {
        await chat.send(WRITES);
        await chat.ask(WRITES);
        await chat.dialog.getByText("2 files change").waitFor();
        project.write("meanwhile.txt", "written\n");
        await chat.dialog.getByRole("button", { name: /^Restore 2 files/ }).click();
        await chat.dialog.getByText("The files changed since this preview.").waitFor();
        expect(project.tree()).toEqual({ ...SECOND, "meanwhile.txt": "written\n" });
        await chat.dialog.getByRole("button", { name: "Show the new preview" }).click();
        await chat.confirm(/^Restore 3 files/);
        expect(project.tree()).toEqual(FIRST);
      },
      { expected: REFUSED },
    )());
});
