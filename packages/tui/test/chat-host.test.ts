/** The screens in a chat that reads the same terminal. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { Chat } from "./support/chat.ts";
import { NO_TMUX, TmuxTerminal } from "./support/tmux-terminal.ts";

const HOST = join(import.meta.dirname, "support/chat-host.mjs");

test.skipIf(NO_TMUX !== undefined)(
  "[M59] [R2344] in a chat that reads lines, keys of the menu are the menu's, and afterwards the chat goes on",
  async () => {
    await using chat = await Chat.start({ "a.txt": "one\n" });
    const { project } = chat;
    const env = {
      PATH: process.env["PATH"]!,
      HOME: project.base,
      TERM: "tmux-256color",
      LC_ALL: "C.UTF-8",
      PS1: "% ",
      BELAY_URL: project.url,
      BELAY_TOKEN: project.token,
      PROJECT: project.project,
    };
    await using terminal = new TmuxTerminal(80, 24, { directory: project.project, env });
    await terminal.shows("%");
    terminal.type(`'${process.execPath}' '${HOST}'; echo ended $?\n`);
    await terminal.shows(/^>$/m);
    for (const round of ["first", "second"]) {
      terminal.type("/checkpoint\n");
      await terminal.shows(/^╭─ \/checkpoint ─/);
      await terminal.press("Down", "Down", "Down", "Down", "Enter");
      await terminal.shows("Name (may stay empty)");
      terminal.type(`${round} name`);
      await terminal.shows(`${round} name█`);
      await terminal.press("Enter");
      await terminal.shows(`Kept this state as "${round} name"`);
      // every line of the window is the menu's
      expect(terminal.text).toMatch(/^╭─ \/checkpoint ─+╮\n(│.*│\n)+╰─+╯\n✓ Kept this state.*\n*$/);
      await terminal.press("Escape");
      await terminal.shows(/^said: \/checkpoint$/m);
      terminal.type(`hello ${round}\n`);
      await terminal.shows(new RegExp(`^said: hello ${round}$`, "m"));
    }
    const said = terminal.text.split("\n").filter((line) => line.startsWith("said: "));
    expect(said).toEqual(
      ["/checkpoint", "hello first", "/checkpoint", "hello second"].map((each) => `said: ${each}`),
    );
    await terminal.press("C-d");
    await terminal.shows(/ended 0$/m);
  },
);
