/** Whose the space of a store is: a group's own bytes are what is freed when it goes. */
import { describe, expect, test } from "vitest";
import { onceOnly, type SpaceUsage } from "../src/index.ts";
import { inWorkspace } from "./support/temp-workspace.ts";

const text = (seed: number, lines: number) =>
  Array.from({ length: lines }, (_, n) => `${(n * seed * 7919) % 1_000_003}\n`).join("");
const all = ({ groups, shared, rest }: SpaceUsage) =>
  [...groups, shared, rest].reduce((sum, { bytes }) => sum + bytes, 0);
const own = ({ groups }: SpaceUsage, key: string | null) => groups.find((group) => group.key === key)!;

describe("[R246] the space of a store", () => {
  test(
    "[R1721, R1722] by thread: the own bytes of one are exactly what gc frees when its checkpoints go",
    inWorkspace({ base: text(1, 500) }, async (temp) => {
      const { workspace } = temp;
      const [a, b] = [await temp.openThread("a"), await temp.openThread("b")];
      await temp.turn("a1", () => temp.write("only-a", text(2, 800)), a);
      await temp.turn("a2", () => temp.write("big", "x".repeat(1024 * 1024) + text(3, 9000)), a);
      await temp.turn("a3", () => temp.remove("only-a"), a);
      await temp.turn("a4", () => temp.remove("big"), a);
      await temp.turn("b1", () => temp.write("of-b", text(4, 700)), b);
      await workspace.checkpoint();
      const before = await workspace.upkeep.usage("thread");
      expect(own(before, a)).toMatchObject({ checkpoints: 8 });
      expect(own(before, a).bytes).toBeGreaterThan(1024 * 1024);
      expect(own(before, b).bytes).toBeLessThan(own(before, a).bytes);
      expect(before.shared.bytes).toBeGreaterThan(0);
      for (const by of ["kind", "directory"] as const)
        expect(all(await workspace.upkeep.usage(by))).toBe(all(before));
      // [R1721] one checkpoint was the first to hold the large file; together they are the first to hold all that any needs
      const each = await workspace.upkeep.usage("checkpoint");
      expect(all(each)).toBe(all(before));
      expect(each.shared.bytes).toBe(0);
      expect(each.groups[0]!.bytes).toBeGreaterThan(1024 * 1024);
      const { checkpoint } = await workspace.show(each.groups[0]!.key!);
      expect([checkpoint.thread, checkpoint.phase ?? checkpoint.kind]).toEqual([a, expect.any(String)]);
      expect(each.groups.slice(1).every(({ bytes }) => bytes < 1024 * 1024)).toBe(true);
      // [R1722] an estimate says what the checkpoints of a policy alone take, and drops none
      const estimate = await workspace.upkeep.prune({
        policy: onceOnly({ keepLast: 0 }),
        dryRun: true,
        estimate: true,
      });
      expect(estimate.pruned.length).toBeGreaterThan(4);
      expect(estimate.storedBytes).toBeGreaterThan(0);
      expect(estimate.storedBytes).toBeLessThan((await workspace.upkeep.stats()).storedBytes);
      expect((await workspace.upkeep.gc({ dryRun: true })).storedFreed).toBe(0);
      await workspace.threads.delete(a, { checkpoints: true });
      expect(own(await workspace.upkeep.usage("thread"), "pruned").bytes).toBe(own(before, a).bytes);
      temp.passHours(25);
      // [R1722] what gc says in advance that it frees, of the store as it is
      expect((await workspace.upkeep.gc({ dryRun: true })).storedFreed).toBe(own(before, a).storedBytes);
      const { contentFreed } = await workspace.upkeep.gc();
      expect(contentFreed).toBe(own(before, a).bytes);
    }),
  );

  test(
    "by directory: two levels, files in them, and what is the same in several",
    inWorkspace(
      {
        top: text(1, 100),
        "src/file": text(2, 200),
        "src/deep/er/file": text(3, 300),
        "lib/copy": text(4, 400),
        "lib/own": "own",
        "src/copies/copy": text(4, 400),
      },
      async ({ workspace }) => {
        const usage = await workspace.upkeep.usage("directory");
        const keys = usage.groups.map(({ key }) => String(key));
        expect(keys.toSorted()).toEqual(["", "lib", "src", "src/copies", "src/deep"]);
        expect(own(usage, "src/deep").bytes).toBeGreaterThan(text(3, 300).length);
        expect(own(usage, "lib").bytes).toBeLessThan(text(4, 400).length);
        expect(usage.shared.bytes).toBe(text(4, 400).length);
        expect(own(usage, "").checkpoints).toBeNull();
      },
    ),
  );
});
