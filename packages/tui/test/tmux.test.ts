/** The screens in a real terminal: their keys, and that nothing of them is left behind. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PicturedProject } from "./support/pictured-project.ts";
import { NO_TMUX, TmuxTerminal } from "./support/tmux-terminal.ts";

const BELAY = join(import.meta.dirname, "../../cli/bin/belay");

/** A restore of thousands of files takes seconds, and on a busy machine many of them. */
const LIMIT_MS = 120_000;

/** The row of the pictures that the keys of most screens are about. */
const ON_THE_ROW = ["j", /› 10:42:03/] as const;

/** The keys that lead to each screen, with what must be on it before the next key, and what it shows. */
const SCREENS: readonly (readonly [string, readonly (string | RegExp)[], RegExp])[] = [
  ["timeline", [], /› 10:52:31/],
  ["steps", [...ON_THE_ROW, "Right"], /npm test -- payments -u/],
  ["filter", ["/", /Filter: /, "w"], /Filter: w/],
  ["details", [...ON_THE_ROW, "v"], /Changed by this turn/],
  ["diff", [...ON_THE_ROW, "d"], /hunk 1 of/],
  ["marks", [...ON_THE_ROW, "Space"], /Compare A/],
  ["note", [...ON_THE_ROW, "n"], /Note: /],
  ["checkpoint", ["c"], /Name \(may stay empty\)/],
  ["help", ["?"], /Everything that changes files shows first/],
  ["tags", [...ON_THE_ROW, "t"], /Tags, divided by spaces/],
  ["name", [...ON_THE_ROW, "m"], /Name: /],
  ["threads", ["T"], /2 threads/],
  ["one thread", ["T", /› claude-code/, "j", /› codex/, "Enter"], /Snapshot Timeline, OpenAPI docs/],
  ["export", [...ON_THE_ROW, "v", /Changed by this turn/, "e"], /Export patch/],
  ["restore", [...ON_THE_ROW, "Enter"], /y restore \d+ files/],
  ["one file", [...ON_THE_ROW, "v", /Changed by this turn/, "f"], /y restore 1 file/],
  ["undo", ["u"], /y undo it; no file changes/],
  ["undo only this", [...ON_THE_ROW, "R"], /(y undo|decide for each)/],
  ["pending", ["p"], /Pending changes/],
  ["reset", ["p", /Pending changes/, "X"], /the approved state of/],
  ["approve", ["p", /Pending changes/, "A"], /Message/],
  [
    "two states",
    [...ON_THE_ROW, "Space", /Compare A/, "j", /› 10:41:12/, "Space", /with B/, "d"],
    /These two states are the same/,
  ],
  ["diff of a plan", [...ON_THE_ROW, "Enter", /y restore/, "d"], /after the restore/],
];

