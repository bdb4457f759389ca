/** The README's table of tasks: each row's commands, typed as they stand there, do what the row says. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Sandbox } from "./sandbox.ts";
import { FILES, onTerminal, prepare } from "./worked-on-project.ts";

const hasScript = spawnSync("script", ["--version"]).status === 0;
const README = readFileSync(join(import.meta.dirname, "../../../README.md"), "utf8");

interface Task {
  readonly title: string;
  readonly commands: readonly string[];
}

const rows = README.slice(README.indexOf("| you want to |")).split("\n\n")[0]!.split("\n").slice(2);
const tasks: Task[] = rows.map((row) => {
  const [, title = "", typed = ""] = /^\| (.*?) \| (.*) \|$/.exec(row)!;
  return { title, commands: [...typed.matchAll(/`([^`]+)`/g)].map((match) => match[1]!) };
});

/** What must be true afterwards, by the beginning of the row. */
interface Proof {
  /** What happens before, beside ten turns of an agent. */
  readonly before?: (sandbox: Sandbox) => void;
  readonly screens?: readonly RegExp[];
  readonly after?: (sandbox: Sandbox) => void;
}

const PROOFS: Readonly<Record<string, Proof>> = {
  "see what the agent just did": { screens: [/Improve the parser, part 10[^]*src\/part-10\.ts/] },
  "see the diff of a turn": { screens: [/T3/, /\+changed in turn 3/] },
  "see what undo would do": {
    screens: [/src\/part-10\.ts/],
    after: (sandbox) => expect(sandbox.read("src/part-10.ts")).toBeDefined(),
  },
  "undo only the second last turn": {
    after: (sandbox) => {
      expect(sandbox.read("src/part-9.ts")).toBeUndefined();
      expect(sandbox.read("src/part-10.ts")).toBeDefined();
      expect(sandbox.read("src/parser.ts")).not.toContain("turn 9");
      expect(sandbox.read("src/parser.ts")).toContain("turn 10");
    },
  },
  "bring back one file": {
    after: (sandbox) => {
      expect(sandbox.read("src/parser.ts")).not.toContain("turn 10");
      expect(sandbox.read("src/part-10.ts")).toBeDefined();
    },
  },
  "keep your edit but drop the agent's": {
    before: (sandbox) => {
      sandbox.write("src/parser.ts", `mine\n${sandbox.read("src/parser.ts")}`);
      sandbox.write("README.md", "mine\n");
    },
    after: (sandbox) => {
      expect(sandbox.read("src/parser.ts")).toMatch(/^mine\n/);
      expect(sandbox.read("src/parser.ts")).not.toContain("turn 10");
      expect(sandbox.read("README.md")).toBe("mine\n");
      expect(sandbox.read("src/part-10.ts")).toBeUndefined();
    },
  },
  "name this point": {
    after: (sandbox) => expect(sandbox.json(["show", "before-lunch"]).checkpoint.name).toBe("before-lunch"),
  },
  "find where something still existed": {
    before: (sandbox) => sandbox.remove("src/part-9.ts"),
    screens: [/src\/part-9\.ts/],
  },
  "free disk space": { screens: [/./, /in use|Freed/] },
  "know whether it works": { screens: [/protected.*since/] },
  "switch it off for an hour": {
    after: (sandbox) => expect(sandbox.json(["status"]).capture.obstacles[0].code).toBe("PAUSED"),
  },
  "get everything back after `rm -rf`": {
    before: (sandbox) => rmSync(sandbox.project, { recursive: true }),
    after: (sandbox) => {
      expect(sandbox.read("README.md")).toBe(FILES["README.md"]);
      expect(existsSync(sandbox.path("src/part-10.ts"))).toBe(true);
    },
  },
};

test("there are twelve, each with at most two commands and a proof here", () => {
  expect(tasks.map(({ title }) => title).toSorted()).toEqual(Object.keys(PROOFS).toSorted());
  expect(tasks).toHaveLength(12);
  for (const { commands } of tasks) {
    expect(commands.length).toBeGreaterThan(0);
    expect(commands.length).toBeLessThanOrEqual(2);
  }
});

describe.skipIf(!hasScript)("[R268] to", () => {
  test.each(tasks)("$title", async ({ title, commands }) => {
    using sandbox = new Sandbox(FILES);
    await prepare(sandbox);
    const { before, screens = [], after } = PROOFS[title]!;
    before?.(sandbox);
    for (const [at, command] of commands.entries()) {
      const line = command.replace("~/my-project", sandbox.project);
      const asks = /belay (?:-C \S+ )?(?:undo|restore|revert|prune|gc)(?!.*--dry-run)/.test(line);
      const ran = onTerminal(
        sandbox,
        line,
        asks ? "y\n" : "",
        existsSync(sandbox.project) ? undefined : sandbox.base,
      );
      expect({ line, status: ran.status }, ran.screen).toEqual({ line, status: 0 });
      if (screens[at] !== undefined) expect(ran.screen).toMatch(screens[at]);
    }
    after?.(sandbox);
    sandbox.belay(["stop"]);
    await sandbox.verify();
  });
});
