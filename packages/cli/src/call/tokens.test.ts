import { parseArgs } from "node:util";
import { describe, expect, test } from "vitest";
import type { OptionSpecs } from "./command.ts";
import { tokensOf } from "./tokens.ts";

const SPECS = {
  directory: { type: "string", short: "C", about: "" },
  message: { type: "string", short: "m", multiple: true, about: "" },
  json: { type: "boolean", about: "" },
  quiet: { type: "boolean", short: "q", about: "" },
  "dry-run": { type: "boolean", short: "n", about: "" },
} as const satisfies OptionSpecs;

const PIECES = [
  "-",
  "--",
  "-C",
  "-m",
  "-q",
  "-n",
  "-x",
  "--directory",
  "--message",
  "--json",
  "--no-json",
  "--unknown",
];
const MORE = ["=", "=a", "==", "C", "q", "qC", "a", "a b", "-", "1", "é", "constructor", "--", "=-", ""];

/** Node takes the second dash of `-q-` for the two that end the options. Here it is an option that does not exist. */
const DASH_AMONG_LETTERS = /^-[^-].*-/;

/** What Node makes of the same words, without the fields that are not there. */
function byNode(words: readonly string[]) {
  const options = Object.fromEntries(
    Object.entries(SPECS).map(([name, spec]) => [
      name,
      "short" in spec ? { type: spec.type, short: spec.short } : { type: spec.type },
    ]),
  );
  return parseArgs({ args: [...words], options, strict: false, allowPositionals: true, tokens: true }).tokens;
}

/** Numbers from a seed, so that a failure can be repeated. */
function numbersFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1103515245 + 12345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * below);
  };
}

describe("[R871] the words of a line are taken apart as Node does it", () => {
  test.for([
    [],
    ["list"],
    ["-C", "dir", "--json", "list", "--limit", "2"],
    ["-C"],
    ["-Cdir", "-qC", "dir"],
    ["-qnC=dir", "--directory=", "--directory", "--json"],
    ["--json=1", "--", "--json", "-q"],
    ["-", "--=", "--constructor", "-é"],
  ])("%j", (words) => {
    expect(tokensOf(words, SPECS)).toEqual(byNode(words));
  });

  test("whatever they are", () => {
    const seed = 871;
    const next = numbersFrom(seed);
    for (let line = 0; line < 5000; line += 1) {
      const words = Array.from({ length: next(6) }, () => {
        const piece = next(4) === 0 ? "" : PIECES[next(PIECES.length)]!;
        return piece + (next(2) === 0 ? "" : MORE[next(MORE.length)]!);
      }).filter((word) => !DASH_AMONG_LETTERS.test(word));
      expect(tokensOf(words, SPECS), `seed ${seed}: ${JSON.stringify(words)}`).toEqual(byNode(words));
    }
  });
});
