/** The colours of the built page: each pair that is read has the contrast that the design gives it, in both themes. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const DIST = join(import.meta.dirname, "../dist/assets");
const THEMES = ["light", "dark"] as const;

type Pair = readonly [text: string, ground: string, light: number, dark: number];

/** What stands on what, and its least contrast. */
const PAIRS: readonly Pair[] = [
  ["strong", "panel", 3.6, 4],
  ["text", "panel", 17.1, 14.8],
  ["muted", "panel", 7.3, 7.5],
  ["faint", "panel", 5.3, 5.9],
  ["faint", "sunken", 4.6, 6.3],
  ["accent", "panel", 6.7, 8.7],
  ["#ffffff", "accent-fill", 6.7, 5],
  ["accent", "soft", 5.8, 7.1],
  ["ok", "panel", 6, 9.3],
  ["#ffffff", "ok-fill", 6, 4.9],
  ["warn", "warn-bg", 6, 9.2],
  ["bad", "bad-bg", 5.7, 8],
  ["#ffffff", "bad-fill", 6.5, 5],
  ["add", "add-bg", 4.5, 4.5],
  ["del", "del-bg", 4.5, 4.5],
  ["text", "add-bg", 13, 12.9],
  ["text", "del-bg", 13, 12.9],
  ...["claude", "codex", "gemini", "copilot"].flatMap((agent): Pair[] => [
    [agent, "panel", 5.6, 7.3],
    [agent, "soft", 4.8, 4.8],
  ]),
  ...["hue1", "hue2", "hue3", "hue4", "you"].map((agent): Pair => [agent, "panel", 4.5, 4.5]),
];
/** Colours of differences that replace the green and red ones. */
const OTHER_SET: readonly Pair[] = [
  ["add", "add-bg", 6.1, 7.3],
  ["del", "del-bg", 6, 8.3],
];

test("[R1729] every pair of colours that is read has its contrast, in both themes and both sets", () => {
  const css = globSync("index-*.css", { cwd: DIST })
    .map((file) => readFileSync(join(DIST, file), "utf8"))
    .join("");
  // the build writes `light-dark` for browsers that do not know it
  const first = new Map<string, readonly string[]>();
  const last = new Map<string, readonly string[]>();
  for (const [, name, light, dark] of css.matchAll(
    /--belay-([\w-]+):var\(--lightningcss-light,\s*(#[\da-f]{3,6})\)\s*var\(--lightningcss-dark,\s*(#[\da-f]{3,6})\)/gi,
  )) {
    if (!first.has(name!)) first.set(name!, [light!, dark!]);
    last.set(name!, [light!, dark!]);
  }
  const low = (pairs: readonly Pair[], colours: ReadonlyMap<string, readonly string[]>) =>
    pairs.flatMap(([text, ground, ...least]) =>
      THEMES.flatMap((theme, at) => {
        const colour = (name: string) => (name.startsWith("#") ? name : colours.get(name)![at]!);
        const found = contrast(colour(text), colour(ground));
        return found >= least[at]! ? [] : [`${text} on ${ground}, ${theme}: ${found.toFixed(2)}`];
      }),
    );
  expect(low(PAIRS, first)).toEqual([]);
  expect(low(OTHER_SET, last)).toEqual([]);
});

function contrast(one: string, other: string): number {
  const [dim, bright] = [luminance(one), luminance(other)].toSorted((a, b) => a - b) as [number, number];
  return (bright + 0.05) / (dim + 0.05);
}

/** As WCAG computes it. */
function luminance(colour: string): number {
  const digits = colour.length === 4 ? colour.replaceAll(/[\da-f]/gi, "$&$&") : colour;
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(digits.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
