/** How the page is opened, what it keeps, and what it never gives away. */
import { globSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, describe, expect, test } from "vitest";
import { Agent } from "./support/agent.ts";
import { addressOf, CHROMIUM, closeBrowser, newContext, newPage, shown } from "./support/browser.ts";

afterAll(closeBrowser);

const oneTurn = async (project: Parameters<typeof Agent.start>[0]) => {
  const agent = await Agent.start(project);
  await agent.turn("Change a", { "a.txt": "two\n" });
};

describe.skipIf(CHROMIUM === undefined)("the page's key", { timeout: 60_000 }, () => {
  test(
    "[R271] the code leaves the address at once, and the key goes out in a header only",
    shown(oneTurn, async ({ page, address, context }) => {
      const code = new URL(address).hash.slice(1);
      const sent: { url: string; headers: Record<string, string> }[] = [];
      page.on("request", (request) => void sent.push({ url: request.url(), headers: request.headers() }));
      await page.getByRole("row", { name: "Change a" }).waitFor();
      expect(page.url()).not.toContain(code);
      const key = String(await page.evaluate("sessionStorage.getItem('belay-key')"));
      expect(key).toHaveLength(43);
      await page.reload();
      await page.getByRole("row", { name: "Change a" }).waitFor();
      expect(await context.cookies()).toEqual([]);
      expect(await page.evaluate("JSON.stringify(localStorage)")).not.toContain(key);
      expect(await page.evaluate("history.length")).toBeLessThanOrEqual(3);
      expect(sent.length).toBeGreaterThan(5);
      for (const { url, headers } of sent) {
        expect(url).not.toContain(key);
        expect(url).not.toContain(code);
        expect(headers["referer"] ?? "").not.toContain(code);
        if (!url.includes("/api/")) expect(headers["authorization"]).toBeUndefined();
      }
    }),
  );

  test(
    "[R271] a code that is used twice ends both pages, and both say so",
    shown(
      oneTurn,
      async ({ page, address }) => {
        await page.getByRole("row", { name: "Change a" }).waitFor();
        const stranger = await newContext();
        const theirs = await newPage(stranger, []);
        await theirs.goto(address);
        await theirs.getByText("used a second time").waitFor();
        await page.getByText("used a second time").waitFor();
        expect(await page.getByText("belay ui").count()).toBe(1);
        await stranger.close();
      },
      { expected: /401/ },
    ),
  );

  test(
    "[R270] without a key the page says how to open it, and asks the server for nothing",
    shown(oneTurn, async ({ project }) => {
      const stranger = await newContext();
      const page = await newPage(stranger, []);
      const asked: string[] = [];
      page.on("request", (request) => void asked.push(request.url()));
      await page.goto(`${project.url}/`);
      await page.getByText("Open this page from a terminal:").waitFor();
      expect(asked.filter((url) => url.includes("/api/"))).toEqual([]);
      await stranger.close();
    }),
  );

  test(
    "`belay ui` with a row selects it; outside of projects it opens the list of them",
    shown(oneTurn, async ({ project, page }) => {
      await page.getByRole("row", { name: "Change a" }).waitFor();
      expect(new URL(addressOf(project, "T1")).search).toBe("?sel=T1");
      expect(project.belay("ui", "T99", "--no-open").status).toBe(4);
      const { stderr, status } = project.belay("ui", "--at", "ftp://x", "--no-open");
      expect([status, stderr]).toEqual([2, expect.stringContaining("--at needs an address")]);
    }),
  );

  test(
    "[S17] when the server ends, the page says so with the time of what it shows, and nothing can be started",
    shown(
      oneTurn,
      async ({ project, page }) => {
        await page.getByRole("row", { name: "Change a" }).waitFor();
        await project.kill();
        await page.getByText(/^Not connected\. What you see is from \d\d:\d\d\./).waitFor();
        expect(
          await page.getByRole("button", { name: "Undo: Not connected" }).getAttribute("aria-disabled"),
        ).toBe("true");
        expect(await page.getByRole("row", { name: "Change a" }).count()).toBe(1);
      },
      { expected: /ERR_|Failed to load/ },
    ),
  );
});

describe.skipIf(CHROMIUM === undefined)("many rows", { timeout: 120_000 }, () => {
  test(
    "only what is near is in the document, the last row is one key away, and little is asked for",
    shown(
      async (project) => {
        const agent = await Agent.start(project);
        for (let index = 1; index <= 130; index += 1)
          await agent.turn(`Turn number ${index}`, { "a.txt": `${index}\n` });
      },
      async ({ page }) => {
        const asked: string[] = [];
        page.on(
          "request",
          (request) => void (request.url().includes("/api/history?") && asked.push(request.url())),
        );
        // the code works once: the page has to have its key before it is loaded again
        await page.getByRole("row", { name: "Turn number 130" }).waitFor();
        asked.length = 0;
        await page.reload();
        await page.getByRole("row", { name: "Turn number 130" }).waitFor();
        expect(asked.length).toBeLessThanOrEqual(2);
        await page.getByRole("treegrid").focus();
        await page.keyboard.press("End");
        await page.getByRole("row", { name: /Turn number 1,/ }).waitFor();
        expect(await page.getByRole("row").count()).toBeLessThanOrEqual(60);
        expect(await page.evaluate("document.querySelectorAll('*').length")).toBeLessThanOrEqual(2000);
        await page.keyboard.press("Home");
        await page.getByRole("row", { name: "You are here" }).waitFor();
      },
    ),
  );
});

describe("weights", () => {
  const dist = join(import.meta.dirname, "../dist");
  const weigh = (pattern: string) =>
    globSync(pattern, { cwd: dist }).reduce(
      (sum, file) => sum + gzipSync(readFileSync(join(dist, file))).length,
      0,
    );

  test("the shell is at most 160 KB of script, 15 KB of style and 110 KB of fonts, the whole page 3 MB", () => {
    const html = readFileSync(join(dist, "index.html"), "utf8");
    const scripts = [...html.matchAll(/(?:src|href)="\/(assets\/[^"]+\.js)"/g)].map(([, file]) => file!);
    const sum = scripts.reduce((total, file) => total + gzipSync(readFileSync(join(dist, file))).length, 0);
    expect(scripts.length).toBeGreaterThan(0);
    expect(sum).toBeLessThanOrEqual(160 * 1024);
    expect(weigh("assets/*.css")).toBeLessThanOrEqual(15 * 1024);
    expect(weigh("assets/*.woff2")).toBeLessThanOrEqual(110 * 1024);
    const all = globSync("**/*.*", { cwd: dist }).reduce(
      (total, file) => total + statSync(join(dist, file)).size,
      0,
    );
    expect(all).toBeLessThanOrEqual(3 * 1024 * 1024);
  });

  test("no markup from data: no part sets HTML", () => {
    const sources = globSync("packages/{react,web}/src/**/*.{ts,tsx}", {
      cwd: join(import.meta.dirname, "../../.."),
    });
    expect(sources.length).toBeGreaterThan(30);
    for (const file of sources)
      expect(readFileSync(join(import.meta.dirname, "../../..", file), "utf8"), file).not.toMatch(
        /dangerouslySetInnerHTML|\.innerHTML|insertAdjacentHTML|document\.write/,
      );
  });
});
