/** The settings of the page and of the project, and one stream of events for all tabs. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { Agent } from "./support/agent.ts";
import { expectGoodInBoth } from "./support/access.ts";
import { CHROMIUM, closeBrowser, shown } from "./support/browser.ts";
import { dialog, Hand, HANDS, toast } from "./support/hand.ts";

afterAll(closeBrowser);

/** A colour of the page, as the browser computes it. */
const variable = (name: string) =>
  `(() => { const probe = document.createElement("i"); probe.style.color = "var(${name})"; document.body.append(probe); const colour = getComputedStyle(probe).color; probe.remove(); return colour; })()`;

/** Settings of a person, which a change of hooks leaves alone. */
const OWN_SETTINGS = '{\n  "permissions": { "allow": ["Bash(ls)"] }\n}\n';

describe.skipIf(CHROMIUM === undefined)("settings", () => {
  test(
    "theme and colours of differences are kept in this browser and there from the first paint",
    shown(
      async () => undefined,
      async ({ page }) => {
        await page.getByRole("link", { name: "Settings" }).click();
        const light = await page.evaluate(variable("--belay-bg"));
        const green = await page.evaluate(variable("--belay-add"));
        await page.getByRole("group", { name: "Theme" }).getByRole("button", { name: "Dark" }).click();
        await expect.poll(() => page.evaluate(variable("--belay-bg"))).not.toBe(light);
        await page.getByRole("button", { name: "Blue and orange" }).click();
        const blue = await page.evaluate(variable("--belay-add"));
        expect(blue).not.toBe(green);
        await page.reload({ waitUntil: "commit" });
        await page.getByRole("button", { name: "Blue and orange" }).waitFor();
        await expect.poll(() => page.evaluate(variable("--belay-add"))).toBe(blue);
        await expect.poll(() => page.evaluate("document.documentElement.dataset.theme")).toBe("dark");
      },
    ),
  );

  test(
    "[R1931] single letters can be switched off, those that move included; arrows still work",
    shown(
      async (project) => {
        const agent = await Agent.start(project);
        await agent.turn("Change a", { "a.txt": "two\n" });
      },
      async ({ page }) => {
        await page.getByRole("link", { name: "Settings" }).click();
        await page
          .getByRole("group", { name: "Single letters as shortcuts" })
          .getByRole("button", { name: "Off" })
          .click();
        await page.getByRole("link", { name: "Timeline" }).click();
        await page.getByRole("treegrid").focus();
        const here = page.getByRole("row", { name: "You are here" });
        await page.keyboard.press("Home");
        await expect.poll(() => here.getAttribute("aria-selected")).toBe("true");
        for (const key of ["u", "b", "c", "n", "?", "j", "G"]) await page.keyboard.press(key);
        // the key after them has done its work, so they had their chance
        await page.keyboard.press("ArrowDown");
        const turn = page.getByRole("row", { name: "Change a" });
        await expect.poll(() => turn.getAttribute("aria-selected")).toBe("true");
        expect(await page.locator("dialog[open]").count()).toBe(0);
      },
    ),
  );

  test(
    "[R1931] an open menu lets no key through to the view",
    shown(
      async (project) => {
        const agent = await Agent.start(project);
        await agent.turn("Change a", { "a.txt": "two\n" });
      },
      async ({ page }) => {
        await page.getByRole("button", { name: "More about Change a" }).click();
        const item = page.getByRole("button", { name: "Copy its id" });
        await item.focus();
        for (const key of ["u", "c", "p"]) await page.keyboard.press(key);
        expect(await page.locator("dialog[open]").count()).toBe(0);
        expect(await item.isVisible()).toBe(true);
        await page.keyboard.press("Escape");
        await item.waitFor({ state: "hidden" });
        await page.getByRole("treegrid").focus();
        await page.keyboard.press("c");
        await page.locator("dialog[open]").waitFor();
      },
    ),
  );

  test(
    "[Y06] captures are paused and resumed, retention is one of the presets, and agents show their hooks",
    shown(
      async (project) => {
        // what an agent leaves in a project that it is used in
        mkdirSync(join(project.project, ".claude"), { recursive: true });
        writeFileSync(join(project.project, ".claude/settings.json"), "{}");
      },
      async ({ page, project }) => {
        await page.getByRole("link", { name: "Settings" }).click();
        await page.getByRole("button", { name: "Pause for 15 min" }).click();
        await page.getByText(/^Paused until .*\d\d:\d\d/).waitFor();
        expect((await project.ok("GET", "/api/status")).paused).not.toBeNull();
        // where the protection is told, it is not said to be as always
        await page.getByRole("link", { name: "Storage" }).click();
        const coverage = page.getByRole("region", { name: "What is protected" });
        await coverage.getByText(/^Paused until \d\d:\d\d: /).waitFor();
        await expect.poll(() => coverage.getByText("captured as they change").count()).toBe(0);
        await page.getByRole("link", { name: "Settings" }).click();
        await page.getByRole("button", { name: "Resume" }).click();
        await page.getByRole("button", { name: "Pause for 1 h" }).waitFor();
        expect((await project.ok("GET", "/api/status")).paused).toBeNull();
        await page.getByRole("radio", { name: /^Last 50/ }).click();
        const settings = async () => (await project.ok("GET", "/api/settings")).settings;
        await expect.poll(async () => (await settings())["retention.policy"].value).toBe("moldable");
        const agents = page.getByRole("region", { name: "Agents" });
        await agents.waitFor();
        const { capture } = await project.ok("GET", "/api/status");
        for (const { title } of capture.agents) await agents.getByText(title, { exact: true }).waitFor();
      },
    ),
  );

  test.each(HANDS)(
    "[R2363] hooks of an agent are put in place and taken out, after saying which settings, by %s",
    (kind) =>
      shown(
        async (project) => {
          project.write(".claude/settings.local.json", OWN_SETTINGS);
        },
        async ({ page, project }) => {
          const hand = new Hand(page, kind);
          await hand.press(page.getByRole("link", { name: "Settings" }));
          const card = page.getByRole("region", { name: "Agents" });
          const settings = () => project.read(".claude/settings.local.json") ?? "";
          await hand.press(card.getByRole("button", { name: "Install the hooks of Claude Code…" }));
          await dialog(page).getByText("settings.local.json").waitFor();
          // nothing is written by looking, nor by leaving
          expect(settings()).toBe(OWN_SETTINGS);
          await page.keyboard.press("Escape");
          await dialog(page).waitFor({ state: "detached" });
          expect(settings()).toBe(OWN_SETTINGS);
          await hand.press(card.getByRole("button", { name: "Install the hooks of Claude Code…" }));
          await dialog(page).getByText("settings.local.json").waitFor();
          await hand.press(dialog(page).getByRole("button", { name: "Add hooks to 1 file" }));
          await toast(page).getByText("The hooks of Claude Code are in place.").waitFor();
          expect(settings()).toContain("belay-hook");
          expect(JSON.parse(settings())).toMatchObject(JSON.parse(OWN_SETTINGS) as object);
          await hand.press(card.getByRole("button", { name: "Remove the hooks of Claude Code…" }));
          await expectGoodInBoth(page, "removing hooks");
          await hand.press(dialog(page).getByRole("button", { name: "Remove hooks" }));
          await toast(page).getByText("The hooks of Claude Code were taken out.").waitFor();
          // byte for byte as it was, and the project is protected as before
          expect(settings()).toBe(OWN_SETTINGS);
          await card.getByRole("button", { name: "Install the hooks of Claude Code…" }).waitFor();
          expect(project.belay("status", "--json").status).toBe(0);
          // settings that cannot be read are left alone, and the dialog says so
          project.write(".claude/settings.local.json", "{ not json");
          await hand.press(card.getByRole("button", { name: "Install the hooks of Claude Code…" }));
          const again = dialog(page).getByRole("button", { name: /^(Add hooks|Write them again)/ });
          // a key does not wait until it may, as a click does
          await expect.poll(() => again.getAttribute("aria-disabled")).not.toBe("true");
          await hand.press(again);
          await dialog(page).getByRole("alert").getByText("was left alone").waitFor();
          expect(settings()).toBe("{ not json");
        },
      )(),
  );

  test(
    "notices of the browser are off until they are wanted, and say no path and no prompt",
    shown(
      async () => undefined,
      async ({ page, project, context }) => {
        await context.grantPermissions(["notifications"]);
        await page.addInitScript(
          "globalThis.told = []; globalThis.Notification = class { static permission = 'granted'; static requestPermission = async () => 'granted'; addEventListener() {} constructor(title, { body }) { told.push(title + ': ' + body); } }",
        );
        await page.getByRole("link", { name: "Settings" }).waitFor();
        await page.reload();
        await page.getByRole("link", { name: "Settings" }).click();
        const agent = await Agent.start(project);
        const many = (text: string) =>
          Object.fromEntries(Array.from({ length: 25 }, (_, index) => [`many/${index}.txt`, text]));
        await agent.turn("Quiet", many("one\n"));
        const box = page.getByRole("checkbox", { name: "a turn changed more than 20 files" });
        await expect.poll(() => box.isChecked()).toBe(false);
        await expect.poll(() => page.evaluate("told")).toEqual([]);
        await box.check();
        await agent.turn("Secret words", many("two\n"));
        await expect
          .poll(() => page.evaluate("told"))
          .toEqual([expect.stringMatching(/^project: A turn changed 25 files\.$/)]);
        // the prompt is said only where that is allowed
        await page.getByRole("checkbox", { name: "and say the prompt or the file" }).check();
        await agent.turn("Open words", many("three\n"));
        await expect
          .poll(() => page.evaluate("told[1]"))
          .toBe("project: A turn changed 25 files: “Open words”");
      },
    ),
  );
});

