/** What the README shows is what there is. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const readme = readFileSync("README.md", "utf8");
const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: Record<string, string> };

test("every command in the README is a command", () => {
  const named = [...readme.matchAll(/(?:^\$ |`)belay ([a-z]+)/gm)].map((match) => match[1]!);
  const rows = [...readme.matchAll(/^\| `belay ([^|]+)\|/gm)].flatMap((match) =>
    [...match[1]!.matchAll(/(?:^|`)([a-z]+)/g)].map((verb) => verb[1]!),
  );
  const help = execFileSync(process.execPath, ["packages/cli/bin/belay.js", "--help"], { encoding: "utf8" });
  const verbs = new Set([...named, ...rows]);
  expect(verbs.size).toBeGreaterThan(20);
  for (const verb of verbs) expect(help).toMatch(new RegExp(`^\\s+${verb}\\b`, "m"));
});

test("the two commands that do everything are scripts, and CI runs the second", () => {
  expect(readme).toContain("npm install && npm start");
  expect(readme).toContain("npm install && npm test");
  expect(Object.keys(scripts)).toEqual(expect.arrayContaining(["prepare", "start", "test"]));
  expect(readFileSync(".ci/run", "utf8")).toMatch(/npm install && npm test|npm install\nnpm test/);
});
