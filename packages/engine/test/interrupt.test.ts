/** A person who stops a long restore: it ends before or after, and says which. */
import { expect, test } from "vitest";
import type { Interrupt } from "../src/index.ts";
import { inWorkspace } from "./support/temp-workspace.ts";
import { findStageLeftovers } from "./support/tree-map.ts";

const NAMES = Array.from({ length: 30 }, (_, number) => `f${number}`);
const FILES = Object.fromEntries(NAMES.map((name) => [name, "0\n"]));

/** Wants the operation to stop from the `first`th question on, and to be left alone from the `second`th on. */
function interruptAt(first: number, second = Infinity) {
  let asked = 0;
  const told: string[] = [];
  const interrupt: Interrupt = {
    count: () => ((asked += 1) >= second ? 2 : asked >= first ? 1 : 0),
    takingBack: (done, total) => void told.push(`${done} of ${total}`),
  };
  return { interrupt, told };
}

test(
  "[R114] stopped in the middle, everything is taken back and the error says how far it was",
  inWorkspace(FILES, async (temp) => {
    for (const name of NAMES) temp.write(name, "1\n");
    const before = temp.tree();
    // each of 30 files is asked about once when it is prepared and once when it is put in place
    const { interrupt, told } = interruptAt(41);
    temp.workspace.interruptedBy(interrupt);
    await expect(temp.workspace.restoreTo("1")).rejects.toMatchObject({
      code: "INTERRUPTED",
      message: "Interrupted after 10 of 30 files. Everything was put back as it was.",
      facts: { done: 10, total: 30 },
    });
    expect(told).toEqual(["10 of 30"]);
    expect(temp.tree()).toEqual(before);
    expect(findStageLeftovers(temp.root)).toEqual([]);
    temp.workspace.interruptedBy(undefined);
    expect(await temp.workspace.restoreTo("1")).toMatchObject({ outcome: "applied", modified: 30 });
  }),
);

test(
  "[R114] stopped while it is prepared, nothing has been changed",
  inWorkspace(FILES, async (temp) => {
    for (const name of NAMES) temp.write(name, "1\n");
    const before = temp.tree();
    temp.workspace.interruptedBy(interruptAt(7).interrupt);
    await expect(temp.workspace.restoreTo("1")).rejects.toMatchObject({
      code: "INTERRUPTED",
      message: "Interrupted before anything was changed.",
    });
    expect(temp.tree()).toEqual(before);
    expect(findStageLeftovers(temp.root)).toEqual([]);
  }),
);

test(
  "[R114, R10] stopped again while it is taken back, it is left to the next command, which says what became of it",
  inWorkspace(FILES, async (temp) => {
    for (const name of NAMES) temp.write(name, "1\n");
    temp.workspace.interruptedBy(interruptAt(41, 45).interrupt);
    await expect(temp.workspace.restoreTo("1")).rejects.toMatchObject({
      code: "INTERRUPTED",
      message: expect.stringMatching(/^Interrupted while changes were being taken back: some files/),
    });
    const contents = new Set(NAMES.map((name) => temp.read(name)));
    expect(contents).toEqual(new Set(["0\n", "1\n"]));
    await temp.reopen();
    expect(temp.workspace.notices).toEqual([expect.stringMatching(/^An interrupted restore was finished/)]);
    expect(new Set(NAMES.map((name) => temp.read(name)))).toEqual(new Set(["0\n"]));
    expect(findStageLeftovers(temp.root)).toEqual([]);
  }),
);
