/** What `gc` is said to do beforehand is what it then does. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { inWorkspace, type TempWorkspace } from "./support/temp-workspace.ts";
import { makeEdit, treeEdit } from "./support/tree-edits.ts";

const RUNS = Number(process.env["BELAY_FUZZ_RUNS"] ?? 25);
const LIMIT_MS = 600_000;

const event = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom("tool", "turn", "manual"),
      edits: fc.array(treeEdit, { minLength: 1, maxLength: 5 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom("prune", "gc") }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("hours"), hours: fc.constantFrom(1, 25, 60) }) },
);

const NOTHING_KEPT = { name: "none", keepAllHours: 0, keepTurnsHours: 0, keepMinimum: 0, keepMaximum: null };

test("[R187] gc --dry-run tells what gc then frees", { timeout: LIMIT_MS }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(event, { minLength: 3, maxLength: 14 }), async (events) => {
      await inWorkspace({ "a.txt": "a\n" }, async (temp) => {
        for (const each of events) await happen(temp, each);
        await temp.workspace.upkeep.prune({ policy: NOTHING_KEPT });
        temp.passHours(48);
        await expectForeseen(temp);
        // a second one finds nothing more
        await expectForeseen(temp);
      })();
    }),
    { numRuns: RUNS },
  );
});

type Event = typeof event extends fc.Arbitrary<infer Value> ? Value : never;

async function happen(temp: TempWorkspace, each: Event): Promise<void> {
  const { workspace, root } = temp;
  if ("hours" in each) temp.passHours(each.hours);
  else if ("edits" in each) {
    const edit = () => void each.edits.forEach((one) => makeEdit(root, one));
    if (each.kind === "turn") return void (await temp.turn("a turn", edit));
    edit();
    await workspace.checkpoint({ kind: each.kind === "tool" ? "tool" : "manual" });
  } else if (each.kind === "prune") await workspace.upkeep.prune({ policy: NOTHING_KEPT });
  else await expectForeseen(temp);
}

async function expectForeseen({ workspace }: TempWorkspace): Promise<void> {
  const { objects } = await workspace.upkeep.stats();
  const {
    bytesAfter: unknown,
    dryRun: _,
    bytesBefore,
    storedFreed: estimate,
    ...foreseen
  } = await workspace.upkeep.gc({ dryRun: true });
  expect(unknown).toBeNull();
  // what that is on disk is an estimate
  expect(estimate).toBeGreaterThanOrEqual(0);
  expect((await workspace.upkeep.stats()).objects).toBe(objects);
  const done = await workspace.upkeep.gc();
  expect(done).toMatchObject(foreseen);
  expect(objects - (await workspace.upkeep.stats()).objects).toBe(done.objectsFreed);
  expect(bytesBefore).toBeGreaterThan(0);
}
