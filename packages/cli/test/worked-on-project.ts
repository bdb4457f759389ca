/** A project where agents have worked, and a terminal to type commands into: for examples in the help and the README. */
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openWorkspace } from "@belay/engine";
import { LAUNCHER, type Sandbox } from "./sandbox.ts";

/** Names in examples that stand for what every project calls differently. */
export interface Names {
  readonly thread: string;
  readonly workspace: string;
}

/** Lines that are far enough apart for turns to leave each other alone. */
const PARSER = Array.from({ length: 60 }, (_, line) => `${line}\n`).join("");

export const FILES = {
  "README.md": "# A project\n",
  "secrets.env": "KEY=1\n",
  "src/main.ts": "export const main = 1;\n",
  "src/parser.ts": PARSER,
  "package.json": `{ "scripts": { "format": "true" } }\n`,
};

/** Ten turns of an agent, four of them undone for the examples of a command, and a checkpoint with a name and a tag. */
export async function prepare(sandbox: Sandbox, command = ""): Promise<Names> {
  const programs = join(sandbox.base, "programs");
  mkdirSync(programs);
  // an agent without hooks is a finding of `doctor`, as is one that worked without them
  const isForDoctor = command === "doctor";
  for (const agent of isForDoctor ? ["xdg-open"] : ["claude", "codex", "xdg-open"])
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
  if (command !== "") await workspace.undo({ count: 4 });
  // these give name or tag themselves
  if (command === "checkpoint" || command === "rename") await workspace.rename("before-refactoring", "");
  if (command === "tag") await workspace.untag("works");
  // what another program left
  if (command === "import") {
    const snapshot = ".mimir/context/conversations/c1/snapshots/snap-1";
    sandbox.write(`${snapshot}/files/src/main.ts`, "export const main = 0;\n");
    sandbox.write(`${snapshot}/metadata.json`, JSON.stringify({ id: "snap-1", type: "manual" }));
  }
  // a copy of the project elsewhere, as it was at first
  if (command === "export") {
    mkdirSync(join(sandbox.base, "other/src"), { recursive: true });
    writeFileSync(join(sandbox.base, "other/src/parser.ts"), PARSER);
  }
  // a branch to go to
  if (command === "switch") await workspace.createBranch("idea");
  if (command === "ghost") spawnSync("git", ["init", "-q", sandbox.project], { timeout: 30_000 });
  return { thread: thread.slice(0, 8), workspace: workspace.id };
}

/** Types a line of a shell on a terminal, and then some keys. */
export function onTerminal(sandbox: Sandbox, line: string, keys = "", cwd = sandbox.project) {
  const ran = spawnSync("script", ["-qec", line, "/dev/null"], {
    cwd,
    env: {
      ...sandbox.environment,
      PATH: `${join(sandbox.base, "programs")}:${process.env["PATH"]}`,
      SHELL: "/bin/bash",
      TERM: "xterm",
      PAGER: "cat",
    },
    // what is not read keeps `script` waiting
    input: keys,
    encoding: "utf8",
    timeout: 60_000,
  });
  return { status: ran.status, screen: ran.stdout };
}
