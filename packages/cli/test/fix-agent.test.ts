/** Which agent fixes what a review found, and the question on a terminal when it could not. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { LAUNCHER, Sandbox } from "./sandbox.ts";
import { hasTmux, TmuxWindow } from "./tmux-window.ts";

const STUB = [process.execPath, join(import.meta.dirname, "../../agents/test/programs/stub-agent.cjs")];
const REVIEW = `const t = require("fs").readFileSync("a.txt", "utf8"); if (t.includes("one")) { console.log("a.txt:1:1: error: still one"); process.exit(1); }`;

test.each([
  ["thinker", "deep"],
  ["auto", "writer"],
])("[M52] with fixerAgent %s it is %s", async (fixerAgent, expected) => {
  using sandbox = await Sandbox.protected({ "a.txt": "one\n" });
  const settings = {
    agents: {
      writer: { command: [...STUB, "append log.txt writer"] },
      deep: { command: [...STUB, "append log.txt deep"] },
      roles: { thinker: "deep" },
    },
    reviews: { todo: { command: [process.execPath, "-e", REVIEW] } },
    "agentOrchestration.autoFix": { fixerAgent, maxRetries: { medium: 1 } },
  };
  writeFileSync(join(sandbox.home, "config.json"), JSON.stringify(settings));
  sandbox.json(["agents", "run", "--in-place", "--yes", "--agent", "writer", "-p", "write b.txt 1"]);
  const { fix } = sandbox.error(["fix", "--review", "todo", "--yes"], 3);
  const { attempts } = sandbox.json(["fix", "show", fix.id]).fix;
  expect(sandbox.json(["agents", "show", attempts[0].run]).run).toMatchObject({
    role: "fixer",
    agent: expected,
  });
  expect(sandbox.read("log.txt")).toContain(expected);
  await sandbox.verify();
});

/** A loop that cannot fix what the review finds, on a terminal of its own. */
function asked(sandbox: Sandbox, env: NodeJS.ProcessEnv = {}) {
  const settings = {
    agents: { writer: { command: [...STUB, "append log.txt writer"] } },
    reviews: { todo: { command: [process.execPath, "-e", REVIEW] } },
    "agentOrchestration.autoFix": { maxRetries: { medium: 1 } },
  };
  writeFileSync(join(sandbox.home, "config.json"), JSON.stringify(settings));
  const fix = `'${process.execPath}' '${LAUNCHER}' fix --review todo --agent writer --yes; echo ended $?; stty -a; exec cat`;
  const window = new TmuxWindow(
    ["sh", "-c", fix],
    { cwd: sandbox.project, env: { ...sandbox.environment, ...env } },
    { rows: 60 },
  );
  const shows = async (text: RegExp) => {
    await expect.poll(() => window.screen(), { timeout: 30_000 }).toMatch(text);
  };
  return { window, shows };
}

const QUESTION = "a/r/v/m/c:";
const COOKED = /ended \d+\n[^]* icanon [^]* echo /;

test.skipIf(!hasTmux)(
  "[M56] [M57] on a terminal: another key asks again, v shows the diff, r the preview, c makes one more attempt, a ends it",
  async () => {
    using sandbox = await Sandbox.protected({ "a.txt": "one\n" });
    const { window, shows } = asked(sandbox);
    using _ = window;
    const log = () => sandbox.read("log.txt")?.match(/writer/g)?.length;
    await shows(/\[c\] Continue trying \(1 more attempt\)\n\na\/r\/v\/m\/c:$/);
    expect(window.screen()).toContain("Issues remaining (1):");
    expect(log()).toBe(1);
    window.type("x");
    await shows(new RegExp(`${QUESTION} x\n${QUESTION}$`));
    window.type("v");
    await shows(new RegExp(`${QUESTION} v\n[^]*\\+writer\n${QUESTION}$`));
    window.type("r");
    await shows(/- delete {2}log\.txt[^]*Reject all changes\? \[y\/N\]$/);
    window.type("n", "Enter");
    await shows(new RegExp(`\\[y/N\\] n\n${QUESTION}$`));
    expect(log()).toBe(1);
    window.type("c");
    await shows(/Snapshots created: 2[^]*a\/r\/v\/m\/c:$/);
    expect(log()).toBe(2);
    window.type("a");
    await shows(/Accepted with what is left[^]*ended 0\n/);
    await shows(COOKED);
    expect(log()).toBe(2);
    await sandbox.verify();
  },
);

test.skipIf(!hasTmux)(
  "[M57] [R2474] r and yes put everything back; Ctrl-C decides nothing and says so; m opens the editor on the issue",
  async () => {
    using sandbox = await Sandbox.protected({ "a.txt": "one\n" });
    {
      const { window, shows } = asked(sandbox);
      using _ = window;
      await shows(/a\/r\/v\/m\/c:$/);
      window.type("C-c");
      await shows(
        /nothing\s+was\s+decided\. The files stay as they are\.\n→ `belay fix answer [k-z]+ a\|r\|v\|m\|c`/,
      );
      await shows(/ended 3\n/);
      await shows(COOKED);
      expect(window.screen()).not.toContain("no terminal");
      expect(sandbox.read("log.txt")).toContain("writer");
    }
    {
      const { window, shows } = asked(sandbox);
      using _ = window;
      await shows(/a\/r\/v\/m\/c:$/);
      window.type("r");
      await shows(/\[y\/N\]$/);
      window.type("y", "Enter");
      await shows(/ended 3\n/);
      expect(sandbox.read("log.txt")?.match(/writer/g)).toHaveLength(1);
    }
    {
      const editor = join(sandbox.base, "editor");
      writeFileSync(editor, `#!/bin/sh\necho "$@" > '${sandbox.base}/opened'\n`, { mode: 0o755 });
      const { window, shows } = asked(sandbox, { VISUAL: "", EDITOR: editor });
      using _ = window;
      await shows(/a\/r\/v\/m\/c:$/);
      window.type("m");
      await shows(/Left to you[^]*ended 3\n/);
      expect(readFileSync(join(sandbox.base, "opened"), "utf8")).toContain(sandbox.path("a.txt"));
    }
    await sandbox.verify();
  },
);
