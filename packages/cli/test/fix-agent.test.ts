/** Which agent fixes what a review found. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Sandbox } from "./sandbox.ts";

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
