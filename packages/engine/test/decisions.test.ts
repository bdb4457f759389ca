/** Conflicts that a person decided: what is on disk, what the plan wanted, or a text of their own; in one step. */
import { describe, expect, test } from "vitest";
import type { BytePath, Decision } from "../src/index.ts";
import { inWorkspace } from "./support/temp-workspace.ts";

const at = (path: string) => path as BytePath;
const text = (path: string, content: string): Decision => ({
  path: at(path),
  take: "text",
  text: Buffer.from(content),
});
const FILES = { "keep.txt": "a\n", "take.txt": "a\n", "own.txt": "a\n", "clean.txt": "a\n" };
const ALL: readonly Decision[] = [
  { path: at("keep.txt"), take: "disk" },
  { path: at("take.txt"), take: "plan" },
  text("own.txt", "mine\n"),
];

describe("decided conflicts", () => {
  test(
    "[R280] [M46] an undo takes each file as decided, and its own undo brings back what was there, byte for byte",
    inWorkspace(FILES, async ({ workspace, turn, write, read }) => {
      await turn("t", () => Object.keys(FILES).forEach((path) => write(path, "b\n")));
      for (const path of ["keep.txt", "take.txt", "own.txt"]) write(path, `by hand in ${path}\n`);
      const contents = () => Object.keys(FILES).map((path) => read(path));
      const before = contents();
      expect((await workspace.undo()).outcome).toBe("conflicts");
      const plan = (await workspace.planUndo({ decisions: ALL }))!;
      expect(plan.conflicts).toEqual([]);
      expect(plan.edits.map(({ path }) => path)).toEqual(["clean.txt", "own.txt", "take.txt"]);
      expect(contents()).toEqual(before);
      expect((await workspace.restore(plan)).outcome).toBe("applied");
      expect(contents()).toEqual(["by hand in keep.txt\n", "a\n", "mine\n", "a\n"]);
      expect((await workspace.undo()).steps[0]).toMatchObject({ kind: "revert" });
      expect(contents()).toEqual(before);
      await workspace.redo();
      expect(contents()).toEqual(["by hand in keep.txt\n", "a\n", "mine\n", "a\n"]);
    }),
  );

  test(
    "[R280] a conflict without a decision still refuses everything",
    inWorkspace(FILES, async ({ workspace, turn, write, read }) => {
      await turn("t", () => Object.keys(FILES).forEach((path) => write(path, "b\n")));
      for (const path of ["keep.txt", "take.txt"]) write(path, "by hand\n");
      const plan = (await workspace.planUndo({ decisions: [{ path: at("take.txt"), take: "plan" }] }))!;
      expect(plan.conflicts.map(({ path }) => path)).toEqual(["keep.txt"]);
      expect((await workspace.restore(plan)).outcome).toBe("conflicts");
      expect(read("take.txt")).toBe("by hand\n");
      expect(read("clean.txt")).toBe("b\n");
    }),
  );

  test(
    "[R280] a file that is gone, or binary, can be taken as the plan wanted it; a text needs a file",
    inWorkspace(
      { "gone.txt": "a\n", "image.bin": "a\0\n" },
      async ({ workspace, turn, write, remove, read }) => {
        await turn("t", () => {
          write("gone.txt", "b\n");
          write("image.bin", "b\0\n");
        });
        remove("gone.txt");
        write("image.bin", "c\0\n");
        const plan = (await workspace.planUndo({
          decisions: [text("gone.txt", "mine\n"), { path: at("image.bin"), take: "plan" }],
        }))!;
        expect(plan.conflicts.map(({ path }) => path)).toEqual(["gone.txt"]);
        const taken: readonly Decision[] = [at("gone.txt"), at("image.bin")].map((path) => ({
          path,
          take: "plan",
        }));
        await workspace.restore((await workspace.planUndo({ decisions: taken }))!);
        expect([read("gone.txt"), read("image.bin")]).toEqual(["a\n", "a\0\n"]);
      },
    ),
  );

  test(
    "[R280] redo and revert take decisions too",
    inWorkspace({ "a.txt": "a\n" }, async ({ workspace, turn, write, read }) => {
      const decisions: readonly Decision[] = [{ path: at("a.txt"), take: "plan" }];
      await turn("t", () => write("a.txt", "b\n"));
      await workspace.undo();
      write("a.txt", "by hand\n");
      expect((await workspace.planRedo())!.conflicts).toHaveLength(1);
      await workspace.restore((await workspace.planRedo({ decisions }))!);
      expect(read("a.txt")).toBe("b\n");
      await workspace.undo();
      expect(read("a.txt")).toBe("by hand\n");
      await turn("u", () => write("a.txt", "c\n"));
      write("a.txt", "by hand again\n");
      await workspace.restore(await workspace.planRevert("@", { decisions }));
      expect(read("a.txt")).toBe("by hand\n");
    }),
  );
});