describe.skipIf(NO_TMUX !== undefined)(
  `in a real terminal${NO_TMUX === undefined ? "" : ` (skipped: ${NO_TMUX})`}`,
  () => {
    let project: PicturedProject;
    beforeAll(async () => {
      project = await PicturedProject.played();
    });
    afterAll(async () => {
      expect(await project.verify()).toEqual([]);
      await project[Symbol.asyncDispose]();
    });

    async function open(columns: number, rows: number): Promise<TmuxTerminal> {
      const env = {
        PATH: process.env["PATH"]!,
        HOME: project.base,
        BELAY_HOME: project.home,
        BELAY_RESIDENT: "off",
        TERM: "tmux-256color",
        LC_ALL: "C.UTF-8",
        TZ: "UTC",
        PS1: "% ",
        // shells of agents and build machines have it; a terminal is a terminal
        CI: "true",
      };
      const terminal = new TmuxTerminal(columns, rows, { directory: project.project, env });
      await terminal.shows("%");
      await terminal.run(`belay() { ${BELAY} "$@"; }`);
      await terminal.run("clear; stty -a > ../before");
      return terminal;
    }

    test.each([
      [80, 24],
      [120, 36],
      [60, 16],
    ])(
      "[M03] [M73] bare belay opens the timeline at %i×%i, and every key hint fits",
      async (columns, rows) => {
        await using terminal = await open(columns, rows);
        terminal.type("belay\n");
        await terminal.shows(/› 10:52:31/);
        expect(terminal.flags).toContain("alternate 1");
        const lines = terminal.text.trimEnd().split("\n");
        expect(lines).toHaveLength(rows);
        expect(lines.at(-2)).toMatch(/^↑↓ navigate \| /);
        expect(lines.at(-1)).toMatch(/\? help {2}q quit$/);
        await terminal.press("j", "d");
        await terminal.shows("file 1 of 5");
        await terminal.press("Escape");
        await terminal.shows(/› 10:42:03/);
        await terminal.press("q");
        await expect.poll(() => terminal.flags).toContain("alternate 0");
      },
    );

    test(
      "[R2340] a restore of thousands of files shows a bar that grows to its end",
      { timeout: 2 * LIMIT_MS },
      async () => {
        await using terminal = await open(80, 24);
        const fill = (text: string) =>
          `mkdir -p ../many && cd ../many && seq 4000 | while read n; do echo ${text} $n > $n.txt; done`;
        await terminal.run(fill("one"));
        await terminal.run("belay init --no-agents --yes --quiet; clear");
        await terminal.run(fill("two"));
        terminal.type("clear; belay timeline\n");
        await terminal.shows(/› .* Initial checkpoint/);
        await terminal.press("Enter");
        await terminal.shows("y restore 4,000 files");
        const drawn = new Set<string>();
        await terminal.press("y");
        await expect
          .poll(() => drawn.add(terminal.text) && terminal.text, { interval: 10, timeout: LIMIT_MS })
          .toMatch("Restored 4,000 files");
        const bars = [...drawn].filter((text) => text.includes("│ Restoring 4,000 files"));
        expect(bars.join("\n")).toMatch(/│ [█░]+ {3}[\d,]+ {3}[\d.]+ m?s {3}│/);
        // not the time alone goes on
        const done = bars.map((text) => /[█░] {3}([\d,]+) {3}/.exec(text)![1]);
        expect(new Set(done).size).toBeGreaterThan(1);
      },
    );

    test.each(SCREENS)(
      "[R290] Ctrl-C on the screen %s leaves the terminal as it was",
      async (_, keys, shown) => {
        await using terminal = await open(80, 24);
        await terminal.run("stty -a > ../before");
        await terminal.run("clear");
        terminal.type("belay timeline\n");
        await terminal.shows(/› 10:52:31/);
        for (const key of keys) await (typeof key === "string" ? terminal.press(key) : terminal.shows(key));
        await terminal.shows(shown);
        expect(terminal.flags).toContain("alternate 1");
        await terminal.press("C-c");
        await expect.poll(() => terminal.flags).toMatch(/alternate 0 cursor 1 .* mouse 0/);
        expect(terminal.text).not.toContain("Snapshot Timeline");
        expect(terminal.text).toMatch(/^% belay timeline$/m);
        await terminal.shows(/^% belay timeline.*\n%$/m);
        await terminal.run("echo code $?; stty -a > ../after; cmp ../before ../after && echo same settings");
        expect(terminal.text).toMatch(/^code 130$/m);
        expect(terminal.text).toMatch(/^same settings$/m);
      },
    );

    test.each([
      ["SIGTERM", 143],
      ["SIGHUP", 129],
    ] as const)("[R290] %s leaves the terminal as it was", async (signal, code) => {
      await using terminal = await open(80, 24);
      await terminal.run("stty -a > ../before; clear");
      terminal.type("belay timeline --mouse\n");
      await terminal.shows(/› 10:52:31/);
      expect(terminal.flags).toContain("mouse 1");
      process.kill(terminal.childOf(), signal);
      await expect.poll(() => terminal.flags).toMatch(/alternate 0 cursor 1 .* mouse 0/);
      await terminal.shows(/^% belay timeline.*\n%$/m);
      await terminal.run("echo code $?; stty -a > ../after; cmp ../before ../after && echo same settings");
      expect(terminal.text).toMatch(new RegExp(`^code ${code}$`, "m"));
      expect(terminal.text).toMatch(/^same settings$/m);
    });

    test("resizing draws again at once", async () => {
      await using terminal = await open(80, 24);
      terminal.type("belay timeline\n");
      await terminal.shows(/› 10:52:31/);
      terminal.resize(120, 36);
      await terminal.shows("Tab goes over here");
      terminal.resize(50, 14);
      await expect.poll(() => terminal.text.trimEnd().split("\n").length).toBe(14);
      await terminal.shows(/\? help {2}q quit$/m);
      await terminal.press("q");
    });

    test("[R292] pasted text is no key", async () => {
      await using terminal = await open(80, 24);
      terminal.type("belay timeline\n");
      await terminal.shows(/› 10:52:31/);
      terminal.paste("q\nd");
      await terminal.press("?");
      await terminal.shows("Everything that changes files shows first");
      await terminal.press("Escape");
      await terminal.shows("navigate");
      await terminal.press("/");
      terminal.paste("retry\n");
      await terminal.shows(/Filter: retry/);
      expect(terminal.flags).toContain("alternate 1");
      await terminal.press("C-c");
    });

    test("[R290] without a terminal the same rows are printed", async () => {
      await using terminal = await open(80, 24);
      const text = await terminal.run("belay timeline | head -5");
      expect(text).not.toContain("╭");
      expect(text).toMatch(/Make the retry bud/);
    });
  },
);