describe.skipIf(CHROMIUM === undefined)("one stream", () => {
  test(
    "tabs of two projects are live over one stream, and go on when the tab that reads is closed",
    shown(
      async (project) => {
        mkdirSync(join(project.base, "other"));
        writeFileSync(join(project.base, "other/b.txt"), "one\n");
        const { status, stderr } = project.belay(
          "-C",
          join(project.base, "other"),
          "init",
          "--no-agents",
          "--yes",
        );
        expect(status, stderr).toBe(0);
      },
      async ({ page, project, context }) => {
        const open = new Set<string>();
        const most = { count: 0 };
        const isStream = (url: string) => url.includes("/api/events");
        context.on("request", (request) => {
          if (!isStream(request.url())) return;
          open.add(request.url());
          most.count = Math.max(most.count, open.size);
        });
        const ended = (request: { url(): string }) => void open.delete(request.url());
        context.on("requestfailed", ended);
        context.on("requestfinished", ended);
        await page.getByRole("row", { name: "You are here" }).waitFor();
        const { workspaces } = await project.ok("GET", "/api/workspaces");
        const other = workspaces.find(({ path }: { path: string }) => path.endsWith("other"));
        const second = await context.newPage();
        await second.goto(`${project.url}/w/${other.id}/`);
        await second.getByRole("row", { name: "You are here" }).waitFor();
        const { id } = (
          await project.ok("POST", `/api/threads?workspace=${other.id}`, { agent: "codex", title: "There" })
        ).thread;
        await project.ok("POST", `/api/threads/${id}/messages`, { content: "Write there" });
        await second.getByRole("row", { name: "Write there" }).waitFor();
        const here = await Agent.start(project);
        await here.prompt("Write here");
        await page.getByRole("row", { name: "Write here" }).waitFor();
        expect(most.count).toBe(1);
        await page.close();
        await project.ok("POST", `/api/threads/${id}/messages`, { content: "Write again" });
        await second.getByRole("row", { name: "Write again" }).waitFor();
      },
    ),
  );
});
