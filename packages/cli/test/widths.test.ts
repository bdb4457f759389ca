/** Names, prompts and notes of every kind at every width: a real terminal must not have to break a line. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openWorkspace } from "@belay/engine";
import { clusters, displayWidth } from "@belay/tui/text";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LAUNCHER, Sandbox } from "./sandbox.ts";
import { hasTmux, TmuxWindow } from "./tmux-window.ts";

const HOSTILE = [
  "日本語のとても長いファイル名があります.txt",
  "👩‍👩‍👧 family and 🇩🇪 flag.txt",
  "cafe\u0301 with combining e\u0308u\u0308o\u0308.txt",
  "한국어 파일 이름.txt",
  `${"long-".repeat(40)}.txt`,
  `${"deep/".repeat(30)}file.txt`,
  "control\u001b[31m\u0007.txt",
  "two\nlines.txt",
  "right\u202eleft.txt",
  "tab\there.txt",
];

const PROMPT = `Please rename 日本語のファイル and ${"a-word-that-never-ends".repeat(12)}, then 👩‍👩‍👧 go on`;

let sandbox: Sandbox;
let thread: string;

beforeAll(async () => {
  sandbox = new Sandbox({ "a.txt": "one\n" });
  await using workspace = await openWorkspace(sandbox.project, { home: sandbox.home });
  ({ id: thread } = await workspace.threads.open({ agent: "claude-code", externalId: "wide" }));
  for (const [at, name] of HOSTILE.entries()) {
    await workspace.turns.prompt(thread as never, { content: `${at} ${PROMPT}` });
    sandbox.write(name, `${name}\n`);
    await workspace.turns.end(thread as never);
  }
  writeFileSync(Buffer.from(`${sandbox.project}/not-utf8-\xff\xfe.txt`, "latin1"), "x\n");
  const note = `note ${PROMPT}`;
  await workspace.checkpoint({ kind: "manual", name: "名前 with 👍 emoji", note, tags: ["タグ"] });
  for (const name of HOSTILE.slice(0, 5)) sandbox.write(name, "changed\n");
  sandbox.remove("a.txt");
});
afterAll(async () => {
  await sandbox.verify();
  sandbox[Symbol.dispose]();
});

const READING = [
  "status",
  "status --short",
  "list --all",
  "log --all",
  "log --stat -n 4",
  "show",
  "show @",
  "show 4",
  "diff --stat",
  "diff --name-only",
  "files @ --long",
  "search rename",
  "threads",
  "thread THREAD",
  "stats",
  "config",
  "workspaces",
  "doctor",
  "undo --dry-run",
  "restore 3 --dry-run",
  "revert 6 --dry-run",
  "prune --dry-run",
  "gc --dry-run",
  "forget a.txt --dry-run",
  "reset --dry-run",
  "approve --dry-run",
  "restore nothing-of-this-name",
  "--help",
  "restore --help",
];

const environment = (): NodeJS.ProcessEnv => ({
  ...sandbox.environment,
  TERM: "xterm",
  LC_ALL: "C.UTF-8",
  BELAY_PAGER: "cat",
  BELAY_RESIDENT: "off",
});

describe.skipIf(!hasTmux)("[R267] at", () => {
  test.each([40, 60, 80, 120, 200])("%i columns no line is wider than the window", async (columns) => {
    const script = join(sandbox.base, `belay-${columns}`);
    writeFileSync(script, `#!/bin/sh\nexec '${process.execPath}' '${LAUNCHER}' "$@"\n`, { mode: 0o755 });
    const options = { cwd: sandbox.project, env: { ...environment(), PS1: "$ " } };
    using window = new TmuxWindow(["sh"], options, { columns, rows: 600 });
    for (const [at, words] of READING.entries()) {
      const line = words.replace("THREAD", thread);
      window.type(`clear; ../belay-${columns} ${line}; echo END ${at}`, "Enter");
      const isDone = () => window.screen().includes(`\nEND ${at}\n`);
      await expect.poll(isDone, { message: words }).toBe(true);
      const shown = outputOf(window.screen(), at);
      expect(shown.length, words).toBeGreaterThan(0);
      if (words === "status")
        expect(charactersOf(shown.join("")), "[R1913]").toBe(charactersOf(sandbox.ok("status")));
      // the terminal breaks what is too wide; joined again there would be fewer lines
      expect(outputOf(window.screen({ joined: true }), at), words).toEqual(shown);
      for (const each of shown) expect(displayWidth(each), `${words}: ${each}`).toBeLessThanOrEqual(columns);
    }
  });
});

test("[R267] columns stand below each other, whatever is in them", () => {
  const rows = sandbox.ok("list", "--all").trimEnd().split("\n");
  const starts = rows.map((row) => displayWidth(/^(.*?)(?:[+]\d+ ~\d+ -\d+|\d+ files?)$/.exec(row)![1]!));
  expect(new Set(starts).size).toBe(1);
});

/** The characters of a text but for times, which go on, in an order that no wrapped column changes. */
function charactersOf(text: string): string {
  const lasting = text.replaceAll(/just now|\d+ \w+ ago/g, "").replaceAll(/\s/g, "");
  return [...clusters(lasting)].sort().join("");
}

/** The lines between the command and its end, without what the terminal adds at their ends. */
function outputOf(screen: string, at: number): string[] {
  const lines = screen.split("\n").map((line) => line.trimEnd());
  const end = lines.indexOf(`END ${at}`);
  return lines.slice(0, end).filter((line) => line !== "");
}
