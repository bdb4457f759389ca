/** Conflicts in the page, decided by mouse and again by keyboard alone: of an undo, and of a merge of branches. */
import { afterAll, describe, expect, test } from "vitest";
import type { Page } from "playwright-core";
import type { ServedProject } from "../../server/test/support/served-project.ts";
import { Agent } from "./support/agent.ts";
import { branchWith, merge } from "./support/branches.ts";
import { CHROMIUM, closeBrowser, shown } from "./support/browser.ts";
import { expectTree, treeOf, verifyStore } from "./support/going-back.ts";
import { dialog, Hand, HANDS, row, toast } from "./support/hand.ts";

afterAll(closeBrowser);

const LINES = Array.from({ length: 12 }, (_, at) => `export const v${at} = ${at};`);
const text = (changes: Readonly<Record<number, string>> = {}) =>
  `${LINES.map((line, at) => changes[at] ?? line).join("\n")}\n`;
const FILES = {
  "src/client.ts": text(),
  "src/config.ts": text(),
  "src/free.ts": text(),
  "README.md": "# Me\n",
};

/** A turn, and a hand edit on the same lines of two of its three files. */
async function turnAndHand(project: ServedProject): Promise<void> {
  const agent = await Agent.start(project);
  await agent.turn("Add retry", {
    "src/client.ts": text({ 3: "export const v3 = retry();" }),
    "src/config.ts": text({ 4: "export const v4 = budget();" }),
    "src/free.ts": text({ 5: "export const v5 = free();" }),
  });
  project.write("src/client.ts", text({ 3: "export const v3 = mine();" }));
  project.write("src/config.ts", text({ 4: "export const v4 = mine();" }));
  await project.ok("POST", "/api/checkpoints", { name: "Mine" });
}

/** A turn that put the list into another one, which a hand edit then closed earlier. */
async function nestedList(project: ServedProject): Promise<void> {
  const agent = await Agent.start(project);
  await agent.turn("Add retry", { "list.json": "[[\n1,\n2,\n3,\n4\n]]\n" });
  project.write("list.json", "[[\n1,\n2],\n3,\n4\n]\n");
  await project.ok("POST", "/api/checkpoints", { name: "Mine" });
}

/** Two places and a second file that both sides changed, and one that only the branch has. */
async function twoBranches(project: ServedProject): Promise<void> {
  await branchWith(project, "idea", {
    "src/client.ts": text({ 1: "export const v1 = idea();", 9: "export const v9 = idea();" }),
    "src/config.ts": text({ 4: "export const v4 = idea();" }),
    "src/made.ts": "export const made = true;\n",
  });
  project.write("src/client.ts", text({ 1: "export const v1 = here();", 9: "export const v9 = here();" }));
  project.write("src/config.ts", text({ 4: "export const v4 = here();" }));
}

/** As the turn left it, and changed by hand in another line. */
const FREE = text({ 5: "export const v5 = free();", 11: "export const v11 = mine();" });

/** The browser itself notes the refusal that leads to the conflicts. */
const REFUSED = /status of 409/;

const files = (page: Page) => page.getByRole("navigation", { name: "Files" });
const file = (page: Page, path: string) => files(page).getByRole("button", { name: path });
const button = (page: Page, name: RegExp) => page.getByRole("button", { name });

/** Chooses an option: by its card, or by its number. */
async function choose(hand: Hand, number: number, words: string): Promise<void> {
  const card = hand.page.locator("input[name=decision]").and(hand.page.getByRole("radio", { name: words }));
  await card.waitFor();
  if (hand.kind === "mouse") await card.click();
  else {
    await hand.reach(hand.page.getByRole("region", { name: "Decision" }));
    await hand.page.keyboard.press(String(number));
  }
  await expect.poll(() => card.isChecked()).toBe(true);
}

async function expectChosen(page: Page, words: string): Promise<void> {
  const card = page.locator("input[name=decision]").and(page.getByRole("radio", { name: words }));
  await card.waitFor();
  await expect.poll(() => card.isChecked()).toBe(true);
}

/** Takes what is chosen, once its result is there. */
async function use(hand: Hand): Promise<void> {
  const take = button(hand.page, /^Use this/);
  await expect.poll(() => take.getAttribute("aria-disabled")).toBe("false");
  if (hand.kind === "mouse") return take.click();
  await hand.reach(hand.page.getByRole("region", { name: "Decision" }));
  await hand.page.keyboard.press("Enter");
}

