import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TimelineScreen } from "../src/screens/timeline/timeline.tsx";
import { PicturedProject } from "./support/pictured-project.ts";
import { KEYS, Window, type WindowOptions } from "./support/window.tsx";

let project: PicturedProject;
beforeAll(async () => {
  project = await PicturedProject.played();
});
afterAll(async () => {
  expect(await project.verify()).toEqual([]);
  await project[Symbol.asyncDispose]();
});

async function open(options: WindowOptions = {}): Promise<Window> {
  const window = await Window.open(<TimelineScreen />, { place: project.place, ...options });
  await window.shows(/Snapshot Timeline \(Current/);
  return window;
}

describe("the timeline", () => {
  test("[M03] [M69] [M70] [M71] [M72] [M73] at 80×24 as in the picture", async () => {
    await using window = await open();
    await window.press("j");
    expect(window.lines.slice(0, 19)).toEqual([
      "╭──────────────────────────────────────────────────────────────────────────────╮",
      "│ Snapshot Timeline (Current: Document the retry headers in the OpenAPI spec)  │",
      "╰──────────────────────────────────────────────────────────────────────────────╯",
      "  10:52:31 ○ Make the retry budget configurable per tenant",
      "      ├─► claude-code (38.2s) ⚠",
      "      Files: 1 modified, 1 added, 0 deleted",
      "› 10:42:03 ○ Add retry with exponential backoff to the payment client",
      "      ├─► claude-code (72.4s) ✓",
      "      Files: 3 modified, 1 added, 1 deleted",
      "  10:41:12 ● Document the retry headers in the OpenAPI spec",
      "      ├─► codex (181.0s) ✓                                      1 captured late",
      "      Files: 3 modified, 0 added, 0 deleted",
      "  ───────── ✓ approved 10:31:40 · claude-code · session_2 ─────────",
      "  10:24:10 ○ Before the retry work                                       [demo]",
      "  10:18:55 ○ Use idempotency keys for every charge",
      "      ├─► claude-code (140.7s) ✓                                 1 not captured",
      "      Files: 5 modified, 2 added, 0 deleted",
      "  10:11:20 ○ Cache provider tokens in Redis                              undone",
      "      Files: 3 modified, 1 added, 0 deleted",
    ]);
  });

  test("[M69] [M73] in ASCII as in the picture", async () => {
    await using window = await open({ ascii: true });
    await window.press("j");
    expect(window.text).toMatch(/^[ -~\n]*$/);
    expect(window.lines.slice(0, 14)).toEqual([
      "+------------------------------------------------------------------------------+",
      "| Snapshot Timeline (Current: Document the retry headers in the OpenAPI spec)  |",
      "+------------------------------------------------------------------------------+",
      "  10:52:31 o Make the retry budget configurable per tenant",
      "      |-> claude-code (38.2s) !",
      "      Files: 1 modified, 1 added, 0 deleted",
      "> 10:42:03 o Add retry with exponential backoff to the payment client",
      "      |-> claude-code (72.4s) +",
      "      Files: 3 modified, 1 added, 1 deleted",
      "  10:41:12 * Document the retry headers in the OpenAPI spec",
      "      |-> codex (181.0s) +                                      1 captured late",
      "      Files: 3 modified, 0 added, 0 deleted",
      "  --------- approved 10:31:40, claude-code, session_2 ---------",
      "  10:24:10 o Before the retry work                                       [demo]",
    ]);
    expect(window.lines.at(-2)).toMatch(/^Up\/Down navigate \| .*d diff \| v view details$/);
  });

  test("[M69] current is green, the selected row cyan and bold, others gray; without colours the words stay", async () => {
    await using window = await open({ depth: "few" });
    await window.press("j");
    const row = (title: string) => window.raw.split("\n").find((each) => each.includes(title))!;
    expect(row("● ")).toContain("\u001b[32m");
    expect(row("Add retry with")).toContain("\u001b[1mAdd retry");
    expect(row("Add retry with")).toContain("\u001b[36m");
    expect(row("Make the retry")).toContain("\u001b[90m");
    expect(row("Cache provider")).toContain("\u001b[9mCache provider");
    await using plain = await open({ depth: "plain" });
    await plain.press("j");
    expect(plain.raw).not.toContain("\u001b[");
    expect(plain.lines).toEqual(window.lines);
  });

  test("[M73] d opens the diff of the row, Esc comes back to it", async () => {
    await using window = await open();
    await window.press("j", "d");
    await window.shows("hunk 1");
    expect(window.lines[0]).toMatch(
      /^Before "Add retry with exponential [a-z ]*…" {2}-> {2}after {2,}file 1 of 5/,
    );
    await window.press(KEYS.esc);
    await window.shows("› 10:42:03");
  });

  test("→ unfolds the steps of a row, ← folds them", async () => {
    await using window = await open();
    await window.press("j", KEYS.right);
    await window.shows("npm test -- payments -u");
    const at = window.lines.findIndex((each) => each.startsWith("› 10:42:03"));
    expect(window.lines.slice(at + 3, at + 7)).toEqual([
      "      10:43:11   Edit   src/payments/legacy-retry.ts                         -1",
      "      10:42:58   Bash   npm test -- payments -u                           +3 -2",
      "      10:42:32   Write  src/payments/backoff.ts                              +3",
      "      10:42:09   Edit   src/payments/client.ts                            +5 -2",
    ]);
    await window.press(KEYS.left);
    expect(window.text).not.toContain("npm test");
  });

  test("[R310] the pointer goes to single steps: their diff, their details, undo only this, restore to before", async () => {
    await using window = await open();
    await window.press("j", KEYS.right);
    await window.shows("npm test -- payments -u");
    await window.press("j", "j");
    expect(window.text).toMatch(/^› {5}10:42:58 {3}Bash/m);
    await window.press("d");
    await window.shows("file 1 of 2");
    expect(window.lines[0]).toContain('Before "Bash npm test -- payments -u"');
    await window.press("j");
    await window.shows("M test/__snapshots__/client.snap");
    await window.press(KEYS.esc, "v");
    await window.shows(/Changed by this step +\+3 -2/);
    expect(window.lines[1]).toContain("Bash npm test -- payments -u");
    expect(window.text).not.toContain("backoff.ts");
    await window.press(KEYS.esc, "R");
    await window.shows(/y undo 2 files/);
    expect(window.text).not.toContain("backoff.ts");
    await window.press(KEYS.esc, KEYS.enter);
    await window.shows('before "Bash npm test -- payments -u"');
    await window.press(KEYS.esc, KEYS.left);
    await window.shows("› 10:42:03");
    expect(window.text).not.toContain("10:42:58");
  });

  test("[R310] a turn's diff has what it changed itself, not what another agent did meanwhile", async () => {
    await using window = await open();
    await window.press("j", "j", "d");
    await window.shows("file 1 of 3");
    expect(window.lines[0]).toContain('Before "Document the retry headers');
    await window.press(KEYS.esc, "v");
    await window.shows("docs/openapi.yaml");
    expect(window.text).not.toContain("src/payments");
  });

  test("[R1605] how many rows are below never cuts what a row must not be without", async () => {
    await using window = await open({ columns: 80, rows: 19 });
    expect(window.lines[15]).toMatch(/^ {6}├─► claude-code \(140\.7s\) ✓ +1 not captured {2}↓ \d more$/);
  });

  test("[R2147] in a narrow window the details cut the names of files at their start, and the counts stand in one column", async () => {
    for (const columns of [40, 50, 60]) {
      await using window = await open({ columns, rows: 30 });
      await window.press("j", "v");
      await window.shows(/^ {2}. M {2}.*client\.ts +\+\d/m);
      const counted = window.lines.filter((each) => /^ {4,}[AM] {2}.*\+\d|^ {2}› M {2}/.test(each));
      expect(counted).toHaveLength(4);
      expect(new Set(counted.map((each) => each.indexOf("+"))).size).toBe(1);
      for (const name of ["client.ts", "backoff.ts", "client.snap"]) expect(window.text).toContain(name);
    }
  });

  test("[R2148] a restore preview says over which limit a file was that was not captured", async () => {
    await using window = await open();
    await window.press("j", KEYS.enter);
    await window.shows("Kept 1");
    await expect
      .poll(() => window.text)
      .toMatch(/^ {2}Kept 1 {2}.*fixtures\/dump\.bin, not captured: over 64 MiB$/m);
  });

  test("[R1605] [R1703] [R1912] the details offer what fits: to the state before a turn, to a state itself", async () => {
    await using window = await open();
    await window.press("j", "v");
    await window.shows("Changed by this turn");
    expect(window.lines.at(-2)).toBe(
      "Enter restore to before | d diff of › | f restore only › | R undo only this",
    );
    await window.press(KEYS.esc, "j", "j", "j", "j", "v");
    await window.shows(
      /Not captured {4}fixtures\/dump\.bin {2}65 MiB, over the limit of 64 MiB\n {18}\(limits\.fileBytes\)/,
    );
    // [R1703] in a small window the facts and the first files are seen, then the last ones with what is missing
    await window.resize(60, 16);
    await window.shows(/^ {2}› M {2}README\.md/m);
    expect(window.text).toContain("  taken  ");
    await window.press("G", "j", "j", "j", "j", "j", "j", "j");
    await window.shows(/Not captured {4}fixtures\/dump\.bin/);
    expect(window.text).toMatch(/^ {2}› /m);
    await window.resize(80, 24);
    await window.press(KEYS.esc, "k", "v");
    await window.shows("Changed on disk since");
    expect(window.lines.at(-2)).toBe("Enter restore to this | d diff of › | f restore only ›");
    await window.press(KEYS.esc, "R");
    await window.shows("This is a state, not a change: nothing in it to undo. Enter restores it.");
    // what does not fit one line goes on below
    await window.resize(50, 20);
    await window.shows(/^ {2}This is a state, not a change: .*\n {4}.*it\.$/m);
  });

  test("[R292] dozens of keys that come at once are all taken, as of a key held down over a slow line", async () => {
    await using window = await Window.open(<TimelineScreen />, { place: project.place });
    await window.shows(/› 10:52:31/);
    await window.press("j".repeat(80));
    await window.shows(/› 09:00:00/);
    await window.press("k".repeat(80));
    await window.shows(/› 10:52:31/);
    expect(window.exit).toBeUndefined();
  });

  test("z shows one line a row with the selected one unfolded, as small windows do at once", async () => {
    await using window = await open();
    await window.press("j", "z");
    expect(window.lines.slice(3, 9)).toEqual([
      "  10:52:31 ○ Make the retry budget configurable per tenant",
      "› 10:42:03 ○ Add retry with exponential backoff to the payment client",
      "      ├─► claude-code (72.4s) ✓",
      "      Files: 3 modified, 1 added, 1 deleted",
      "  10:41:12 ● Document the retry headers in the OpenAPI spec     1 captured late",
      "  ───────── ✓ approved 10:31:40 · claude-code · session_2 ─────────",
    ]);
    await window.press("z");
    await window.resize(58, 15);
    expect(window.lines[3]).toBe("  10:52:31 ○ Make the retry budget configurable per tena…");
    expect(window.lines[4]).toBe("› 10:42:03 ○ Add retry with exponential backoff to the p…");
    expect(window.lines).toHaveLength(15);
  });

  test("a wide window has the changes beside, follows the selection, and Tab goes over", async () => {
    await using window = await open({ columns: 120, rows: 36 });
    await window.press("j");
    await window.shows("const response = await withBackoff");
    expect(window.lines[3]).toBe(
      "  10:52:31 ○ Make the retry budget configurable p… │ Add retry with exponential backoff to the payment client",
    );
    expect(window.lines[4]).toContain("│ claude-code · Payment retries · 10:42:03 to 10:43:15");
    await window.shows(/^ {51}│ M package\.json +\+\d+ -\d+ +by Bash$/m);
    expect(window.lines[6]).toContain("M package.json");
    expect(window.text).toContain("All green; what we showed on Tuesday.");
    expect(window.text).toContain("Tab goes over here, j k scroll");
    await window.shows(/protected · [\d.]+ .iB of [\d.]+ GiB │/);
    const right = () => window.lines[3]!.slice(window.lines[3]!.indexOf("│"));
    const before = right();
    await window.press(KEYS.tab, "j", "j");
    expect(right()).not.toBe(before);
    expect(window.text).toContain("› 10:42:03");
    await window.press(KEYS.tab, "j");
    await window.shows("› 10:41:12");
  });

  test("[C64] two marks are compared: Space, Space, d; x swaps, Esc clears", async () => {
    await using window = await open();
    await window.press("j", " ", "j", "j", "j", " ");
    await window.shows(/Compare A \(10:42:03 before Add retry wi…\) with B/);
    expect(window.lines.slice(3, 8)).toEqual([
      "  10:52:31 ○   Make the retry budget configurable per tenant",
      "  10:42:03 ○ A Add retry with exponential backoff to the payment client",
      "  10:41:12 ●   Document the retry headers in the OpenAPI spec   1 captured late",
      "  ───────── ✓ approved 10:31:40 · claude-code · session_2 ─────────",
      "› 10:24:10 ○ B Before the retry work                                     [demo]",
    ]);
    expect(window.lines.at(-1)).toBe(
      "d open the diff | Space unmark | x swap A and B | Esc clear both marks",
    );
    await window.press("x", "k", "k", "k", "k", " ");
    await window.shows(/^\d files, \+\d+ -\d+$/m);
    await window.press("d");
    await window.shows("file 1 of");
    await window.press(KEYS.esc, KEYS.esc);
    await window.shows("navigate");
  });

  test("one mark is compared with the disk", async () => {
    await using window = await open();
    await window.press(" ");
    expect(await window.shows("with the files on disk")).toContain("A Make the retry budget");
    await window.press(" ");
    await window.shows("navigate");
  });

  test("[R1702] / narrows the list while words are typed, Enter keeps it, Esc drops it", async () => {
    await using window = await open();
    await window.press("/");
    expect(window.lines.at(-1)).toBe("Enter keep the filter | Esc drop it | ↑↓ move through what is found");
    expect(window.lines.at(-4)).toBe(
      "words: prompts, names, notes, paths    agent: thread: file: tag: kind: session:",
    );
    await window.press("retry agent:claude");
    await window.shows(/Filter: retry agent:claude█ +\d of 10/);
    await expect.poll(() => window.text).not.toContain("Document the retry headers in the OpenAPI spec\n");
    expect(window.text).toContain("Yesterday\n  16:20:44 ○ Retry the webhook three times");
    // [R1702] what is current is not among what was found
    expect(window.lines[1]).toContain("(Current: Document the retry headers in the OpenAPI spec)");
    expect(window.text).not.toContain("● now");
    await window.press(KEYS.enter);
    await window.shows(/Filter: retry agent:claude +\d of 10/);
    await window.press(KEYS.esc);
    await window.shows("Cache provider tokens");
    expect(window.text).not.toContain("Filter:");
  });

  test("[R1554] v shows the details of the row, with the file under the pointer", async () => {
    await using window = await open();
    await window.press("j", "v");
    await window.shows("Bash: npm test -- payments -u");
    expect(window.lines[0]).toMatch(/^╭─ Checkpoint \d+ {2}[a-z]{12} ─+╮$/);
    expect(window.lines[1]).toMatch(/^│ Add retry with exponential backoff to the payment client +│$/);
    expect(window.text).toContain("  taken      today 10:42:03, before the prompt");
    expect(window.text).toMatch(/before the prompt {13}kind {2}message, before$/m);
    expect(window.text).toMatch(/thread {5}Payment retries \(claude-code\), message \d, session_3/);
    expect(window.text).toContain("  ended      10:43:15 after 4 steps");
    expect(window.text).toMatch(/^ {2}holds {6}16 files, 1\.4 KiB {13}new {3}1\.3 KiB in the store$/m);
    expect(window.text).toContain("  note       none (n writes one)           tags  none (t adds one)");
    expect(window.text).toMatch(/ {2}Changed by this turn +\+11 -5/);
    expect(window.text).toMatch(/^ {2}› M {2}package\.json/m);
    await window.press("j");
    expect(window.text).toMatch(/^ {2}› A {2}src\/payments\/backoff\.ts +\+3 +Write$/m);
    await window.press("y");
    expect(window.written[0]).toContain("]52;c;");
    await window.press(KEYS.esc);
    await window.shows("› 10:42:03");
  });

  test("[R314] e saves what the turn itself changed as a patch that git applies; a file that exists stays", async () => {
    await using window = await open();
    const directory = mkdtempSync(join(tmpdir(), "belay-patch-"));
    const file = join(directory, "T3.patch");
    const save = async (name: string) => {
      await window.press("e");
      await window.shows("Export patch");
      await window.press(...Array.from("T3.patch", () => KEYS.backspace), name, KEYS.enter);
    };
    await window.press("j", "v");
    await window.shows("Changed by this turn");
    expect(window.lines.at(-1)).toContain("e export patch");
    await window.press("e");
    await window.shows(/File: T\d+\.patch/);
    await window.press(KEYS.esc);
    await save(file);
    await window.shows(/Saved .*: 5 files/);
    const patch = readFileSync(file, "utf8");
    expect(patch).toContain("+++ b/src/payments/backoff.ts");
    expect(patch).not.toContain("docs/openapi.yaml");
    const before = join(directory, "before");
    await project.play("10:53:08", async (workspace) => {
      const { before: state } = await workspace.timeline.row("@turn-1");
      for await (const each of workspace.files(state!)) {
        if (each.kind !== "file") continue;
        const to = join(before, Buffer.from(each.path, "latin1").toString("utf8"));
        mkdirSync(dirname(to), { recursive: true });
        writeFileSync(to, Buffer.concat([...each.content()]));
      }
    });
    const { status, stderr } = spawnSync("git", ["apply", file], { cwd: before, encoding: "utf8" });
    expect([status, stderr]).toEqual([0, ""]);
    expect(existsSync(join(before, "src/payments/backoff.ts"))).toBe(true);
    expect(existsSync(join(before, "src/payments/legacy-retry.ts"))).toBe(false);
    await save(file);
    await window.shows("exists already. It was not changed");
    expect(readFileSync(file, "utf8")).toBe(patch);
    rmSync(directory, { recursive: true });
  });

  test("T lists the threads; Enter shows the rows of one alone, Esc goes back step by step", async () => {
    await using window = await open();
    await window.press("T");
    await window.shows("2 threads");
    expect(window.text).toMatch(/^› claude-code {2}Payment retries .*messages {2}working$/m);
    expect(window.text).toMatch(/^ {2}codex {8}OpenAPI docs .*1 message$/m);
    await window.press("j", KEYS.enter);
    await window.shows(/Snapshot Timeline, OpenAPI docs \(Current: Document the retry headers/);
    await window.shows("Document the retry headers");
    expect(window.text).not.toContain("Add retry with exponential");
    expect(window.lines.at(-1)).toContain("Esc back");
    await window.press(KEYS.esc);
    await window.shows("2 threads");
    await window.press(KEYS.esc);
    await window.shows("Add retry with exponential");
  });

  test("f goes to one file of the row: at once where it changed only one, else to the list to choose from", async () => {
    await using window = await open();
    await window.press("j", "f");
    await window.shows("Changed by this turn");
    await window.press("j", "f");
    await window.shows("y restore 1 file");
    expect(window.text).toContain("src/payments/backoff.ts");
    await window.press(KEYS.esc, KEYS.esc, KEYS.right);
    await window.shows("npm test -- payments -u");
    await window.press("j", "f");
    await window.shows("y restore 1 file");
    expect(window.text).toContain("src/payments/legacy-retry.ts");
  });

  test.each([
    [80, 24, false],
    [120, 36, false],
    [60, 16, false],
    [60, 16, true],
  ])("[R293] every screen fits %i×%i (ASCII: %s)", async (columns, rows, ascii) => {
    await using window = await open({ columns, rows, ascii });
    const screens: readonly (readonly [string, readonly (string | RegExp)[], RegExp])[] = [
      ["steps", ["j", KEYS.right], /10:43:11 {3}Edit/],
      ["details", ["v"], /taken/],
      ["export", ["v", /taken/, "e"], /Export/],
      ["diff", ["d"], /hunk 1/],
      ["split diff", ["d", /hunk 1/, "s"], /hunk 1/],
      ["restore", [KEYS.enter], /restore 1?\d file/],
      ["undo", ["u"], /Esc/],
      ["undo only this", ["R"], /Esc/],
      ["pending", ["p"], /Pending changes/],
      ["threads", ["T"], /2 threads/],
      ["one thread", ["T", /2 threads/, KEYS.enter], /Snapshot Timeline, /],
      ["help", ["?"], /Keys/],
      ["filter", ["/", "retry"], /Filter: retry/],
      ["marks", [" "], /Compare A/],
      ["note", ["n"], /Note: /],
      ["checkpoint", ["c"], /Name/],
    ];
    for (const [name, keys, shown] of screens) {
      for (const key of keys) await (typeof key === "string" ? window.press(key) : window.shows(key));
      await expect.poll(() => window.text, { message: name }).toMatch(shown);
      // reading the lines checks their width and their number
      expect(window.lines.length, name).toBeLessThanOrEqual(rows);
      if (ascii) expect(window.text, name).toMatch(/^[ -~\n]*$/);
      for (const key of keys) if (typeof key === "string") await window.press(KEYS.esc);
      if (name !== "steps") await expect.poll(() => window.text).toMatch(/navigate/);
    }
  });

  test("? lists the keys of the screen as in the picture", async () => {
    await using window = await open();
    await window.press("?");
    expect(window.lines.slice(0, 4)).toEqual([
      "╭─ Keys ───────────────────────────────────────────────────────────────────────╮",
      "│ Move                              Look                                       │",
      "│ ↑ ↓ j k      row                  d        diff (two marks, or with disk)    │",
      "│ → ←          unfold, fold steps   v        details                           │",
    ]);
    expect(window.lines.slice(8, 13)).toEqual([
      "│ Go back                           Keep                                       │",
      "│ Enter        restore… (preview)   c        checkpoint…                       │",
      "│ u  r         undo…, redo…         n t m    note, tag, rename                 │",
      "│ R            undo only this…      p        pending: A approve, X reset       │",
      "│ f            only this file…      T        threads                           │",
    ]);
    expect(window.text).toContain(
      "│ Everything that changes files shows first what it would do, and asks.        │",
    );
    expect(window.text).toContain("? or Esc closes | belay help tells about the commands");
    await window.press("?");
    await window.shows("navigate");
  });

  test("[R1601] ? lists the keys of every screen that asks nothing", async () => {
    await using window = await open();
    const help = async (...expected: string[]) => {
      await window.press("?");
      await window.shows("╭─ Keys");
      for (const text of expected) expect(window.text).toContain(text);
      await window.press("?");
      await expect.poll(() => window.text).not.toContain("╭─ Keys");
    };
    await window.press("j", "d");
    await window.shows("hunk 1");
    await help(
      "j k          file",
      "Enter    unchanged lines too",
      "h            undo this hunk…",
      "Y        copy",
    );
    await window.press(KEYS.esc, "v");
    await window.shows("Changed by this turn");
    await help("f            only this file…", "e        export patch…");
    await window.press(KEYS.esc, "p");
    await window.shows("Pending changes");
    await help("X            reset… (preview)", "Space    mark as seen");
    await window.press(KEYS.esc, "T");
    await window.shows("2 threads");
    await help("Enter    its timeline");
    expect(window.text).not.toContain("Go back");
    // a small window has one entry a line, and scrolls
    await window.press(KEYS.esc);
    await window.resize(60, 16);
    await window.press("?");
    await window.shows("↑↓ scroll | ? or Esc closes");
    expect(window.text).not.toContain("…  ");
    await window.press(KEYS.pageDown, KEYS.pageDown);
    await window.shows("never acting.");
    expect(window.text).toContain("n t m        note, tag, rename");
  });

  test("[R1605] in ASCII our own words have three dots", async () => {
    await using window = await open({ ascii: true });
    await window.press("?");
    await window.shows("Enter        restore... (preview) c        checkpoint...");
    await window.press("?", "p");
    expect(await window.shows("X reset... | d diff")).not.toContain("reset. ");
  });

  test("g and G, a number and G, pages; a list that is loaded page by page reaches its end", async () => {
    await using window = await open();
    await window.press("G");
    await window.shows("› 09:00:00");
    await window.press("g");
    await window.shows("› 10:52:31");
    await window.press("5", "G");
    await window.shows("› 10:24:10");
    await window.press(KEYS.pageUp);
    await window.shows("› 10:52:31");
    await window.press(KEYS.pageDown);
    expect(window.text).not.toContain("› 10:52:31");
  });
});
