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

describe.skipIf(CHROMIUM === undefined)("the page's key", () => {
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
      await expect.poll(() => page.evaluate("JSON.stringify(localStorage)")).not.toContain(key);
      await expect.poll(() => page.evaluate("history.length")).toBeLessThanOrEqual(3);
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
        // parts of the page may hear of it before the whole page does
        await expect.poll(() => page.getByText("belay ui").count()).toBe(1);
        await expect.poll(() => page.getByText("used a second time").count()).toBe(1);
        await page.getByText("Open this page from a terminal:").waitFor();
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
    "[R1932] a server that fails ends no key; one that does not know the key is said to be another one",
    shown(
      oneTurn,
      async ({ project, page }) => {
        await page.getByRole("row", { name: "Change a" }).waitFor();
        await page.route("**/api/workspaces", (route) =>
          route.fulfill({
            status: 500,
            json: { error: { code: "INTERNAL", message: "Something failed.", hint: "" } },
          }),
        );
        await page.goto(`${project.url}/`);
        await page.getByRole("heading", { name: "Something failed." }).waitFor();
        await page.unroute("**/api/workspaces");
        await page.getByRole("button", { name: "Try again" }).click();
        await page.getByRole("row", { name: "Change a" }).waitFor();
        await page.evaluate("sessionStorage.setItem('belay-key', 'x'.repeat(43))");
        await page.goto(`${project.url}/`);
        await page.getByText("Belay was started again since this page was opened.").waitFor();
        expect(await page.getByText("token").count()).toBe(0);
      },
      { expected: /status of (401|500)/ },
    ),
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
