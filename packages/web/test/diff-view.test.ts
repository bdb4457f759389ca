/** Differences on the page: what they weigh, what they show, what can be done in them. */
import { chmodSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Locator } from "playwright-core";
import { afterAll, describe, expect, test } from "vitest";
import { Agent } from "./support/agent.ts";
import { CHROMIUM, closeBrowser, shown } from "./support/browser.ts";
import { compareButton } from "./support/hand.ts";

afterAll(closeBrowser);

const DIST = join(import.meta.dirname, "../dist");

/** Tests are compiled without the browser's names. */
const colourOf = (place: Locator, property = "color") =>
  place.evaluate((node, name) => (globalThis as any).getComputedStyle(node)[name] as string, property);

/** The colour behind an element as it is painted: red, green, blue. Runs in the page. */
function painted(element: Element): number[] {
  const context = document.createElement("canvas").getContext("2d")!;
  context.fillStyle = getComputedStyle(element).backgroundColor;
  context.fillRect(0, 0, 1, 1);
  return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3);
}

const CODE = [
  "// a comment",
  "export const ATTEMPTS = 5;",
  "export class Card<Type> extends Base { private n = null; }",
  "export async function charge(card: Card, { amount }: Options): Promise<void> {",
  "  if (/a+b/.test(card.name) && amount !== undefined) throw new Error(`no ${card} 'x'`);",
  "  return this.post('x', true, 0x1f);",
  "}",
  "",
].join("\n");

