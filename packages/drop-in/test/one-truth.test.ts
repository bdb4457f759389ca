/** What one front makes, the engine and so every other front and command sees, restores and undoes: no front holds a truth of its own. */
import { expect, test } from "vitest";
import { VersioningTracker } from "../src/agentsmithy.ts";
import { PersistentCheckpointManager } from "../src/code-buddy.ts";
import { configureDropIn } from "../src/index.ts";
import { SnapshotManager } from "../src/mimir.ts";
import { configureMoldable, create_checkpoint, restore_checkpoint } from "../src/moldable.ts";
import { CheckpointManager, RollbackEngine } from "../src/supervisor.ts";
import { makePlace, type Place } from "./support/place.ts";

interface Front {
  /** Takes a checkpoint and says what it is called there. */
  make(): Promise<string>;
  /** Goes back to it by the front's own call. */
  goBack(id: string): Promise<unknown>;
}

function frontsOf({ root, options, enter }: Place): Record<string, Front> {
  enter();
  const tracker = new VersioningTracker(root, "dialog", options);
  const supervisor = { projectDir: root, ...options };
  const [manager, engine] = [new CheckpointManager(supervisor), new RollbackEngine(supervisor)];
  const session = { id: "s1", messageIndex: 1 };
  const snapshots = new SnapshotManager({ directory: root, ...options });
  configureDropIn(options);
  configureMoldable({});
  const codeBuddy = new PersistentCheckpointManager({}, options);
  return {
    agentsmithy: {
      make: async () => tracker.create_checkpoint("before").commit_id,
      goBack: async (id) => tracker.restore_checkpoint(id),
    },
    supervisor: {
      make: async () => (await manager.createManualCheckpoint(session)).id,
      goBack: async (id) =>
        engine.executeRollback(
          await engine.createRollbackPlan(session, await manager.getCheckpoint("s1", id)),
        ),
    },
    mimir: {
      make: async () => (await snapshots.createSnapshot("c1", "manual")).id,
      goBack: (id) => snapshots.restore("c1", id, { filesOnly: true }),
    },
    moldable: {
      make: async () => (await create_checkpoint("app", root, "c1", "m1")).id,
      goBack: () => restore_checkpoint("app", "c1", "m1"),
    },
    "code-buddy": {
      make: async () => codeBuddy.createCheckpoint("before").id,
      goBack: async (id) => codeBuddy.restore(id),
    },
  };
}

test("[C54] [C55] the checkpoint of each front is one of the workspace, and a restore by it is a step that undo takes back", async () => {
  const place = makePlace({ "a.txt": "0\n" });
  const own = (id: string) => /[k-z]{16}$/.exec(id)![0];
  const made: string[] = [];
  for (const [name, front] of Object.entries(frontsOf(place))) {
    place.write("a.txt", `before ${name}\n`);
    const id = await front.make();
    made.push(own(id));
    place.write("a.txt", `after ${name}\n`);
    place.write(`made-by-${name}.txt`, "later\n");
    await front.goBack(id);
    expect([name, place.read("a.txt"), place.exists(`made-by-${name}.txt`)]).toEqual([
      name,
      `before ${name}\n`,
      false,
    ]);
    expect(place.look((workspace) => workspace.undo().outcome)).toBe("applied");
    expect([name, place.read("a.txt"), place.exists(`made-by-${name}.txt`)]).toEqual([
      name,
      `after ${name}\n`,
      true,
    ]);
  }
  place.look((workspace) => {
    expect(workspace.list().map(({ id }) => String(id))).toEqual(expect.arrayContaining(made));
    const agents = workspace.threads.list().map(({ agent }) => agent);
    expect(agents.toSorted()).toEqual(["code-buddy", "dialogs", "mimir", "moldable", "supervisor"]);
    workspace.restoreTo(made[0]!);
    expect(workspace.upkeep.verify({ full: true }).ok).toBe(true);
  });
  expect(place.read("a.txt")).toBe("before agentsmithy\n");
});
