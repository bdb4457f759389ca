/** Mimir's slash command. */
import { expect, test } from "vitest";
import { CheckpointCommand, SnapshotManager } from "../src/mimir.ts";
import { makePlace } from "./support/place.ts";

const CONTEXT = { conversation: { id: "conv-1" } };

test("[M59] [M60] [M61] [M62] [M63] [M64] [M65] [M66] [M67] [M68] every subcommand answers", async () => {
  const place = makePlace({ "a.ts": "one\n" });
  const manager = new SnapshotManager({ directory: place.root, ...place.options });
  const command = new CheckpointCommand(manager);
  expect([command.name, command.description]).toEqual(["checkpoint", "Manage conversation snapshots"]);
  const say = async (...args: string[]) => command.execute(args, CONTEXT);
  expect(await say("list")).toEqual({ success: true, message: "No snapshots yet." });
  expect((await say("create", "Before", "it")).message).toMatch(
    /^Created snap-[k-z]{16} .*manual {2}Before it$/,
  );
  place.write("a.ts", "two\n");
  await say("create");
  const [second, first] = await manager.listSnapshots("conv-1");
  expect((await say("list")).message!.split("\n")).toHaveLength(2);
  expect((await say()).message).toContain("/checkpoint restore <id>");
  expect((await say("show", first!.id)).message).toContain("1 files, 4 bytes");
  expect((await say("diff", first!.id, second!.id)).message).toContain("+two");
  expect((await say("timeline")).message).toMatch(
    /● snap-.*\n {4}Files: 1 modified, 0 added, 0 deleted\n○ snap-/,
  );
  expect(await say("restore", first!.id, "--conversation-only")).toMatchObject({ success: true });
  expect(place.read("a.ts")).toBe("two\n");
  expect(await say("restore", first!.id, "--files-only")).toEqual({
    success: true,
    message: `Restored to snapshot ${first!.id}`,
  });
  expect(place.read("a.ts")).toBe("one\n");
  expect(await say("restore", second!.id)).toMatchObject({ success: true });
  expect(place.read("a.ts")).toBe("two\n");
  expect(await say("prune")).toEqual({ success: true, message: "Pruned 0 snapshots" });
  expect(await say("nonsense")).toEqual({ success: false, message: "Unknown subcommand: nonsense" });
  expect(await say("show")).toEqual({ success: false, message: "Usage: /checkpoint show <id>" });
  // an option that is none restores nothing
  place.write("a.ts", "three\n");
  for (const flags of [["--file-only"], ["--files-only", "--conversation-only"], ["b.ts"]])
    expect(await say("restore", first!.id, ...flags)).toEqual({
      success: false,
      message: "Usage: /checkpoint restore <id> [--files-only | --conversation-only]",
    });
  expect(place.read("a.ts")).toBe("three\n");
  expect(await say("restore", "snap-kkkkkkkk")).toEqual({
    success: false,
    message: "Snapshot snap-kkkkkkkk not found in conversation conv-1",
  });
});
