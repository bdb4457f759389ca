/** Every example in the help runs as it is written, on a terminal, in a project where such things have happened. */
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openWorkspace } from "@belay/engine";
import { describe, expect, test } from "vitest";
import { COMMANDS } from "../src/command-table.ts";
import { LAUNCHER, Sandbox } from "./sandbox.ts";

const hasScript = spawnSync("script", ["--version"]).status === 0;

/** Commands that run until they are stopped. */
const LASTING = new Set(["serve"]);

/** Commands that ask first, and are answered with yes. */
const ASKING = new Set(
  "init undo redo restore revert approve reset prune gc forget attach uninstall export".split(" "),
);

/** Names in examples that stand for what every project calls differently. */
interface Names {
  readonly thread: string;
  readonly workspace: string;
}

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

describe.skipIf(!hasScript)("[R264] the examples of", { timeout: 120_000 }, () => {
  test.each(commands.filter(({ examples }) => examples.length > 0))(
    "belay $name",
    async ({ name, examples }) => {
      using sandbox = new Sandbox(FILES);
      const names = await prepare(sandbox, name);
      for (const example of examples) {
        const ran = onTerminal(sandbox, filledIn(example, names), name);
        expect({ example, status: ran.status }, ran.screen).toEqual({ example, status: 0 });
      }
      sandbox.belay(["stop"]);
    },
  );
});

/** Lines that are far enough apart for turns to leave each other alone. */
const PARSER = Array.from({ length: 60 }, (_, line) => `${line}\n`).join("");

const FILES = {
  "README.md": "# A project\n",
  "secrets.env": "KEY=1\n",
  "src/main.ts": "export const main = 1;\n",
  "src/parser.ts": PARSER,
  "package.json": `{ "scripts": { "format": "true" } }\n`,
};

/** A project with ten turns of an agent, four of them undone, and a checkpoint with a name and a tag. */
async function prepare(sandbox: Sandbox, command: string): Promise<Names> {
  const programs = join(sandbox.base, "programs");
  mkdirSync(programs);
  // an agent without hooks is a finding of `doctor`, as is one that worked without them
  const isForDoctor = command === "doctor";
  for (const agent of isForDoctor ? [] : ["claude", "codex"])
    writeFileSync(join(programs, agent), "#!/bin/sh\nexit 0\n", { mode: 0o755 });
  const belay = `#!/bin/sh\nexec '${process.execPath}' '${LAUNCHER}' "$@"\n`;
  writeFileSync(join(programs, "belay"), belay, { mode: 0o755 });
  mkdirSync(sandbox.path("elsewhere"));
  if (command === "init") return { thread: "", workspace: "" };
  await using workspace = await openWorkspace(sandbox.project, { home: sandbox.home });
  const { id: thread } = await workspace.threads.open({
    agent: isForDoctor ? "own" : "claude-code",
    externalId: "example",
  });
  for (let turn = 1; turn <= 10; turn += 1) {
    await workspace.turns.prompt(thread, { content: `Improve the parser, part ${turn}` });
    sandbox.write(
      "src/parser.ts",
      sandbox.read("src/parser.ts")!.replace(`\n${turn * 5}\n`, `\nchanged in turn ${turn}\n`),
    );
    sandbox.write(`src/part-${turn}.ts`, `export const part = ${turn};\n`);
    await workspace.turns.end(thread);
  }
  await workspace.checkpoint({ kind: "manual", name: "before-refactoring", tags: ["works"] });
  await workspace.undo({ count: 4 });
  // these give name or tag themselves
  if (command === "checkpoint" || command === "rename") await workspace.rename("before-refactoring", "");
  if (command === "tag") await workspace.untag("works");
  return { thread: thread.slice(0, 8), workspace: workspace.id };
}

function filledIn(example: string, { thread, workspace }: Names): string {
  return example
    .replace("kqzvnwxyzkqzvnwx", workspace)
    .replace("kqzv", thread)
    .replace("--port 7420", "--port 0");
}

function onTerminal(sandbox: Sandbox, line: string, command: string) {
  const words = LASTING.has(command) ? `timeout --preserve-status -s INT 3 ${line}` : line;
  const ran = spawnSync("script", ["-qec", words, "/dev/null"], {
    cwd: sandbox.project,
    env: {
      ...sandbox.environment,
      PATH: `${join(sandbox.base, "programs")}:${process.env["PATH"]}`,
      SHELL: "/bin/sh",
      TERM: "xterm",
      PAGER: "cat",
    },
    // what is not read keeps `script` waiting
    input: ASKING.has(command) ? "y\n" : "",
    encoding: "utf8",
  });
  return { status: ran.status, screen: ran.stdout };
}
