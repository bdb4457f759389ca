/** Every command that a message or a hint names can be typed: it exists, has these options, and misses no operand. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { GLOBAL_OPTIONS } from "../src/call/command-line.ts";
import { parseWords } from "../src/call/parse-words.ts";
import { COMMANDS } from "../src/command-table.ts";

const PACKAGES = join(import.meta.dirname, "../..");

/** `belay …` between backticks, outside comments; what is filled in later is a word. */
function namedCommands(file: string): string[] {
  const code = readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => !/^\s*(?:\/?\*|\/\/)/.test(line))
    .join("\n");
  const found = code.matchAll(/\\?`belay ([a-z](?:[^`\\$]|\$\{[^}]*\})+)\\?`/g);
  return [...found].map(([, words = ""]) => words.replace(/\$\{[^}]*\}|"[^"]*"/g, "x"));
}

const files = globSync("*/src/**/*.ts", { cwd: PACKAGES })
  .filter((file) => !file.endsWith(".test.ts"))
  .map((file) => join(PACKAGES, file));

const named = [...new Set(files.flatMap(namedCommands))];

test("there are many", () => expect(named.length).toBeGreaterThan(40));

test.each(named)("belay %s", async (words) => {
  const [name = "", ...rest] = words.split(" ");
  expect(Object.keys(COMMANDS)).toContain(name);
  const { options, operands } = (await COMMANDS[name]!.load()).default;
  const specs = { ...GLOBAL_OPTIONS, ...options };
  const given = parseWords(rest, specs);
  // asking for help takes no operand
  if (rest.includes("--help")) return;
  expect(given.operands.length).toBeGreaterThanOrEqual(operands.min);
  expect(given.operands.length).toBeLessThanOrEqual(operands.max);
});