/** The one button that writes. */
async function apply(hand: Hand, words: RegExp): Promise<void> {
  const act = button(hand.page, words);
  await expect.poll(() => act.getAttribute("aria-disabled")).toBe("false");
  if (hand.kind === "mouse") return act.click();
  await hand.reach(hand.page.getByRole("region", { name: "Decision" }));
  await hand.page.keyboard.press("Control+Enter");
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

/** From the refusal of an undo to the view in which its conflicts are decided. */
async function toDecide(hand: Hand, refused = "2 of 3 files were changed since."): Promise<void> {
  const { page } = hand;
  await row(page, "Add retry").first().waitFor();
  await hand.open("u", /^Undo Add retry/);
  const undo = dialog(page).getByRole("button", { name: /^Undo \d files?/ });
  await expect.poll(() => undo.getAttribute("aria-disabled")).toBe("false");
  if (hand.kind === "mouse") await undo.click();
  else await page.keyboard.press("Control+Enter");
  await dialog(page).getByText(refused).waitFor();
  await hand.press(dialog(page).getByRole("button", { name: "Decide…" }));
  await page.waitForURL(/\/conflicts\/undo/);
}

describe.skipIf(CHROMIUM === undefined)("conflicts", { timeout: 90_000 }, () => {
  test.each(HANDS)("[S10, M46] an undo: each file decided, applied as one step, taken back, by %s", (kind) =>
    shown(
      turnAndHand,
      async ({ page, project }) => {
        const hand = new Hand(page, kind);
        const before = treeOf(project);
        await toDecide(hand);
        await page.getByRole("heading", { name: "src/client.ts, line 4" }).waitFor();
        expect(await page.getByRole("article", { name: "On disk now" }).innerText()).toContain("mine()");
        expect(await page.getByRole("article", { name: "After the undo" }).innerText()).toContain("v3 = 3;");
        await files(page).getByText("0 of 2 done").waitFor();
        await choose(hand, 2, "Take the undo");
        await page.getByRole("article", { name: "Result" }).getByText("take the undo, compared").waitFor();
        await use(hand);
        await page.getByRole("heading", { name: "src/config.ts, line 5" }).waitFor();
        await choose(hand, 3, "Write it yourself");
        await hand.write(page.getByRole("textbox", { name: "The text of src/config.ts" }), "export {};\n");
        await use(hand);
        await page.getByRole("heading", { name: /^Everything is decided\. 3 files would change/ }).waitFor();
        // a decision can be taken up again, and nothing was written by any of this
        expect(treeOf(project)).toEqual(before);
        await hand.press(file(page, "client.ts"));
        await hand.press(button(page, /^Decide again/));
        await choose(hand, 1, "Keep what is on disk");
        await use(hand);
        await page.getByRole("heading", { name: /2 files would change/ }).waitFor();
        await apply(hand, /^Undo 2 files/);
        await toast(page)
          .getByText(/^Undid “Add retry”: 2 files\./)
          .waitFor();
        expectTree(project, {
          "src/client.ts": text({ 3: "export const v3 = mine();" }),
          "src/config.ts": "export {};\n",
          "src/free.ts": text(),
        });
        verifyStore(project);
        await takeBack(hand, project, before);
      },
      { files: FILES, expected: REFUSED },
    )(),
  );

  test("[R1910] a merge that would not parse says so, and can be taken as it is", () =>
    shown(
      nestedList,
      async ({ page, project }) => {
        const hand = new Hand(page, "keyboard");
        await toDecide(hand, "1 of 1 file was changed since.");
        await page.getByText("The merge would not parse.").waitFor();
        await choose(hand, 3, "Take the merge by lines");
        await use(hand);
        await apply(hand, /^Undo 1 file/);
        await toast(page)
          .getByText(/^Undid “Add retry”: 1 file\./)
          .waitFor();
        expectTree(project, { "list.json": "[\n1,\n2],\n3,\n4\n]\n" });
        verifyStore(project);
      },
      { files: { "list.json": "[\n1,\n2,\n3,\n4\n]\n" }, expected: REFUSED },
    )());

  test("[S10, R820] leaving changes nothing; coming back goes on, but not on other lines", () =>
    shown(
      turnAndHand,
      async ({ page, project }) => {
        const hand = new Hand(page, "keyboard");
        await toDecide(hand);
        await choose(hand, 1, "Keep what is on disk");
        await use(hand);
        await files(page).getByText("1 of 2 done").waitFor();
        const before = treeOf(project);
        await page.keyboard.press("Escape");
        await row(page, "Add retry").first().waitFor();
        expect(treeOf(project)).toEqual(before);
        await toDecide(hand);
        await files(page).getByText("1 of 2 done").waitFor();
        // the decided lines change: the decision was about others
        project.write("src/client.ts", text({ 3: "export const v3 = another();" }));
        await project.ok("POST", "/api/checkpoints", { name: "Another" });
        await files(page).getByText("0 of 2 done").waitFor();
        await page.getByRole("article", { name: "On disk now" }).getByText("another()").waitFor();
        verifyStore(project);
      },
      { files: FILES, expected: REFUSED },
    )());

  test.each(HANDS)("[S10, M46, M47] a merge: place by place, by file, continued, taken back, by %s", (kind) =>
    shown(
      twoBranches,
      async ({ page, project }) => {
        const id = await merge(project, "idea");
        const before = treeOf(project);
        const hand = new Hand(page, kind);
        await hand.press(page.getByRole("link", { name: /^Conflicts/ }));
        await page.waitForURL(new RegExp(`/conflicts/${id}`));
        await files(page).getByText("0 of 2 done").waitFor();
        await page.getByRole("heading", { name: /^src\/client\.ts/ }).waitFor();
        await hand.press(button(page, /^Show what was before/));
        await page.getByRole("article", { name: "Before both" }).first().getByText("v1 = 1;").waitFor();
        const place = (at: number) => page.getByRole("region", { name: `Place ${at} of 2` });
        await region(hand, place(1).getByRole("radio", { name: "Take idea" }));
        await page.getByText("Choose for the other places too.").waitFor();
        await region(hand, place(2).getByRole("radio", { name: "Both" }));
        await use(hand);
        await page.getByRole("heading", { name: /^src\/config\.ts/ }).waitFor();
        await choose(hand, 1, "Keep what is on disk");
        await use(hand);
        await page.getByRole("heading", { name: /0 by the merger, 2 by you/ }).waitFor();
        await page.getByRole("region", { name: "Will be added" }).getByText("made.ts").waitFor();
        expect(treeOf(project)).toEqual(before);
        await apply(hand, /^Merge 2 files/);
        await toast(page).getByText("Merged “idea” into main: 2 files.").waitFor();
        expectTree(project, {
          "src/client.ts": text({
            1: "export const v1 = idea();",
            9: "export const v9 = here();\nexport const v9 = idea();",
          }),
          "src/config.ts": text({ 4: "export const v4 = here();" }),
          "src/made.ts": "export const made = true;\n",
        });
        verifyStore(project);
        await page.getByRole("heading", { name: "“idea” is in main." }).waitFor();
        await takeBack(hand, project, before);
      },
      { files: FILES },
    )(),
  );

  test("[S10, R829] an undo: what was tried can be used while it is tried again on newer files", () =>
    shown(
      turnAndHand,
      async ({ page, project }) => {
        const hand = new Hand(page, "mouse");
        const before = treeOf(project);
        await toDecide(hand);
        await choose(hand, 2, "Take the undo");
        await page.getByRole("article", { name: "Result" }).getByText("take the undo, compared").waitFor();
        await held(page, { project, path: "/api/plans", words: '"decisions"' });
        await use(hand);
        await page.getByRole("heading", { name: "src/config.ts, line 5" }).waitFor();
        expect(treeOf(project)).toEqual(before);
      },
      { files: FILES, expected: REFUSED },
    )());

  test("[S10, R829] a merge: its plan can be applied while it is made again", () =>
    shown(
      twoBranches,
      async ({ page, project }) => {
        const id = await merge(project, "idea");
        const { conflicts } = (await project.ok("GET", `/api/merges/${id}`)).merge;
        for (const conflict of conflicts)
          await project.ok("POST", `/api/conflicts/${conflict.id}/resolve`, { take: "theirs" });
        const hand = new Hand(page, "mouse");
        await hand.press(page.getByRole("link", { name: /^Conflicts/ }));
        await page.getByRole("heading", { name: /0 by the merger, 2 by you/ }).waitFor();
        await button(page, /^Merge 3 files/).waitFor();
        await held(page, { project, path: `/api/merges/${id}/continue` });
        // while it is applied, an answer from before comes late: there is nothing left to plan
        const late = Promise.withResolvers<void>();
        let planned = 0;
        page.on("request", (request) => (planned += request.url().includes("/continue") ? 1 : 0));
        await page.route(
          (url) => url.pathname === `/api/merges/${id}`,
          async (route) => {
            const response = await route.fetch();
            await late.promise;
            await route.fulfill({ response });
          },
          { times: 1 },
        );
        await page.route(
          (url) => url.pathname === `/api/merges/${id}/apply`,
          async (route) => {
            const came = page.waitForResponse((response) => response.url().includes(`/api/merges/${id}?`));
            late.resolve();
            await came;
            await page.evaluate("new Promise((next) => requestAnimationFrame(() => setTimeout(next, 100)))");
            await route.continue();
          },
        );
        const asked = page.waitForRequest((request) => request.url().includes(`/api/merges/${id}?`));
        await project.ok("PUT", "/api/checkpoints/@", { note: "Something else happened" });
        await asked;
        await apply(hand, /^Merge 3 files/);
        await toast(page).getByText("Merged “idea” into main: 3 files.").waitFor();
        expect(planned).toBe(0);
        verifyStore(project);
      },
      { files: FILES },
    )());

  test.each(HANDS)(
    "[S10, R1930] an undo: what was merged by lines is opened and had otherwise, by %s",
    (kind) =>
      shown(
        async (project) => {
          await turnAndHand(project);
          project.write("src/free.ts", FREE);
          await project.ok("POST", "/api/checkpoints", { name: "Beside it" });
        },
        async ({ page, project }) => {
          const hand = new Hand(page, kind);
          const before = treeOf(project);
          await toDecide(hand);
          await page
            .getByText(/^You changed these lines at \d+:\d+, after the turn that is to be undone\.$/)
            .waitFor();
          await choose(hand, 1, "Keep what is on disk");
          await use(hand);
          await page.getByRole("heading", { name: "src/config.ts, line 5" }).waitFor();
          await choose(hand, 1, "Keep what is on disk");
          await use(hand);
          await page.getByRole("heading", { name: /1 file would change/ }).waitFor();
          await hand.press(file(page, "free.ts"));
          await page.getByRole("heading", { name: "src/free.ts" }).waitFor();
          await expectChosen(page, "Keep it as merged");
          const result = page.getByRole("article", { name: "Result" });
          await result.getByText("v5 = free();").waitFor();
          await choose(hand, 2, "Take the undo");
          await result.getByText("v11 = mine();").waitFor();
          await use(hand);
          await page.getByRole("heading", { name: /1 file would change/ }).waitFor();
          await files(page).getByText("Take the undo").waitFor();
          await files(page).getByText("2 of 2 done").waitFor();
          await apply(hand, /^Undo 1 file/);
          await toast(page)
            .getByText(/^Undid “Add retry”: 1 file\./)
            .waitFor();
          expectTree(project, { "src/free.ts": text() });
          verifyStore(project);
          await takeBack(hand, project, before);
        },
        { files: FILES, expected: REFUSED },
      )(),
  );

  test("[S10, R1930, R820] what was decided about a merged file counts on the lines it was decided on", () =>
    shown(
      async (project) => {
        await turnAndHand(project);
        project.write("src/free.ts", FREE);
        await project.ok("POST", "/api/checkpoints", { name: "Beside it" });
      },
      async ({ page, project }) => {
        const hand = new Hand(page, "mouse");
        await toDecide(hand);
        await hand.press(file(page, "free.ts"));
        await choose(hand, 1, "Keep what is on disk");
        await use(hand);
        await files(page).getByText("Keep what is on disk").waitFor();
        project.write("src/free.ts", FREE.replace("mine()", "another()"));
        await project.ok("POST", "/api/checkpoints", { name: "Another" });
        await files(page).getByText("other lines changed").waitFor();
        // as it was merged is a decision too, and takes the other one back
        await hand.press(file(page, "free.ts"));
        await choose(hand, 1, "Keep what is on disk");
        await use(hand);
        await files(page).getByText("Keep what is on disk").waitFor();
        await hand.press(file(page, "free.ts"));
        await choose(hand, 3, "Keep it as merged");
        await use(hand);
        await files(page).getByText("other lines changed").waitFor();
        verifyStore(project);
      },
      { files: FILES, expected: REFUSED },
    )());

  test.each(HANDS)(
    "[S10, R1930] a merge: what was merged by lines is opened and had otherwise, by %s",
    (kind) =>
      shown(
        async (project) => {
          await branchWith(project, "idea", {
            "src/client.ts": text({ 1: "export const v1 = idea();" }),
            "src/config.ts": text({ 4: "export const v4 = idea();" }),
            "src/free.ts": text({ 5: "export const v5 = idea();" }),
          });
          project.write("src/client.ts", text({ 1: "export const v1 = here();" }));
          project.write("src/config.ts", text({ 11: "export const v11 = here();" }));
          project.write("src/free.ts", text({ 11: "export const v11 = here();" }));
        },
        async ({ page, project }) => {
          await merge(project, "idea");
          const before = treeOf(project);
          const hand = new Hand(page, kind);
          await hand.press(page.getByRole("link", { name: /^Conflicts/ }));
          await files(page).getByText("0 of 1 done").waitFor();
          await hand.press(file(page, "config.ts"));
          await page.getByRole("heading", { name: /^src\/config\.ts/ }).waitFor();
          await expectChosen(page, "Keep it as merged");
          const result = page.getByRole("article", { name: "Result" });
          await result.getByText("v4 = idea();").waitFor();
          await choose(hand, 1, "Keep what is on disk");
          await result.getByText("stays as it is on disk").waitFor();
          await use(hand);
          await files(page).getByText("kept what is on disk").waitFor();
          // the other one is looked at, and stays as it was merged
          await hand.press(file(page, "free.ts"));
          await expectChosen(page, "Keep it as merged");
          await hand.press(file(page, "client.ts"));
          await page.getByRole("heading", { name: /^src\/client\.ts/ }).waitFor();
          await choose(hand, 2, "Take idea");
          await use(hand);
          await page.getByRole("heading", { name: /2 by you/ }).waitFor();
          expect(treeOf(project)).toEqual(before);
          await apply(hand, /^Merge 2 files/);
          await toast(page).getByText("Merged “idea” into main: 2 files.").waitFor();
          expectTree(project, {
            "src/client.ts": text({ 1: "export const v1 = idea();" }),
            "src/config.ts": text({ 11: "export const v11 = here();" }),
            "src/free.ts": text({ 5: "export const v5 = idea();", 11: "export const v11 = here();" }),
          });
          verifyStore(project);
          await takeBack(hand, project, before);
        },
        { files: FILES },
      )(),
  );

  test("[S10] a merge that is given up changes no file and waits no longer", () =>
    shown(
      twoBranches,
      async ({ page, project }) => {
        const id = await merge(project, "idea");
        const before = treeOf(project);
        const hand = new Hand(page, "mouse");
        await hand.press(page.getByRole("link", { name: /^Conflicts/ }));
        await choose(hand, 1, "Keep what is on disk");
        await use(hand);
        await hand.press(button(page, /^Give this merge up/));
        await hand.press(dialog(page).getByRole("button", { name: /^Give it up/ }));
        await toast(page).getByText("was given up").waitFor();
        await expect.poll(() => page.getByRole("link", { name: /^Conflicts/ }).count()).toBe(0);
        expect((await project.ok("GET", `/api/merges/${id}`)).merge.state).toBe("abandoned");
        expect(treeOf(project)).toEqual(before);
        verifyStore(project);
      },
      { files: FILES },
    )());
});

/** From now on these requests get no answer; then something happens in the project, and the page has asked again. */
async function held(
  page: Page,
  {
    project,
    path,
    words = "",
  }: { readonly project: ServedProject; readonly path: string; readonly words?: string },
): Promise<void> {
  const asked = Promise.withResolvers<void>();
  await page.route(
    (url) => url.pathname === path,
    (route) => (route.request().postData()?.includes(words) ? asked.resolve() : route.continue()),
  );
  await project.ok("PUT", "/api/checkpoints/@", { note: "Something happened" });
  await asked.promise;
}

/** One of several radio buttons of a place; the arrow keys go through them. */
async function region(hand: Hand, radio: ReturnType<Page["getByRole"]>): Promise<void> {
  if (hand.kind === "mouse") return radio.click();
  const first = hand.page.locator(`input[name="${await radio.getAttribute("name")}"]`).first();
  await hand.reach(first);
  await hand.page.keyboard.press("Space");
  for (let presses = 0; presses < 4 && !(await radio.isChecked()); presses += 1)
    await hand.page.keyboard.press("ArrowDown");
  expect(await radio.isChecked()).toBe(true);
}
