/** A search finds exactly what reading every file of every checkpoint would find. */
import { rmSync, statSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { displayPath, type FindOptions } from "../src/index.ts";
import { inWorkspace, type TempWorkspace } from "./support/temp-workspace.ts";

const RUNS = Number(process.env["BELAY_FUZZ_RUNS"] ?? 25);

const path = fc.constantFrom("a", "b", "d/a", "d/e/a", "d/e/b", "f/g/h");
const content = fc.constantFrom("needle", "x needle\ny", "nee\ndle", "other", "", "Needle 12");
const step = fc.oneof(
  fc.record({ does: fc.constant("write" as const), path, content }),
  fc.record({ does: fc.constant("remove" as const), path }),
  // a file in the place of a directory, and a directory in the place of a file
  fc.record({ does: fc.constant("replace" as const), path: fc.constantFrom("d", "d/e", "f"), content }),
  fc.record({ does: fc.constant("checkpoint" as const) }),
  fc.record({ does: fc.constant("drop" as const), at: fc.nat(5) }),
);

test("[R244] a search equals reading everything", { timeout: 600_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 24 }), async (steps) => {
      await inWorkspace({ "d/a": "needle" }, async (temp) => {
        for (const each of steps) await take(temp, each);
        await expectSame(temp, { text: "needle" }, (text) => text.includes("needle"));
        await expectSame(temp, { pattern: /e{2}dle \d+$|^x n/ }, (text) =>
          text.split("\n").some((line) => /e{2}dle \d+$|^x n/.test(line)),
        );
        await expectSame(temp, { files: "a" }, (_, name) => /(?:^|\/)a$/.test(name));
        await expectSame(
          temp,
          { text: "dle", paths: ["d/e"] },
          (text, name) => text.includes("dle") && /^d\/e(?:\/|$)/.test(name),
        );
      })();
    }),
    { numRuns: RUNS },
  );
});

async function take(temp: TempWorkspace, each: typeof step extends fc.Arbitrary<infer Step> ? Step : never) {
  const { workspace } = temp;
  switch (each.does) {
    case "write":
      makeWay(temp, each.path);
      temp.write(each.path, each.content);
      return;
    case "replace":
      makeWay(temp, each.path);
      rmSync(join(temp.root, each.path), { recursive: true, force: true });
      temp.write(each.path, each.content);
      return;
    case "remove":
      if (temp.tree().has(each.path)) temp.remove(each.path);
      return;
    case "checkpoint":
      await workspace.checkpoint();
      return;
    case "drop": {
      const listed = (await workspace.list()).slice(1);
      const chosen = listed[each.at];
      if (chosen !== undefined && chosen.kind !== "initial")
        await workspace.upkeep.deleteCheckpoint(chosen.id);
      temp.passHours(each.at % 2 === 0 ? 25 : 0);
      await workspace.upkeep.gc();
    }
  }
}

/** Removes a file where a directory has to be. */
function makeWay({ root }: TempWorkspace, name: string): void {
  for (const above of ["d", "d/e", "f", "f/g"]) {
    const place = join(root, above);
    if (name.startsWith(`${above}/`) && statSync(place, { throwIfNoEntry: false })?.isFile()) rmSync(place);
  }
}

/** Every stretch as the seqs that it covers, path by path. */
async function expectSame(
  { workspace }: TempWorkspace,
  options: FindOptions,
  isMatch: (text: string, name: string) => boolean,
): Promise<void> {
  const seqs = (await workspace.list()).map(({ seq }) => seq);
  const expected = new Map<string, Set<number>>();
  for (const seq of seqs) {
    for await (const file of workspace.files(String(seq))) {
      if (file.kind !== "file") continue;
      const name = displayPath(file.path);
      if (!isMatch(Buffer.concat([...file.content()]).toString("utf8"), name)) continue;
      expected.set(name, (expected.get(name) ?? new Set()).add(seq));
    }
  }
  const found = await workspace.find(options);
  if (options.text !== undefined) await expectSameLines(workspace, options, seqs);
  const actual = new Map(
    found.files.map(({ path: where, spans }) => [
      displayPath(where),
      new Set(spans.flatMap(({ first, last }) => seqs.filter((seq) => seq >= first.seq && seq <= last.seq))),
    ]),
  );
  expect(actual).toEqual(expected);
}

/** [R1970] Every line as the seqs that had it, told by reading each version. */
async function expectSameLines(
  workspace: TempWorkspace["workspace"],
  options: FindOptions,
  seqs: readonly number[],
): Promise<void> {
  const { files, lines } = await workspace.find({ ...options, history: true });
  const expected = new Map<string, Set<number>>();
  for (const seq of seqs)
    for (const { path: where } of files) {
      const file = await workspace.file(String(seq), where, 1000);
      if (file === null || file.content === null) continue;
      for (const line of file.content.toString("utf8").split("\n")) {
        const key = `${displayPath(where)}: ${line}`;
        if (line.includes(options.text!)) expected.set(key, (expected.get(key) ?? new Set()).add(seq));
      }
    }
  const actual = new Map<string, Set<number>>();
  for (const { path: where, text, first, last } of lines!) {
    const key = `${displayPath(where)}: ${text}`;
    const covered = seqs.filter((seq) => seq >= first.seq && seq <= (last?.seq ?? Infinity));
    actual.set(key, new Set([...(actual.get(key) ?? []), ...covered]));
  }
  expect(actual).toEqual(expected);
}