/** Words whose colour is less than 4.5 times as bright or dark as what is behind them. Runs in the page. */
function paleWords(spans: Element[]): string[] {
  const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true })!;
  const painted = (colours: string[]) => {
    context.clearRect(0, 0, 1, 1);
    for (const colour of colours) {
      context.fillStyle = colour;
      context.fillRect(0, 0, 1, 1);
    }
    return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const light = (colours: string[]) => {
    const [red = 0, green = 0, blue = 0] = painted(colours).map((part) =>
      part <= 10.31475 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4,
    );
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  return spans.flatMap((span) => {
    if (span.children.length > 0 || span.textContent.trim() === "") return [];
    const behind: string[] = [];
    const above = (at: Element): Element | null =>
      at.parentElement ?? (at.getRootNode() as Partial<ShadowRoot>).host ?? null;
    for (let at: Element | null = span; at !== null; at = above(at))
      behind.unshift(getComputedStyle(at).backgroundColor);
    const [one, other] = [light(behind), light([...behind, getComputedStyle(span).color])].sort(
      (a, b) => b - a,
    );
    const contrast = (one! + 0.05) / (other! + 0.05);
    return contrast < 4.5 ? [`${span.textContent} ${contrast.toFixed(1)}`] : [];
  });
}

describe.skipIf(CHROMIUM === undefined)("differences", () => {
  test(
    "what a diff loads beyond the shell weighs at most 340 KB, and its lines are coloured",
    shown(
      async (project) => {
        const agent = await Agent.start(project);
        await agent.turn("Change a", { "a.ts": "export const a: number = 2;\n" });
      },
      async ({ page }) => {
        const loaded = new Set<string>();
        page.context().on("request", (request) => {
          const name = /\/assets\/([^?]+\.(?:js|wasm))/.exec(request.url())?.[1];
          if (name !== undefined) loaded.add(name);
        });
        await page.getByRole("row", { name: "Change a" }).waitFor();
        await page.reload();
        const word = page.locator("diffs-container span", { hasText: /^export\s*$/ }).first();
        await word.waitFor();
        const plain = await colourOf(page.locator(".b-body").first());
        await expect.poll(() => colourOf(word)).not.toBe(plain);
        const shell = readFileSync(join(DIST, "index.html"), "utf8");
        const beyond = [...loaded].filter((name) => !shell.includes(name));
        const weight = beyond.reduce(
          (sum, name) => sum + gzipSync(readFileSync(join(DIST, "assets", name))).length,
          0,
        );
        expect(beyond.some((name) => name.endsWith(".wasm"))).toBe(true);
        expect(weight).toBeGreaterThan(100 * 1024);
        expect(weight, beyond.join(", ")).toBeLessThanOrEqual(340 * 1024);
      },
      { files: { "a.ts": "export const a: number = 1;\n" } },
    ),
  );

  test("[R2366] added and deleted lines stand on the colours of their set, in both themes", () =>
    shown(
      async (project) => {
        const agent = await Agent.start(project);
        await agent.turn("Change a", { "a.ts": "const a = 2;\n" });
      },
      async ({ page }) => {
        await page.locator("diffs-container [data-line]").first().waitFor();
        const ground = (type: string) =>
          page.locator(`diffs-container [data-line][data-line-type=${type}]`).first().evaluate(painted);
        for (const [scheme, added, deleted] of [
          ["light", [231, 245, 235], [252, 236, 234]],
          ["dark", [21, 41, 28], [51, 26, 24]],
        ] as const) {
          await page.emulateMedia({ colorScheme: scheme });
          const colours = [
            ["change-addition", added],
            ["change-deletion", deleted],
          ] as const;
          for (const [type, wanted] of colours)
            await expect
              .poll(async () =>
                Math.max(...(await ground(type)).map((part, at) => Math.abs(part - wanted[at]!))),
              )
              .toBeLessThanOrEqual(2);
        }
      },
      { files: { "a.ts": "const a = 1;\n" } },
    )());

  test("[R2367] every word of code can be read on the line that it stands on, in both themes and both sets", () =>
    shown(
      async (project) => {
        const agent = await Agent.start(project);
        await agent.turn("Change a", {
          "a.ts": CODE.replace("ATTEMPTS = 5", "ATTEMPTS = 7").replace("'x'", "'yy'"),
        });
      },
      async ({ page }) => {
        for (const set of ["red-green", "blue-orange"])
          for (const colorScheme of ["light", "dark"] as const) {
            await page.emulateMedia({ colorScheme });
            await page.evaluate((name) => {
              document.documentElement.dataset["diff"] = name;
            }, set);
            const spans = page.locator("diffs-container [data-line] span");
            const word = page.locator("diffs-container span", { hasText: /^export\s*$/ }).first();
            const plain = await colourOf(page.locator(".b-body").first());
            await expect.poll(() => colourOf(word)).not.toBe(plain);
            expect(await spans.count()).toBeGreaterThan(20);
            expect(await spans.evaluateAll(paleWords), `${set} ${colorScheme}`).toEqual([]);
          }
      },
      { files: { "a.ts": CODE } },
    )());

  test("[R2370] where the system chooses the colours, changed words are underlined", () =>
    shown(
      async (project) => {
        const agent = await Agent.start(project);
        await agent.turn("Change a", { "a.ts": CODE.replace("ATTEMPTS = 5", "ATTEMPTS = 7") });
      },
      async ({ page }) => {
        const word = page.locator("diffs-container [data-diff-span]").first();
        await word.waitFor();
        const line = () => word.evaluate((element) => getComputedStyle(element).textDecorationLine);
        await expect.poll(line).toBe("none");
        await page.emulateMedia({ forcedColors: "active" });
        await expect.poll(line).toBe("underline");
      },
      { files: { "a.ts": CODE } },
    )());

  const lines = Array.from({ length: 80 }, (_, index) => `line ${index + 1}`);
  const text = (changed: Readonly<Record<number, string>>) =>
    lines.map((line, index) => `${changed[index + 1] ?? line}\n`).join("");

  test.each(["mouse", "keyboard"] as const)(
    "[S6, M27, Y25, Y69] one hunk of a diff is taken back, the other stays, by %s",
    (hand) =>
      shown(
        async (project) => {
          const agent = await Agent.start(project);
          await agent.turn("Change two places", { "long.txt": text({ 3: "three!", 70: "seventy!" }) });
          await agent.turn("Add below", { "long.txt": `${text({ 3: "three!", 70: "seventy!" })}more\n` });
        },
        async ({ page, project }) => {
          await page.getByRole("row", { name: "Change two places" }).click();
          const button = page.getByRole("button", { name: "Undo this hunk… hunk 2 of long.txt" });
          await button.waitFor();
          await page.getByRole("button", { name: "Copy hunk 1 of long.txt" }).click();
          await expect
            .poll(() => page.evaluate("navigator.clipboard.readText()"))
            .toContain("-line 3\n+three!\n");
          // this hunk alone
          expect(await page.evaluate("navigator.clipboard.readText()")).not.toContain("seventy");
          if (hand === "mouse") await button.click();
          else await button.press("Enter");
          const dialog = page.locator("dialog[open]");
          // one of the plan's hunks holds the lines of the hunk; the others are left out
          const confirm = dialog.getByRole("button", { name: /^Restore 1 file/ });
          await expect.poll(() => confirm.getAttribute("aria-disabled")).toBe("false");
          await expect
            .poll(() => dialog.getByRole("checkbox", { name: "Hunk 1 of 3" }).isChecked())
            .toBe(false);
          await expect
            .poll(() => dialog.getByRole("checkbox", { name: "Hunk 2 of 3" }).isChecked())
            .toBe(true);
          await expect
            .poll(() => dialog.getByRole("checkbox", { name: "Hunk 3 of 3" }).isChecked())
            .toBe(false);
          if (hand === "mouse") await confirm.click();
          else await page.keyboard.press("Control+Enter");
          await dialog.waitFor({ state: "detached" });
          expect(project.read("long.txt")).toBe(`${text({ 3: "three!" })}more\n`);
          expect(project.belay("verify", "--full").status).toBe(0);
        },
        { files: { "long.txt": text({}) } },
      )(),
  );

  test(
    "[Y20, Y22, M79] find searches all files of a comparison, also what is not drawn; lines around a change are shown 20 at a time",
    shown(
      async (project) => {
        const agent = await Agent.start(project);
        const files = Object.fromEntries(
          Array.from({ length: 30 }, (_, index) => [`src/f${index}.txt`, text({ 40: `needle ${index}` })]),
        );
        await agent.turn("Change many", files);
      },
      async ({ page }) => {
        await compareButton(page).click();
        await page.waitForURL(/compare/);
        await page.getByText("needle 0").first().waitFor();
        await page.getByText("36 unchanged lines").first().waitFor();
        // [R2364] and those below the last change
        await page.getByText("37 unchanged lines").first().waitFor();
        await page.getByRole("button", { name: "show 20 more" }).first().click();
        await page.getByText("16 unchanged lines").first().waitFor();
        const below = page.getByText("17 unchanged lines").first();
        await below.waitFor();
        await below.locator("..").getByRole("button", { name: "all" }).click();
        const card = page.getByRole("region", { name: /src\/f0\.txt$/ });
        await card.getByText("line 80").waitFor();
        expect(await card.getByText(/unchanged line/).count()).toBe(0);
        await page.getByRole("region", { name: "Differences" }).focus();
        await page.keyboard.press("/");
        await page.keyboard.type("NEEDLE");
        const bar = page.getByRole("search", { name: "Find in diff" });
        await bar.getByText("30 lines").waitFor();
        await expect.poll(() => page.getByText("needle 29").count()).toBe(0);
        await page.keyboard.press("Shift+Enter");
        await bar.getByText("30 of 30").waitFor();
        await page.getByText("needle 9").first().waitFor();
        await expect
          .poll(() => page.evaluate("CSS.highlights.get('belay-found')?.size ?? 0"))
          .toBeGreaterThan(0);
        await page.keyboard.press("Escape");
        await bar.waitFor({ state: "detached" });
        await expect.poll(() => page.evaluate("CSS.highlights.has('belay-found')")).toBe(false);
      },
      {
        files: Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`src/f${index}.txt`, text({})])),
      },
    ),
  );

  const PNG = (width: number) => {
    const head = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");
    const size = Buffer.alloc(8);
    size.writeUInt32BE(width, 0);
    size.writeUInt32BE(4, 4);
    return Buffer.concat([head, size, Buffer.from("0806000000", "hex"), Buffer.alloc(64, width)]);
  };

  test(
    "[Y20, Y65] images, binaries, names, permissions and long files are shown as what they are",
    shown(
      async (project) => {
        const agent = await Agent.start(project);
        await agent.prompt("Change all kinds");
        await agent.writes({ "old.txt": null, "long.txt": text({}).repeat(200) });
        project.write("pic.png", PNG(8));
        project.write("data.bin", Buffer.from([0, 9, 9, 9]));
        project.write("new.txt", "the same\n".repeat(20));
        chmodSync(project.path("run.sh"), 0o755);
        await agent.stop();
      },
      async ({ page }) => {
        await compareButton(page).click();
        await page.waitForURL(/compare/);
        const card = (name: RegExp) => page.getByRole("region", { name });
        await card(/data\.bin/).waitFor();
        await expect.poll(() => page.locator("diffs-container").count()).toBe(0);
        await card(/pic\.png/)
          .getByRole("button", { name: "Swipe" })
          .click();
        await card(/pic\.png/)
          .getByRole("slider")
          .waitFor();
        await card(/pic\.png/)
          .getByText("after · 8 × 4")
          .waitFor();
        await card(/data\.bin/)
          .getByText("4 B")
          .waitFor();
        await card(/run\.sh/)
          .getByText("Permissions 0644 → 0755, may now be executed.")
          .waitFor();
        await card(/new\.txt/)
          .getByText("Renamed from old.txt, content the same.")
          .waitFor();
        // what is folded because of its length can be copied all the same
        await card(/long\.txt/)
          .getByRole("button", { name: "Copy the change of long.txt as a patch" })
          .click();
        await expect
          .poll(() => page.evaluate("navigator.clipboard.readText()"))
          .toMatch(/^diff --git a\/long\.txt b\/long\.txt\n.*\n.*\n@@ -1,1 \+1,/);
        await card(/long\.txt/)
          .getByRole("button", { name: "Show anyway" })
          .click();
        await card(/long\.txt/)
          .locator("diffs-container")
          .first()
          .waitFor();
        await page.getByRole("button", { name: /^Copy as patch/ }).click();
        await page.getByText("The patch of all files was copied.").waitFor();
        const patch = (await page.evaluate("navigator.clipboard.readText()")) as string;
        expect(patch).toContain("rename from old.txt\nrename to new.txt\n");
      },
      {
        // a drawn picture is not the point; the browser says that this one has no pixels
        files: {
          "pic.png": PNG(4),
          "data.bin": Buffer.from([0, 1, 2]),
          "run.sh": "#!/bin/sh\n",
          "old.txt": "the same\n".repeat(20),
          "long.txt": "short\n",
        },
      },
    ),
  );
});
