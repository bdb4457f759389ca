/** What the store says a file is, is compared with the name of its content before any of it reaches the disk. */
import { hash } from "node:crypto";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { inProtected } from "./support/project.ts";

const [MINE, OTHER] = ["mine\n".repeat(200), "evil\n".repeat(200)];

test(
  "[L46] [I14] sound content of the same length under another name is refused by a restore, and nothing is written",
  inProtected({ "mine.txt": MINE, "other.txt": OTHER }, async (project, workspace) => {
    project.damaged = true;
    project.write("mine.txt", "changed\n");
    await workspace.checkpoint();
    const db = new DatabaseSync(join(project.storeDirectory(), "store.db"));
    const place = (text: string) =>
      db.prepare("SELECT pack, offset FROM object WHERE hash = ?").get(hash("sha256", text, "buffer"))!;
    const { pack, offset } = place(OTHER);
    expect(place(MINE)).not.toEqual({ pack, offset });
    db.prepare("UPDATE object SET pack = ?, offset = ? WHERE hash = ?").run(
      pack!,
      offset!,
      hash("sha256", MINE, "buffer"),
    );
    db.close();
    const again = await project.open();
    await expect(again.restoreTo("1")).rejects.toMatchObject({ code: "OBJECT_CORRUPT" });
    expect([project.read("mine.txt"), project.read("other.txt")]).toEqual(["changed\n", OTHER]);
    expect((await again.upkeep.verify({ full: true })).ok).toBe(false);
  }),
);
