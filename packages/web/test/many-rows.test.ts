/** Ten thousand checkpoints: little is asked for, little is in the document, and every row is one key or one word away. */
import { existsSync, mkdirSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { BrowserContext, Page, Request } from "playwright-core";
import { makeHistory } from "../../../bench/history.ts";
import { ServedProject } from "../../server/test/support/served-project.ts";
import { addressOf, CHROMIUM, closeBrowser, newContext, newPage } from "./support/browser.ts";
import { row } from "./support/hand.ts";

const CHECKPOINTS = 10_000;
const TURNS = CHECKPOINTS / 4;
/** Where writes cost nothing, if there is such a place: the history is deleted afterwards. */
const MEMORY = "/dev/shm";

describe.skipIf(CHROMIUM === undefined)("ten thousand checkpoints", () => {
  let project: ServedProject;
  let context: BrowserContext;
  let page: Page;
  const problems: string[] = [];

  beforeAll(async () => {
    const before = process.env["TMPDIR"];
    if (existsSync(MEMORY)) process.env["TMPDIR"] = MEMORY;
    project = new ServedProject();
    if (before === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = before;
    mkdirSync(project.project);
    await makeHistory(project.project, project.home, CHECKPOINTS);
    await project.serve();
    context = await newContext();
    page = await newPage(context, problems);
    await page.goto(addressOf(project));
    // the code works once: the page has to have its key before it is loaded again
    await row(page, `Prompt ${TURNS - 1}:`).waitFor();
  }, 600_000);

  afterAll(async () => {
    await context.close();
    await closeBrowser();
    await project[Symbol.asyncDispose]();
  });

  const counts = () =>
    page.evaluate(() => ({
      rows: document.querySelectorAll("[role=row]").length,
      elements: document.querySelectorAll("*").length,
      height: document.querySelector("[role=treegrid]")!.scrollHeight,
    }));

  async function expectLittle(): Promise<void> {
    const { rows, elements } = await counts();
    expect(rows).toBeLessThanOrEqual(60);
    expect(elements).toBeLessThanOrEqual(2000);
  }

  test("[Y62, R822, R1726, R1933] the first rows need the page, its script and one answer, and the scroll bar is right at once", async () => {
    const answered: string[] = [];
    const asked: string[] = [];
    const path = (url: string) => new URL(url).pathname;
    const order: string[] = [];
    page.on("request", (request) => {
      if (path(request.url()) === "/api/history") asked.push(answered.join());
      if (path(request.url()).startsWith("/api/")) order.push(path(request.url()));
    });
    page.on("response", (answer) => {
      if (path(answer.url()).startsWith("/api/")) answered.push(path(answer.url()));
    });
    // what the page before asked for is not this one's
    page.once("framenavigated", () => [answered, asked, order].forEach((list) => list.splice(0)));
    await page.reload();
    await row(page, `Prompt ${TURNS - 1}:`).waitFor();
    // [R822] the rows were asked for before anything else was answered, and once
    expect(asked).toEqual([""]);
    // [R1726] and before anything else was asked
    expect(order[0]).toBe("/api/history");
    // [R1933] while the document, and with it the script, was still being read
    const times = await page.evaluate(`(() => {
      const [{ domInteractive }] = performance.getEntriesByType("navigation");
      const asked = performance.getEntriesByType("resource").find(({ name }) => name.includes("/api/history"));
      return { asked: asked.startTime, read: domInteractive };
    })()`);
    const { asked: begun, read } = times as { asked: number; read: number };
    expect(begun).toBeLessThan(read);
    const { height } = await counts();
    const total = Number(await page.getByRole("treegrid").getAttribute("aria-rowcount"));
    expect(total).toBeGreaterThanOrEqual(TURNS);
    expect(height).toBeGreaterThan(total * 40);
    await expectLittle();
    page.removeAllListeners("request");
    page.removeAllListeners("response");
  });

  test("[R1933] a search and all checkpoints are asked for early too, in the words of the page, and once", async () => {
    const whole = page.url();
    const everything = (isOn: boolean) =>
      page.evaluate(
        `localStorage.${isOn ? "setItem('belay-rows', 'everything')" : "removeItem('belay-rows')"}`,
      );
    for (const [query, isFlat] of [
      ["?q=Prompt+1", false],
      ["?q=a%26b+%C3%BC", false],
      ["", true],
    ] as const) {
      await everything(isFlat);
      const asked: string[] = [];
      const note = (request: Request) => {
        const url = new URL(request.url());
        if (url.pathname === "/api/history" && url.searchParams.get("limit") === "100")
          asked.push(url.search);
      };
      await page.goto("about:blank");
      page.on("request", note);
      await page.goto(new URL(whole).origin + new URL(whole).pathname + query);
      await page.getByRole("status").first().waitFor();
      await expect.poll(() => page.evaluate("globalThis.belayEarly === undefined")).toBe(true);
      page.off("request", note);
      expect(asked, query).toHaveLength(1);
    }
    await everything(false);
    await page.goto(whole);
    await row(page, `Prompt ${TURNS - 1}:`).waitFor();
  });

  test("scrolling into the middle and to the end shows rows there, and no more of them in the document", async () => {
    const list = page.getByRole("treegrid");
    for (const part of [0.25, 0.5, 0.75, 1]) {
      await list.evaluate((element, at) => element.scrollTo(0, element.scrollHeight * at), part);
      await expect.poll(() => visibleRows(page)).toBeGreaterThan(5);
      await expectLittle();
    }
    await row(page, "Prompt 0:").waitFor();
  });

  test("[C64] the oldest row is one key away, also among all checkpoints, and so is the newest", async () => {
    await page.getByRole("treegrid").focus();
    await page.keyboard.press("Home");
    await row(page, "You are here").waitFor();
    await page.keyboard.press("a");
    await expect
      .poll(async () => Number(await page.getByRole("treegrid").getAttribute("aria-rowcount")))
      .toBeGreaterThan(TURNS);
    await page.getByRole("treegrid").focus();
    await page.keyboard.press("End");
    await row(page, "Initial checkpoint").waitFor({ timeout: 60_000 });
    await expectLittle();
    await page.keyboard.press("Home");
    await row(page, "You are here").waitFor();
    await page.keyboard.press("a");
  });

  test("[R2360] far down, only the rows there are asked for; the selected row, marks and changes stay with them", async () => {
    const asked: URL[] = [];
    const note = (request: Request) => {
      const url = new URL(request.url());
      if (url.pathname === "/api/history") asked.push(url);
    };
    page.on("request", note);
    const rows = () => asked.reduce((sum, { searchParams }) => sum + Number(searchParams.get("limit")), 0);
    const list = page.getByRole("treegrid");
    await list.focus();
    await page.reload();
    await row(page, `Prompt ${TURNS - 1}:`).waitFor();
    asked.splice(0);
    // the oldest row, by one key: one question, and not for the thousands between
    await list.focus();
    await page.keyboard.press("End");
    await row(page, "Prompt 0:").waitFor();
    expect(rows()).toBeLessThan(300);
    await row(page, "Prompt 3:").click();
    await page.keyboard.press("Space");
    await page.getByRole("group", { name: "Marked for comparison" }).getByText("after Prompt 3:").waitFor();
    // the middle takes the place of the end; what was selected and marked there stays
    await list.evaluate((element) => element.scrollTo(0, element.scrollHeight / 2));
    await expect.poll(() => visibleRows(page)).toBeGreaterThan(5);
    expect(rows()).toBeLessThan(600);
    await page.getByRole("region", { name: /^Selected: Prompt 3:/ }).waitFor();
    await page.getByRole("group", { name: "Marked for comparison" }).getByText("after Prompt 3:").waitFor();
    // rows go on without a gap in both directions
    for (const by of [-4000, 4000, 6000, -9000]) {
      await list.evaluate((element, step) => element.scrollBy(0, step), by);
      await expect.poll(() => visibleRows(page)).toBeGreaterThan(5);
      await expectNeighbours();
    }
    // a key that goes on from the selected row leads back to it
    await list.focus();
    await page.keyboard.press("ArrowDown");
    await row(page, "Prompt 3:").waitFor();
    await expectNeighbours();
    // the address names a row far down
    const far = page.url();
    expect(new URL(far).searchParams.get("sel")).not.toBeNull();
    asked.splice(0);
    await page.reload();
    await page.getByRole("region", { name: /^Selected: Prompt 3:/ }).waitFor();
    await row(page, "Prompt 3:").waitFor();
    expect(rows()).toBeLessThan(400);
    // and one in the middle, with what is above and below it
    const middle = new URL(far);
    middle.searchParams.set("sel", `T${TURNS / 2}`);
    await page.goto(middle.href);
    await page.getByRole("region", { name: /^Selected: Prompt/ }).waitFor();
    await page.locator('[role=row][aria-selected="true"]').waitFor();
    await expectNeighbours();
    await expectLittle();
    page.off("request", note);
    await list.focus();
    await page.keyboard.press("Home");
    await row(page, "You are here").waitFor();
  });

  /** The rows in the document count down without a gap. */
  async function expectNeighbours(): Promise<void> {
    const numbers = () =>
      page
        .getByRole("treegrid")
        .getByRole("row", { name: /Prompt \d+:/ })
        .evaluateAll((rows) =>
          rows
            .map((each) => ({
              top: each.getBoundingClientRect().top,
              number: Number(/Prompt (\d+):/.exec(each.getAttribute("aria-label")!)![1]),
            }))
            .sort((a, b) => a.top - b.top)
            .map(({ number }) => number),
        );
    await expect.poll(async () => (await numbers()).length).toBeGreaterThan(3);
    const shown = await numbers();
    expect(shown).toEqual(shown.map((_, index) => shown[0]! - index));
  }

  test("[R2361] what has changes is a choice of its own, in each list", async () => {
    const total = async () => Number(await page.getByRole("treegrid").getAttribute("aria-rowcount"));
    const chip = page.getByRole("button", { name: "Only what has changes" });
    const turns = page.getByRole("button", { name: "Turns" });
    const everything = page.getByRole("button", { name: "Everything" });
    await expect.poll(() => chip.getAttribute("aria-pressed")).toBe("true");
    await chip.click();
    // the chip is off, and the list is still that of turns
    await expect.poll(() => chip.getAttribute("aria-pressed")).toBe("false");
    expect(await turns.getAttribute("aria-pressed")).toBe("true");
    await expect.poll(() => page.locator(".b-fold").count()).toBe(0);
    await everything.click();
    await expect.poll(() => chip.getAttribute("aria-pressed")).toBe("false");
    await expect.poll(total).toBeGreaterThan(CHECKPOINTS - 10);
    const all = await total();
    await chip.click();
    await expect.poll(total).toBeLessThan(all);
    // kept in this browser, each for itself, and asked for early in the same words
    const asked: string[] = [];
    const note = (request: Request) => {
      const url = new URL(request.url());
      if (url.pathname === "/api/history" && url.searchParams.get("limit") === "100") asked.push(url.search);
    };
    page.on("request", note);
    await page.reload();
    await expect.poll(() => chip.getAttribute("aria-pressed")).toBe("true");
    expect(await everything.getAttribute("aria-pressed")).toBe("true");
    await expect.poll(() => page.evaluate("globalThis.belayEarly === undefined")).toBe(true);
    page.off("request", note);
    expect(asked).toHaveLength(1);
    expect(asked[0]).toContain("has%3Achanges");
    await chip.click();
    await turns.click();
    await expect.poll(() => chip.getAttribute("aria-pressed")).toBe("false");
    await chip.click();
    await row(page, "You are here").waitFor();
  });

  test("[R2368] a long conversation: each prompt has its way back, and earlier messages come when they are asked for", async () => {
    await page.locator(".b-thread").first().click();
    const list = page.getByRole("list", { name: "Conversation" });
    const prompt = (turn: number) => list.getByRole("listitem").filter({ hasText: `Prompt ${turn}:` });
    for (const turn of [TURNS - 1, TURNS - 400]) {
      const back = prompt(turn).getByRole("button", { name: /^Restore… to before/ });
      await expect.poll(() => back.count()).toBe(1);
    }
    const earlier = TURNS - 510;
    expect(await prompt(earlier).count()).toBe(0);
    await page.getByRole("button", { name: "Earlier messages" }).click();
    await expect
      .poll(() =>
        prompt(earlier)
          .getByRole("button", { name: /^Restore… to before/ })
          .count(),
      )
      .toBe(1);
    await page.getByRole("link", { name: "Timeline", exact: true }).click();
    await row(page, "You are here").waitFor();
  });

  test("[S13] a word finds one of all turns", async () => {
    await page.getByRole("searchbox", { name: /^Search/ }).fill('"Prompt 1234"');
    await row(page, "Prompt 1234:").waitFor();
    await expect.poll(() => visibleRows(page)).toBe(1);
    await page.keyboard.press("Escape");
    await row(page, "You are here").waitFor();
    expect(problems).toEqual([]);
  });
});

/** Rows in view that are no placeholders. */
function visibleRows(page: Page): Promise<number> {
  return page.getByRole("treegrid").evaluate((list) => {
    const { top, bottom } = list.getBoundingClientRect();
    return [...list.querySelectorAll("[role=row]")].filter((each) => {
      const place = each.getBoundingClientRect();
      return place.bottom > top && place.top < bottom;
    }).length;
  });
}
