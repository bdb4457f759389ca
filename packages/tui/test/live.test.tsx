import { spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { processIdentity } from "@belay/engine";
import { describe, expect, test } from "vitest";
import type { Connection } from "../src/data/connection.ts";
import { TimelineScreen } from "../src/screens/timeline/timeline.tsx";
import { at, connectionTo, openThread, PicturedProject, playTurn } from "./support/pictured-project.ts";
import { KEYS, Window } from "./support/window.tsx";

describe("what happens while the timeline is open", () => {
  test("[R291] [R1600] shows up by itself and never moves the row under the pointer; g goes to the news", async () => {
    await using project = await PicturedProject.played();
    await using window = await Window.open(<TimelineScreen />, { place: project.place });
    await window.shows("Add retry with exponential backoff");
    await window.press("j");
    const before = window.lines.slice(3);
    const git = ["-c", "user.name=a", "-c", "user.email=a@b", "-C", project.project];
    spawnSync("git", [...git, "init", "-q", "-b", "main"]);
    spawnSync("git", [...git, "commit", "-q", "--allow-empty", "-m", "first"]);
    const thread = await openThread(project, "gemini-cli", "Flaky ledger test");
    for (const [second, path] of ["a.txt", "b.txt", "c.txt"].entries())
      await playTurn(project, {
        thread,
        prompt: `Write ${path}`,
        at: `10:53:1${second}`,
        until: `10:53:1${second}.5`,
        calls: [
          {
            at: `10:53:1${second}.1`,
            until: `10:53:1${second}.2`,
            tool: "Write",
            summary: path,
            change: () => project.write(path, `${path}\n`),
          },
        ],
      });
    // three turns, and what the user had changed by hand before them
    await window.shows("↑ 4 new (g goes there)");
    expect(window.lines.slice(3, 16).map(stable)).toEqual(before.slice(0, 13).map(stable));
    await window.press("g");
    await window.shows("Write c.txt");
    expect(window.text).not.toContain("new (g goes there)");
    // [R1600] beside the list stands where git was, and in the details who changed a file after the turn
    await window.resize(120, 36);
    await window.shows(/│ gemini-cli · Flaky ledger test · 10:53:12 · main [0-9a-f]{7}$/m);
    await window.press("j", "j", "j", "j", "v");
    await window.shows(/M {2}src\/payments\/client\.ts +\S+ \S+ +Write, and by hand yesterday 14:00$/m);
    expect(await project.verify()).toEqual([]);
  });

  test("where the files equal no row, the first line says so, and so does the title", async () => {
    await using project = await PicturedProject.played();
    project.write("README.md", "changed\n");
    await using window = await Window.open(<TimelineScreen />, { place: project.place });
    await window.shows(/\(Current: now, \d files? changed since 10:5\d:\d\d\)/);
    expect(window.lines[3]).toMatch(/^ {2}\d\d:\d\d:\d\d ● now, \d files? changed since 10:5\d:\d\d$/);
    expect(window.lines[4]).toMatch(/^› 10:52:31 ○ Make the retry budget/);
  });

  test("[M69] [R2343] while a turn works on and nothing else changed, it is what is current", async () => {
    await using project = await PicturedProject.empty();
    const thread = await openThread(project, "gemini-cli", "Flaky ledger test");
    const change = () => project.write("a.txt", "a\n");
    const call = { at: "10:50:01", until: "10:50:02", tool: "Write", summary: "a.txt", change };
    await playTurn(project, { thread, prompt: "Write a", at: "10:50:00", calls: [call] });
    await using window = await Window.open(<TimelineScreen />, { place: project.place });
    await window.shows("(Current: Write a)");
    expect(window.lines[3]).toMatch(/^› 10:50:00 ● Write a/);
    project.write("a.txt", "by hand\n");
    await using later = await Window.open(<TimelineScreen />, { place: project.place });
    await later.shows("(Current: now, 1 file changed since 10:50:00)");
    expect(later.lines[4]).toMatch(/^› 10:50:00 ○ Write a/);
    expect(await project.verify()).toEqual([]);
  });

  test("[M69] [R2346] where an undo left what no row has, no row is called current", async () => {
    await using project = await PicturedProject.empty();
    const thread = await openThread(project, "gemini-cli", "Flaky ledger test");
    const change = () => project.write("a.txt", "a\n");
    const call = { at: "10:50:01", until: "10:50:02", tool: "Write", summary: "a.txt", change };
    await playTurn(project, { thread, prompt: "Write a", at: "10:50:00", until: "10:50:03", calls: [call] });
    project.write("b.txt", "by hand\n");
    await project.play("10:51:00", (workspace) => workspace.undo());
    await using window = await Window.open(<TimelineScreen />, { place: project.place });
    await window.shows("(Current: now, after an undo or redo)");
    expect(window.lines[3]).toMatch(/^ {2}\d\d:\d\d:\d\d ● now, after an undo or redo$/);
    expect(window.text).not.toContain("● Write a");
    expect(await project.verify()).toEqual([]);
  });

  test("[R2347] on the line of the files on disk d shows what changed, and keys that need a row say why they do nothing", async () => {
    await using project = await PicturedProject.played();
    project.write("README.md", "changed\n");
    await using window = await Window.open(<TimelineScreen />, { place: project.place });
    await window.shows(/● now, \d files? changed/);
    await window.press("k");
    await window.shows(/^› \d\d:\d\d:\d\d ● now, /m);
    for (const key of ["v", KEYS.enter, "R", "n", "m", " "]) {
      await window.press(key);
      await window.shows("These are the files on disk; d shows what changed.");
      await window.press(KEYS.esc);
      expect(window.text).not.toContain("These are the files on disk");
    }
    await window.press("d");
    await window.shows(/^The newest checkpoint {2}-> {2}the files on disk/m);
    expect(window.text).toContain("README.md");
    expect(window.text).toMatch(/\+changed/);
  });

  test("[R1700] an agent that was killed is not at work: its row and the list of threads", async () => {
    await using project = await PicturedProject.empty();
    const agent = spawn("sleep", ["600"]);
    const client = processIdentity(agent.pid!);
    const of = { agent: "claude-code", externalId: "1", title: "Payment retries", brackets: true, client };
    const thread = await project.play("10:49:00", (workspace) => workspace.threads.create(of));
    const change = () => project.write("a.txt", "a\n");
    const call = { at: "10:50:01", until: "10:50:02", tool: "Write", summary: "a.txt", change };
    await playTurn(project, { thread: thread.id, prompt: "Write a", at: "10:50:00", calls: [call] });
    await using window = await Window.open(<TimelineScreen />, { place: project.place });
    await window.shows(/^ {6}├─► claude-code \(189\.2s\) ⚠$/m);
    await window.press("T");
    await window.shows(/messages? {2}working$/m);
    agent.kill("SIGKILL");
    await once(agent, "exit");
    await window.press(KEYS.esc, "T");
    await window.shows(/claude-code {2}Payment retries .*messages?$/m);
    await using later = await Window.open(<TimelineScreen />, { place: project.place });
    await later.shows(/^ {6}├─► claude-code \(2\.0s\) ⚠ +interrupted$/m);
    expect(await project.verify()).toEqual([]);
  });

  test("a project that was deleted is looked for now and then, not again and again", async () => {
    await using project = await PicturedProject.empty();
    let attempts = 0;
    const connect = () => {
      attempts += 1;
      return project.place.connect();
    };
    await using window = await Window.open(<TimelineScreen />, { place: { ...project.place, connect } });
    await window.shows("Nothing has happened yet");
    rmSync(project.base, { recursive: true });
    await window.shows("Not connected");
    const before = attempts;
    await new Promise((done) => setTimeout(done, 2500));
    // after one second, and after two more
    expect(attempts - before).toBeLessThanOrEqual(2);
  });

  test("[R2142] a directory that is gone is named, nothing is said to be current, and a row brings its files back", async () => {
    await using project = await PicturedProject.played();
    rmSync(project.project, { recursive: true });
    await using window = await Window.open(<TimelineScreen />, { place: project.place });
    await window.shows("This directory is gone");
    expect(window.lines.slice(1, 5)).toEqual([
      "│ Snapshot Timeline                                                            │",
      "╰──────────────────────────────────────────────────────────────────────────────╯",
      "! This directory is gone; its checkpoints are not.",
      "  Enter on a row shows what brings its files back.",
    ]);
    await window.press(KEYS.enter);
    await window.shows(/y restore \d+ files/);
    await window.press("y");
    await window.shows("✓ Restored");
    // [R2472] it was over the limit
    expect(window.text).toContain("    Not captured, not touched: fixtures/dump.bin.\n");
    expect(existsSync(join(project.project, "src/payments/client.ts"))).toBe(true);
    await window.shows(/\(Current: /);
    expect(window.text).not.toContain("is gone");
  });

  test.each([80, 40])(
    "[R2141] a store that a newer Belay wrote is the whole screen, whole in %i columns, and leaving it ends with 7",
    async (columns) => {
      await using project = await PicturedProject.played();
      const store = readdirSync(join(project.home, "workspaces"))[0]!;
      const db = new DatabaseSync(join(project.home, "workspaces", store, "store.db"));
      db.exec("PRAGMA user_version = 99");
      db.close();
      await using window = await Window.open(<TimelineScreen />, { place: project.place, columns });
      await window.shows("q quit");
      const said = window.text.replaceAll(/[│╭╮╰╯─\s]+/g, " ");
      expect(said).toContain("(format 99, this one knows 7). Nothing was changed.");
      expect(said).toContain(
        "Update Belay: a newer version wrote the store. `belay --version` says which one this is.",
      );
      expect(window.text).not.toMatch(/navigate|Not connected|…/);
      await window.press("u", "c", KEYS.enter);
      expect(window.text).toContain("Update Belay");
      expect(window.lines.at(-1)).toBe("q quit");
      await window.press("q");
      expect(window.exit).toBe(7);
    },
  );

  test("an empty project says what to do", async () => {
    await using project = await PicturedProject.empty();
    await using window = await Window.open(<TimelineScreen />, { place: project.place });
    await window.shows("Nothing has happened yet");
    expect(window.lines.slice(3, 9)).toEqual([
      "╭──────────────────────────────────────────────────────────────╮",
      "│ payments-api is protected. Nothing has happened yet.         │",
      "│                                                              │",
      "│ Start your agent and work as always: claude                  │",
      "│ Each prompt shows up here within a second.                   │",
      "╰──────────────────────────────────────────────────────────────╯",
    ]);
  });

  test("[R2145] a note, tags and a name are saved and show at once; c keeps the present files", async () => {
    await using project = await PicturedProject.played();
    await using window = await Window.open(<TimelineScreen />, {
      place: project.place,
      columns: 120,
      rows: 36,
    });
    await window.shows("Add retry with exponential backoff");
    await window.press("j", "t");
    await window.shows("Tags, divided by spaces:");
    await window.press("good retry", KEYS.enter);
    await window.shows(/\[good\] \[retry\]/);
    // the name of a turn stands beside its prompt, and in the details
    await window.press("m", "Backoff", KEYS.enter);
    await window.shows(/10:42:03 ○ Add .*“Backoff” \[good\] \[retry\]/);
    await window.press("v");
    await window.shows(/^ {2}name {7}Backoff$/m);
    await window.press(KEYS.esc);
    await window.press("n", "Worked at once.", KEYS.enter);
    await window.shows("      Worked at once.");
    await window.press("c", "Kept", KEYS.enter);
    await window.shows('Kept this state as "Kept"');
    await window.press("g");
    await window.shows(/○|● Kept/);
    expect(await project.verify()).toEqual([]);
  });

  test("[R311] a turn that was not captured stands where it happened, and the head says since when captures fail", async () => {
    await using project = await PicturedProject.empty();
    const thread = await openThread(project, "claude-code", "Payment retries");
    const turn = (prompt: string, minute: string, path: string) =>
      playTurn(project, {
        thread,
        prompt,
        at: `10:${minute}:00`,
        until: `10:${minute}:09`,
        calls: [
          {
            at: `10:${minute}:01`,
            until: `10:${minute}:02`,
            tool: "Write",
            summary: path,
            change: () => project.write(path, `${minute}\n`),
          },
        ],
      });
    const lost = (prompt: string, minute: string) =>
      project.play(`10:${minute}:00`, (workspace) => {
        const time = { at: at(`10:${minute}:00`), until: at(`10:${minute}:09`), events: 3 };
        return workspace.threads.noteUncaptured(thread, { ...time, prompt, problem: "No space is left" });
      });
    await turn("First", "20", "a.txt");
    await lost("Lost\u001b[2J one", "21");
    await turn("Second", "22", "b.txt");
    await lost("Lost two", "23");
    await using window = await Window.open(<TimelineScreen />, { place: project.place });
    await window.shows("Checkpoints fail since 10:23. Agents go on, unprotected.");
    const rows = window.lines.filter((each) => /^. (10:|not)|^! /.test(each));
    expect(rows.map((each) => each.slice(2, 31).trim())).toEqual([
      "Checkpoints fail since 10:23.",
      "10:23:00 not captured: Lost t",
      "10:22:00 ● Second",
      "10:21:00 not captured: Lost\\x",
      "10:20:00 ○ First",
    ]);
    expect(window.text).toMatch(/^! 10:23:00 not captured: Lost two +No space is left$/m);
    await turn("Third", "24", "c.txt");
    await window.shows("Third");
    expect(window.text).not.toContain("Checkpoints fail");
  });

  test("[R1914] [R1723] a store that is full says so with the way out, in narrow windows too, and so long as it is", async () => {
    await using project = await PicturedProject.empty();
    const config = join(project.home, "config.json");
    writeFileSync(config, JSON.stringify({ "disk.capBytes": 2 ** 20 }));
    project.write("large.txt", randomBytes(2 ** 20).toString("base64"));
    const keep = () => project.play("10:23:00", (workspace) => workspace.checkpoint({ kind: "manual" }));
    await expect(keep()).rejects.toMatchObject({ code: "STORE_FULL" });
    const strip = [
      "! The store is full: checkpoints fail since 10:23. Agents go on, unprotected.",
      "  `belay prune --dry-run` shows what can go; disk.capBytes raises the cap.",
    ];
    {
      await using window = await Window.open(<TimelineScreen />, { place: project.place });
      await window.shows("The store is full");
      expect(window.lines.slice(3, 5)).toEqual(strip);
      await window.resize(60, 16);
      const narrow = window.lines.slice(3, 7);
      expect(narrow.map((each) => each.trim()).join(" ")).toBe(strip.map((each) => each.trim()).join(" "));
    }
    writeFileSync(config, JSON.stringify({ "disk.capBytes": 2 ** 30 }));
    await keep();
    await using later = await Window.open(<TimelineScreen />, {
      place: project.place,
      columns: 120,
      rows: 36,
    });
    await later.shows("of 1 GiB");
    expect(later.text).not.toContain("The store is full");
  });

  test("[R313] [R823] checkpoints that cannot be restored in full are named, with how many are sound", async () => {
    await using project = await PicturedProject.empty();
    project.write("only-here.txt", "only here\n");
    await project.play("10:20:00", (workspace) => workspace.checkpoint({ kind: "manual", name: "Bad one" }));
    const store = readdirSync(join(project.home, "workspaces"))[0]!;
    const db = new DatabaseSync(join(project.home, "workspaces", store, "store.db"));
    db.exec(`DELETE FROM object WHERE hash = (SELECT substr(new, -32) FROM change
      WHERE CAST(path AS TEXT) = 'only-here.txt')`);
    db.close();
    const { ok } = await project.play("10:21:00", (workspace) => workspace.upkeep.verify());
    expect(ok).toBe(false);
    await using window = await Window.open(<TimelineScreen />, { place: project.place });
    await window.shows("cannot be restored in full");
    expect(window.lines.slice(3, 5)).toEqual([
      "! 1 checkpoint cannot be restored in full; the other 1 is sound.",
      "  Your files are untouched. belay verify lists them.",
    ]);
    expect(window.lines[5]).toMatch(/^› 10:20:00 . Bad one +damaged$/);
  });

  test("a resident process that is missing is named, with what goes on", async () => {
    await using project = await PicturedProject.played();
    const place = { ...project.place, expectsResident: true };
    await using window = await Window.open(<TimelineScreen />, { place });
    await window.shows("The resident process is not there; showing what the store has.");
    expect(window.lines.slice(3, 5)).toEqual([
      "! The resident process is not there; showing what the store has. Captures go on",
      "  by the hooks themselves. Trying again…",
    ]);
  });

  test("[R2470] the resident process comes while a question is on the screen: y still carries out what it shows", async () => {
    await using project = await PicturedProject.empty();
    const thread = await openThread(project, "codex", "Notes");
    const change = () => project.write("README.md", "changed\n");
    const call = { at: "10:00:01", until: "10:00:02", tool: "Edit", summary: "README.md", change };
    await playTurn(project, { thread, prompt: "Write", at: "10:00:00", until: "10:00:03", calls: [call] });
    await using resident = project.openApp();
    const come = Promise.withResolvers<Connection>();
    let tries = 0;
    const place = {
      ...project.place,
      expectsResident: true,
      connect: () => ((tries += 1) === 1 ? project.place.connect() : come.promise),
    };
    await using window = await Window.open(<TimelineScreen />, { place });
    await window.shows("The resident process is not there");
    await expect.poll(() => tries, { timeout: 10_000 }).toBe(2);
    await window.press("u");
    await window.shows("y undo 1 file");
    come.resolve(connectionTo(resident, "resident"));
    await window.press("y");
    await window.shows("✓ Undone");
    // then they change over
    await expect
      .poll(() => window.text, { timeout: 10_000 })
      .not.toContain("The resident process is not there");
    expect(await project.verify()).toEqual([]);
  });
});

/** Without what the clock changes. */
function stable(line: string): string {
  return line.replace(/\(\d+\.\ds\)/, "(s)").replace("●", "○");
}
