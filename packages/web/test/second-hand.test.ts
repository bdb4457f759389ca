/** What goes wrong while a person works with the page: the files move on, the server dies, the disk is full, the store is damaged. */
import { hash } from "node:crypto";
import { spawnSync } from "node:child_process";
import { appendFileSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, describe, expect, test } from "vitest";
import { canMakeImmutable, setImmutable } from "../../engine/test/support/project.ts";
import { Agent } from "./support/agent.ts";
import { addressOf, CHROMIUM, closeBrowser, newContext, shown } from "./support/browser.ts";
import { expectTree, goBack, treeOf, verifyStore } from "./support/going-back.ts";
import { dialog, Hand, HANDS, row, toast } from "./support/hand.ts";
import { FILES, FIRST, SECOND, THIRD, twoTurns } from "./support/work.ts";

afterAll(closeBrowser);

/** What Chromium itself writes when an answer is an error or the server is gone, also for a script that a worker loads. */
const CUT_OFF = /ERR_|Failed to (load|fetch)|^Worker error|WorkerPoolWorkerError/;

describe.skipIf(CHROMIUM === undefined)("second hand", () => {
  test.each(HANDS)(
    "[S5, R2163] an agent writes between preview and confirm: nothing is restored, and the new preview has to be confirmed, by %s",
    (kind) =>
      shown(
        twoTurns,
        async ({ page, project }) => {
          const hand = new Hand(page, kind);
          await hand.select("Use idempotency keys");
          await hand.open("b", /^Restore to before this/);
          const button = dialog(page).getByRole("button", { name: /^Restore 3 files/ });
          await expect.poll(() => button.getAttribute("aria-disabled")).toBe("false");
          project.write("src/a.ts", "export const a = 99;\n");
          await (kind === "mouse" ? button.click() : page.keyboard.press("Control+Enter"));
          await dialog(page).getByText("The files changed since this preview.").waitFor();
          expectTree(project, { ...THIRD, "src/a.ts": "export const a = 99;\n" });
          // what was read stands there still, and is not carried out any more
          await expect.poll(() => button.getAttribute("aria-disabled")).toBe("true");
          await hand.press(dialog(page).getByRole("button", { name: "Show the new preview" }));
          await dialog(page).getByText("This is the new preview; confirm again.").waitFor();
          await goBack({
            project,
            hand,
            confirm: /^Restore 3 files/,
            says: /^Restored 3 files/,
            check: () => expectTree(project, FIRST),
          });
        },
        { files: FILES, expected: /409/ },
      )(),
  );

  test(
    "[S16] a second tab restores while a preview is open: the first does nothing, and shows what is so now",
    shown(
      twoTurns,
      async ({ page, project, context }) => {
        const hand = new Hand(page, "mouse");
        await hand.select("Use idempotency keys");
        await hand.open("b", /^Restore to before this/);
        const button = dialog(page).getByRole("button", { name: /^Restore 3 files/ });
        await expect.poll(() => button.getAttribute("aria-disabled")).toBe("false");
        const tab = await context.newPage();
        await tab.goto(page.url());
        const other = new Hand(tab, "mouse");
        await other.select("Add retry with backoff");
        await other.open("b", /^Restore to before this/);
        await other.confirm(/^Restore 3 files/);
        const between = treeOf(project);
        await page.bringToFront();
        await button.click();
        await dialog(page).getByText("The files changed since this preview.").waitFor();
        expect(treeOf(project)).toEqual(between);
        await hand.press(dialog(page).getByRole("button", { name: "Show the new preview" }));
        await goBack({
          project,
          hand,
          confirm: /^Restore 1 file/,
          says: /^Restored 1 file/,
          check: () => expectTree(project, FIRST),
        });
      },
      { files: FILES, expected: /409/ },
    ),
  );

  test(
    "[S17] the server is killed in the middle of a restore: the files are as before or as after, and the page comes back",
    shown(
      async (project) => {
        const agent = await Agent.start(project);
        const names = Array.from({ length: MANY }, (_, index) => `many/${index}.txt`);
        await agent.turn("Make many", Object.fromEntries(names.map((name) => [name, `${name}\n`])));
      },
      async ({ page, project }) => {
        const hand = new Hand(page, "mouse");
        await hand.select("Make many");
        // a turn of many files costs the document no more than one of a few
        await page.getByRole("button", { name: "…and 1,450 more" }).waitFor();
        await expect
          .poll(() => page.evaluate("document.querySelectorAll('*').length"))
          .toBeLessThanOrEqual(2500);
        await hand.open("b", /^Restore to before this/);
        const button = dialog(page).getByRole("button", { name: /^Restore 1,500 files/ });
        await expect.poll(() => button.getAttribute("aria-disabled")).toBe("false");
        const before = treeOf(project);
        await button.click();
        // what goes is moved into the staging directory first
        const left = () => (existsSync(many) ? readdirSync(many).length : 0);
        const many = join(project.project, "many");
        await expect.poll(left, { interval: 5 }).toBeLessThan(MANY);
        await project.kill();
        await page.getByText(/^Not connected\./).waitFor();
        // a process of its own does the restore; whatever becomes of it, the next command puts things right
        await settled(project);
        verifyStore(project);
        const { size } = treeOf(project);
        expect([before.size, before.size - MANY]).toContain(size);
        await project.serve(new URL(project.url).port);
        // the key died with the server; the longest rest between two tries is half a minute
        await page.getByText("Open this page from a terminal:").waitFor({ timeout: 90_000 });
        await page.goto(addressOf(project));
        await row(page, "Claude Code, Make many").waitFor();
        if (size < before.size) {
          await hand.select("Claude Code, Make many");
          await page.getByRole("button", { name: /^More about/ }).click();
          await page.getByRole("button", { name: "Restore to after this…" }).click();
          await hand.confirm(/^Restore 1,500 files/);
          await toast(page).waitFor();
        }
        expect(treeOf(project)).toEqual(before);
      },
      { files: FILES, expected: CUT_OFF },
    ),
  );

  test(
    "[S17] where the server dies while the page loads what draws the lines, it says so",
    shown(
      twoTurns,
      async ({ page, project, address }) => {
        const asked = Promise.withResolvers<void>();
        const dead = Promise.withResolvers<void>();
        await page.context().route(/assets\/code-/, async (route) => {
          asked.resolve();
          await dead.promise;
          await route.abort();
        });
        await page.goto("about:blank");
        await page.goto(address.replace(/#.*/, `#${new URL(addressOf(project)).hash.slice(1)}`));
        await asked.promise;
        await project.kill();
        dead.resolve();
        await expect.poll(() => page.getByText(/^Not connected\./).count()).toBe(1);
      },
      { files: FILES, expected: CUT_OFF },
    ),
  );

  test.each(["what draws the lines", "the worker that colours them"])(
    "[S17] where %s cannot be loaded any more, the lines are there and going back works on",
    (what) =>
      shown(
        twoTurns,
        async ({ page, project, address }) => {
          const place = what.startsWith("the worker") ? /assets\/worker-/ : /assets\/code-/;
          await page.context().route(place, (route) => route.abort());
          await page.goto("about:blank");
          await page.goto(address.replace(/#.*/, `#${new URL(addressOf(project)).hash.slice(1)}`));
          const hand = new Hand(page, "mouse");
          await hand.select("Use idempotency keys");
          await page.getByText("export const a = 2;").first().waitFor();
          await hand.open("b", /^Restore to before this/);
          await dialog(page).getByText("export const made = true;").first().waitFor();
          await goBack({
            project,
            hand,
            confirm: /^Restore 3 files/,
            says: /^Restored 3 files/,
            check: () => expectTree(project, FIRST),
          });
        },
        { files: FILES, expected: CUT_OFF },
      )(),
  );

  test.each(HANDS)(
    "[S17, R1724] a file that was not captured is on the row, in the preview, and stays exactly as it is, by %s",
    (kind) =>
      shown(
        async (project) => {
          project.belay("config", "limits.fileBytes", "10KiB");
          const agent = await Agent.start(project);
          await agent.turn("Write a dump", { "dump.bin": "x".repeat(50_000), "src/a.ts": "changed\n" });
        },
        async ({ page, project }) => {
          const hand = new Hand(page, kind);
          await row(page, "Write a dump").getByText("1 not captured").waitFor();
          await hand.select("Write a dump");
          // [R1724] said above the changes until it is not wanted any more; the row and the details go on saying it
          const pane = page.getByRole("tabpanel");
          await hand.press(page.getByRole("tab", { name: "Changes" }));
          await pane.getByText("1 file of this turn was not captured:").waitFor();
          await pane
            .getByText(/dump\.bin, 49 KiB, over the limit\. A restore leaves it exactly as it is\./)
            .waitFor();
          await hand.press(pane.getByRole("button", { name: "Do not tell me about this file" }));
          await pane.getByText("1 file of this turn was not captured:").waitFor({ state: "detached" });
          expect(await page.evaluate("JSON.stringify(localStorage)")).not.toContain("dump");
          await row(page, "Write a dump").getByText("1 not captured").waitFor();
          await hand.press(page.getByRole("tab", { name: "Details" }));
          await page.getByText(/dump\.bin.*A restore leaves it exactly as it is/).waitFor();
          await hand.press(page.getByRole("button", { name: "Tell me again about dump.bin" }));
          await hand.press(page.getByRole("tab", { name: "Changes" }));
          await pane.getByText("1 file of this turn was not captured:").waitFor();
          await hand.open("b", /^Restore to before this/);
          await goBack({
            project,
            hand,
            confirm: /^Restore 1 file/,
            says: /^Restored 1 file/,
            check: () => expectTree(project, { "dump.bin": "x".repeat(50_000), ...FIRST }),
          });
        },
        { files: FILES },
      )(),
  );

  test.each(HANDS)(
    "[S17] [R823] content that is damaged in the store is named; nothing is written, and what is sound can be restored, by %s",
    (kind) =>
      shown(
        twoTurns,
        async ({ page, project }) => {
          const hand = new Hand(page, kind);
          // the newest turn's files are loaded before the damage
          await page.getByRole("button", { name: "Undo this file… src/a.ts" }).waitFor();
          const store = new DatabaseSync(project.store());
          const lost = Buffer.from(hash("sha256", FIRST["src/b.ts"]), "hex");
          const { changes } = store.prepare("DELETE FROM object WHERE hash = ?").run(lost);
          store.close();
          expect(changes).toBe(1);
          const before = treeOf(project);
          await hand.select("Use idempotency keys");
          await hand.open("b", /^Restore to before this/);
          await dialog(page)
            .getByText(/`belay verify --full` lists what is affected/)
            .waitFor();
          await page.keyboard.press("Control+Enter");
          expect(treeOf(project)).toEqual(before);
          await page.keyboard.press("Escape");
          await dialog(page).waitFor({ state: "detached" });
          // everything sound works on
          await hand.select("Add retry with backoff");
          await hand.press(page.getByRole("button", { name: "Undo this file… src/a.ts" }));
          await hand.confirm(/^Restore 1 file/);
          await toast(page)
            .getByText(/^Restored 1 file/)
            .waitFor();
          expectTree(project, { ...THIRD, "src/a.ts": SECOND["src/a.ts"] });
          expect(project.belay("verify", "--full").status).toBe(5);
          // [R823] what it found is on top and on the rows that it is about
          await page.reload();
          await page.getByText(/^\d+ checkpoints? cannot be restored in full\.$/).waitFor();
          await page.getByText(/Your files are untouched\./).waitFor();
          await row(page, "Use idempotency keys, ").and(row(page, "damaged")).waitFor();
          await hand.press(page.getByRole("button", { name: "Show which" }));
          await page.waitForURL(/q=has%3Adamage/);
          await expect.poll(() => row(page, "damaged").count()).toBeGreaterThan(0);
          await expect
            .poll(() => row(page, "Use idempotency keys, ").and(row(page, "damaged")).count())
            .toBe(1);
        },
        { files: FILES, expected: CUT_OFF },
      )(),
  );

  test(
    "[S17] one thread whose pending files cannot be told says why, and the others are counted",
    shown(
      async (project) => {
        const [claude, codex] = [await Agent.start(project), await Agent.start(project, "codex", "Docs")];
        await claude.turn("Change a", { "src/a.ts": "export const a = 2;\n" });
        await codex.turn("Write docs", { "docs.md": "docs\n" });
      },
      async ({ page, project }) => {
        const threads = (await project.ok("GET", "/api/threads")).threads as { id: string; title: string }[];
        const { id } = threads.find(({ title }) => title === "Docs")!;
        const error = { code: "OBJECT_MISSING", message: "An object is missing.", hint: "" };
        await page.route(new RegExp(`/api/threads/${id}/session\\b`), (route) =>
          route.fulfill({ status: 500, json: { error } }),
        );
        await page.reload();
        await page.getByRole("link", { name: /Docs.*pending not known: An object is missing\./ }).waitFor();
        await page.getByRole("link", { name: /Payment retries.*1 pending/ }).waitFor();
        await expect
          .poll(() => page.getByRole("link", { name: "Pending 1 file to approve" }).count())
          .toBe(1);
      },
      { files: FILES, expected: /500/ },
    ),
  );

  test.each(HANDS)("[S17] when the store is full, the page says so and touches nothing, by %s", (kind) =>
    shown(
      async (project) => {
        await twoTurns(project);
        project.belay("config", "disk.capBytes", "1MiB");
        project.write("large.bin", noise(3 << 20));
      },
      async ({ page, project }) => {
        const hand = new Hand(page, kind);
        await row(page, "Add retry").waitFor();
        const before = treeOf(project);
        await hand.open("c", /^Checkpoint/);
        await hand.write(dialog(page).getByLabel("Name"), "Too much");
        await page.keyboard.press("Enter");
        await dialog(page)
          .getByRole("alert")
          .getByText(/full|cap|room/i)
          .waitFor();
        await page.keyboard.press("Escape");
        await dialog(page).waitFor({ state: "detached" });
        expect(treeOf(project)).toEqual(before);
        // [R1723] since when, until there is room
        const strip = page.getByText(
          /The store is full: new checkpoints fail\. Agents go on, unprotected, since \d\d:\d\d\./,
        );
        await strip.waitFor();
        await hand.press(page.getByRole("button", { name: "Raise the cap…" }));
        await page.getByLabel("Largest file").waitFor();
        project.belay("config", "disk.capBytes", "1GiB");
        await project.ok("POST", "/api/checkpoints", { name: "Enough" });
        await strip.waitFor({ state: "detached" });
        verifyStore(project);
      },
      { files: FILES, expected: CUT_OFF },
    )(),
  );

  test.skipIf(!canMount)(
    "[S17] the disk is full: the files stay, the page says why, and room is all it needs",
    () =>
      onSmallDisk(
        shown(
          async (project) => {
            const agent = await Agent.start(project);
            await agent.turn("Rewrite it", { "large.bin": noise(LARGE).toString("base64") });
          },
          async ({ page, project }) => {
            const hand = new Hand(page, "mouse");
            await hand.select("Rewrite it");
            const before = treeOf(project);
            const stuffing = join(project.base, "stuffing");
            stuff(stuffing);
            await hand.open("b", /^Restore to before this/);
            const button = dialog(page).getByRole("button", { name: /^Restore 1 file/ });
            await expect.poll(() => button.getAttribute("aria-disabled")).toBe("false");
            await button.click();
            await expect.poll(() => dialog(page).innerText()).toMatch(/disk is full|space/i);
            expect(treeOf(project)).toEqual(before);
            rmSync(stuffing);
            await page.keyboard.press("Escape");
            await dialog(page).waitFor({ state: "detached" });
            await hand.open("b", /^Restore to before this/);
            await goBack({ project, hand, confirm: /^Restore 1 file/, says: /^Restored 1 file/ });
          },
          { files: { "large.bin": noise(LARGE) }, expected: CUT_OFF },
        ),
      ),
  );

  describe.skipIf(!canMakeImmutable)("what cannot be written", () => {
    test.each(HANDS)(
      "[S17, R1934] is named with the reason, the others go back without it, and it is tried again alone, by %s",
      (kind) =>
        shown(
          async (project) => {
            const agent = await Agent.start(project);
            const text = (value: string) =>
              Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`${index}.txt`, value]));
            await agent.turn("Make nine", text("one\n"));
            await agent.turn("Change nine", text("two\n"));
          },
          async ({ page, project }) => {
            const hand = new Hand(page, kind);
            const fixed = Array.from({ length: 7 }, (_, index) => `${index}.txt`);
            const before = treeOf(project);
            for (const name of fixed) setImmutable(project.path(name), true);
            try {
              await hand.select("Change nine");
              await hand.open("b", /^Restore to before this/);
              const button = dialog(page).getByRole("button", { name: /^Restore 9 files/ });
              await expect.poll(() => button.getAttribute("aria-disabled")).toBe("false");
              await (kind === "mouse" ? button.click() : page.keyboard.press("Control+Enter"));
              await dialog(page)
                .getByText(/0\.txt: it is immutable.*Nothing was changed\./)
                .waitFor();
              await dialog(page)
                .getByText(/Also 1\.txt: it is immutable; .*4\.txt: it is immutable; …and 2 more\./)
                .waitFor();
              expect(treeOf(project)).toEqual(before);
              await hand.press(dialog(page).getByRole("button", { name: "Restore the others" }));
              await toast(page)
                .getByText(
                  /^Restored 2 files to before “Change nine”\. 7 files stayed as they are: 0\.txt, it is immutable; .*4\.txt, it is immutable; …and 2 more\.$/,
                )
                .waitFor();
            } finally {
              for (const name of fixed) setImmutable(project.path(name), false);
            }
            expectTree(project, { "0.txt": "two\n", "6.txt": "two\n", "7.txt": "one\n", "8.txt": "one\n" });
            verifyStore(project);
            await hand.press(toast(page).getByRole("button", { name: "Try these again" }));
            await goBack({
              project,
              hand,
              confirm: /^Restore 7 files/,
              says: /^Restored 7 files to before “Change nine”\.$/,
              check: () => expectTree(project, { "0.txt": "one\n", "6.txt": "one\n" }),
            });
          },
          { files: FILES, expected: /409/ },
        )(),
    );
  });

  test(
    "[S17, R1935] a store that a newer Belay wrote is the whole page: update Belay, nothing was touched",
    shown(
      twoTurns,
      async ({ page, project }) => {
        await row(page, "Add retry").waitFor();
        const before = treeOf(project);
        await project.kill();
        const store = new DatabaseSync(project.store());
        const { user_version: version } = store.prepare("PRAGMA user_version").get() as {
          user_version: number;
        };
        store.exec("PRAGMA user_version = 9999");
        store.close();
        await project.serve(new URL(project.url).port);
        const { code } = await project.ok("POST", "/api/pages/codes", {});
        const address = page.url().replace(/[?#].*/, "");
        await page.goto("about:blank");
        await page.goto(`${address}#${code}`);
        await page.getByRole("heading", { name: "A newer Belay wrote this project’s store." }).waitFor();
        await page.getByText("Update Belay:").waitFor();
        expect(await page.getByRole("navigation").count()).toBe(0);
        expect(treeOf(project)).toEqual(before);
        const kept = new DatabaseSync(project.store());
        expect(kept.prepare("PRAGMA user_version").get()).toEqual({ user_version: 9999 });
        kept.exec(`PRAGMA user_version = ${version}`);
        kept.close();
      },
      { files: FILES, expected: CUT_OFF },
    ),
  );

  test.each(HANDS)("[S17, R1728] without a connection, Try now connects at once, by %s", (kind) =>
    shown(
      twoTurns,
      async ({ page }) => {
        const hand = new Hand(page, kind);
        await row(page, "Add retry").waitFor();
        await page.route(/\/api\/events/, (route) => route.abort());
        // the page's clock stands still: it does not try again by itself
        await page.clock.install();
        await page.clock.pauseAt(Date.now() + 60_000);
        await page.reload();
        await page.getByText(/^Not connected\. What you see is from \d\d:\d\d\./).waitFor();
        await page.unroute(/\/api\/events/);
        await hand.press(page.getByRole("button", { name: "Try now" }));
        await page.getByText(/^Not connected\./).waitFor({ state: "detached" });
        await page.clock.resume();
        await expect
          .poll(() => page.getByRole("button", { name: /^Undo/ }).first().getAttribute("aria-disabled"))
          .toBe("false");
      },
      { files: FILES, expected: CUT_OFF },
    )(),
  );

  test.each(HANDS)(
    "[S17] when the server ends, the page says so with the time of what it shows, and nothing can be started, by %s",
    (kind) =>
      shown(
        twoTurns,
        async ({ project, page }) => {
          const hand = new Hand(page, kind);
          await row(page, "Add retry").waitFor();
          const before = treeOf(project);
          await project.kill();
          await page.getByText(/^Not connected\. What you see is from \d\d:\d\d\./).waitFor();
          const undo = page.getByRole("button", { name: /^Undo.*: Not connected/ });
          await expect.poll(() => undo.getAttribute("aria-disabled")).toBe("true");
          // what is loaded can be read on
          await hand.select("Use idempotency keys");
          if (kind === "mouse") await undo.click({ force: true });
          else await hand.use("u", undo);
          await expect.poll(() => dialog(page).locator("footer button[aria-disabled=false]").count()).toBe(0);
          await page.keyboard.press("Escape");
          await project.serve(new URL(project.url).port);
          await page.getByText("Open this page from a terminal:").waitFor();
          expect(treeOf(project)).toEqual(before);
          await page.goto(addressOf(project));
          await row(page, "Add retry").waitFor();
        },
        { files: FILES, expected: CUT_OFF },
      )(),
  );
});

const SETTLED_MS = 60_000;

/** A restore of so many files can be cut short. */
const MANY = 1500;

/** Waits until no restore is under way any more, and its staging directory is gone. */
async function settled(project: {
  readonly project: string;
  belay(...args: string[]): { status: number | null; stderr: string };
}): Promise<void> {
  const end = performance.now() + SETTLED_MS;
  while (performance.now() < end) {
    // checkpoints are taken meanwhile too, and say so
    const { status, stderr } = project.belay("checkpoint");
    const isStaged = readdirSync(project.project).some((name) => name.startsWith(".belay-stage-"));
    if (status === 0 && !isStaged && !stderr.includes("a restore was at work")) return;
    await pause(100);
  }
  throw new Error("The restore did not end.");
}

/** Small, and the store and the project are both on it. */
const DISK_BYTES = 48 << 20;
/** More than what Belay keeps free for such a day. */
const LARGE = 4 << 20;

const canMount = ((): boolean => {
  const place = mkdtempSync(join(tmpdir(), "belay-mount-"));
  const mounted = spawnSync("mount", ["-t", "tmpfs", "none", place], { timeout: 10_000 }).status === 0;
  if (mounted) spawnSync("umount", [place], { timeout: 10_000 });
  else console.log("File systems cannot be mounted here: the page on a full disk is not tested.");
  rmSync(place, { recursive: true });
  return mounted;
})();

/** Runs a test whose temporary directories are on a disk of a few megabytes. */
async function onSmallDisk(story: () => Promise<void>): Promise<void> {
  // the browser keeps its own files elsewhere
  await (await newContext()).close();
  const before = process.env["TMPDIR"];
  const place = mkdtempSync(join(tmpdir(), "belay-disk-"));
  spawnSync("mount", ["-t", "tmpfs", "-o", `size=${DISK_BYTES}`, "none", place], { timeout: 10_000 });
  process.env["TMPDIR"] = place;
  try {
    await story();
  } finally {
    if (before === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = before;
    spawnSync("umount", ["-l", place], { timeout: 10_000 });
    rmSync(place, { recursive: true });
  }
}

/** Writes until the disk is full. */
function stuff(path: string): void {
  for (const bytes of [1 << 20, 1 << 12]) {
    try {
      for (let written = 0; written < DISK_BYTES; written += bytes)
        appendFileSync(path, Buffer.alloc(bytes, 1));
    } catch {
      // full; a smaller piece may still fit
    }
  }
}

function noise(bytes: number): Buffer {
  return Buffer.from(Array.from({ length: bytes }, () => Math.random() * 256));
}
