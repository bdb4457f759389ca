import { expect, test } from "vitest";
import { COMMANDS } from "./command-table.ts";
import { commandHelp, generalHelp } from "./help.ts";
import { displayWidth } from "@belay/tui/text";
import { createOutput } from "./output/output.ts";
import { createStyle } from "./output/style.ts";

test.each([40, 80, 100])("help fits %i columns, but for words that are longer", async (width) => {
  const output = { ...createOutput({ json: false, quiet: false }), style: createStyle(false), width };
  const texts = await Promise.all(
    Object.entries(COMMANDS).map(async ([name, { load }]) =>
      commandHelp(name, (await load()).default, output),
    ),
  );
  for (const line of [generalHelp(output), ...texts].flatMap((text) => text.split("\n"))) {
    const isOneWord = !line.trim().includes(" ");
    expect(isOneWord || displayWidth(line) <= width, line).toBe(true);
  }
});
