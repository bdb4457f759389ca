/** The manual page: complete, the same words as the help, and without a warning of `man`. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { COMMANDS } from "../src/command-table.ts";
import { ENVIRONMENT, manPage } from "../src/man-page.ts";
import { readVersion } from "../src/version.ts";

const hasMan = spawnSync("man", ["--version"]).status === 0 && spawnSync("groff", ["--version"]).status === 0;
const BUILT = join(import.meta.dirname, "../dist/belay.1");

const commands = Object.entries(COMMANDS).filter(([, { group }]) => group !== undefined);

test("[R266] the build has written what the tables say", async () => {
  expect(readFileSync(BUILT, "utf8")).toBe(await manPage(readVersion()));
});

describe.skipIf(!hasMan)("[R266] man shows, without a warning and within 80 columns,", () => {
  const ran = spawnSync("man", ["--warnings", "-E", "UTF-8", "-l", BUILT], {
    encoding: "utf8",
    env: { ...process.env, LC_ALL: "C.UTF-8", MANWIDTH: "80", MANOPT: "", PAGER: "cat", MANPAGER: "cat" },
  });
  const text = words(ran.stdout);

  test("a page", () => {
    expect({ status: ran.status, stderr: ran.stderr }).toEqual({ status: 0, stderr: "" });
    for (const line of ran.stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  });

  test.each(commands)(
    "%s with its summary, usage, options, examples and exit codes",
    async (name, { summary, load }) => {
      const { usage, about, options, examples = [], exits = {} } = (await load()).default;
      expect(text).toMatch(new RegExp(` belay ${name}[ ,]`));
      for (const part of [
        `${summary}.`,
        `belay ${usage}`,
        about,
        ...examples,
        ...Object.values(exits).flatMap((about) => about ?? []),
      ])
        expect(text).toContain(words(part));
      for (const [option, spec] of Object.entries(options)) {
        expect(text).toContain(`--${option}`);
        expect(text).toContain(words(spec.about));
      }
    },
  );

  test("every variable", () => {
    for (const [name, about] of Object.entries(ENVIRONMENT))
      expect(text).toContain(words(`${name} ${about}`));
  });
});

/** Where the lines end does not matter. */
function words(text: string): string {
  return text.replaceAll(/\s+/g, " ");
}

test("[R266] the variables are those of docs/settings.md", () => {
  const settings = readFileSync(join(import.meta.dirname, "../../../docs/settings.md"), "utf8");
  const rows = settings.slice(settings.indexOf("## Environment variables")).split(/^## /m)[1]!;
  const documented = [...rows.matchAll(/^\| (`.*?`) \|/gm)].flatMap(([, names = ""]) =>
    [...names.matchAll(/`([A-Z_]+)/g)].map((match) => match[1]!),
  );
  expect(documented.toSorted()).toEqual(Object.keys(ENVIRONMENT).toSorted());
});
