/** Every example in the help runs as it is written, on a terminal, in a project where such things have happened. */
import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { COMMANDS } from "../src/command-table.ts";
import { Sandbox } from "./sandbox.ts";
import { FILES, onTerminal, prepare, type Names } from "./worked-on-project.ts";

const hasScript = spawnSync("script", ["--version"]).status === 0;

/** Commands that run until they are stopped. */
const LASTING = new Set(["serve"]);

/** Commands that ask first, and are answered with yes. */
const ASKING = new Set(
  "init undo redo restore revert approve reset prune gc forget attach uninstall export switch".split(" "),
);

/** Commands that need a server; `remote.test.ts`, `pull.test.ts` and `remote-team.test.ts` run them. */
const BEYOND = new Set(["push", "pull", "sync", "open", "clone", "share", "handoff"]);

/** Commands that need branches and conflicts; `merge.test.ts` and `merger.test.ts` run them. */
const OF_MERGES = new Set(["merge", "resolve"]);

/** What is pressed in the terminal's screens. */
const KEYS: Readonly<Record<string, string>> = { timeline: "q" };

const commands = await Promise.all(
  Object.entries(COMMANDS)
    .filter(([, { group }]) => group !== undefined)
    .map(async ([name, { load }]) => ({ name, examples: (await load()).default.examples ?? [] })),
);

describe("[R264] the help of every command", () => {
  test.each(commands)("$name has an example, which begins with belay or leads to it", ({ examples }) => {
    expect(examples.length).toBeGreaterThan(0);
    for (const example of examples) expect(example).toMatch(/\bbelay\b/);
  });
});

describe.skipIf(!hasScript)("[R264] the examples of", () => {
  test.each(
    commands.filter(({ name, examples }) => examples.length > 0 && !BEYOND.has(name) && !OF_MERGES.has(name)),
  )("belay $name", async ({ name, examples }) => {
    using sandbox = new Sandbox(FILES);
    const names = await prepare(sandbox, name);
    for (const example of examples) {
      const line = filledIn(example, names);
      const ran = onTerminal(
        sandbox,
        LASTING.has(name) ? `timeout --preserve-status -s INT 3 ${line}` : line,
        KEYS[name] ?? (ASKING.has(name) ? "y\n" : ""),
      );
      expect({ example, status: ran.status }, ran.screen).toEqual({ example, status: 0 });
    }
    sandbox.belay(["stop"]);
  });
});

function filledIn(example: string, { thread, workspace }: Names): string {
  return example
    .replace("kqzvnwxyzkqzvnwx", workspace)
    .replace(/kqzv|3f2a/, thread)
    .replace("--port 7420", "--port 0");
}
