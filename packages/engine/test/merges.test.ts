/** Merging checkpoints of a real store into the files on disk, as a preview. */
import { chmodSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { checkResolution, type MergePreview } from "../src/index.ts";
import { inWorkspace, type TempWorkspace } from "./support/temp-workspace.ts";

const CODE = Array.from({ length: 12 }, (_, at) => `line ${at + 1}\n`).join("");
const change = (number: number, text: string, code = CODE) => code.replace(`line ${number}\n`, `${text}\n`);

/** Takes a checkpoint after some work and goes back to before it. */
async function aside({ workspace }: TempWorkspace, name: string, work: () => void): Promise<string> {
  const base = await workspace.checkpoint();
  work();
  const { id } = await workspace.checkpoint({ name });
  await workspace.restoreTo(base.id);
  return id;
}

const outcomes = ({ sources }: MergePreview) => sources.map(({ name, outcome }) => `${name}: ${outcome}`);
const patches = ({ files }: MergePreview) => files.map(({ diff }) => diff).join("");

describe("preview of a merge", () => {
  test(
    "[R95] [R96] [I73] two agents' work and the user's own edits come together; nothing on disk changes",
    inWorkspace({ "a.txt": CODE, "b.txt": "b\n" }, async (temp) => {
      const { workspace, write, read } = temp;
      const base = (await workspace.checkpoint()).id;
      const one = await aside(temp, "one", () => write("a.txt", change(2, "by one")));
      const two = await aside(temp, "two", () => {
        write("a.txt", change(6, "by two"));
        write("new/c.txt", "c\n");
      });
      write("a.txt", change(11, "by hand"));
      const preview = await workspace.merges.preview(
        [
          { name: "run one", base, head: one },
          { name: "run two", base, head: two },
        ],
        { detail: "text" },
      );
      expect(outcomes(preview)).toEqual(["run one: merged", "run two: merged"]);
      expect(preview.merged).toEqual([
        { path: "a.txt", severity: "medium", how: "lines", agents: ["you", "run one"] },
        { path: "a.txt", severity: "medium", how: "lines", agents: ["you", "run one", "run two"] },
      ]);
      expect(preview.resolution).toEqual({
        autoResolved: 2,
        mergerResolved: 0,
        userResolved: 0,
        success: true,
      });
      expect(preview.changes).toEqual({ added: 1, modified: 1, deleted: 0 });
      for (const line of ["+by one", "+by two", "+c"]) expect(patches(preview)).toContain(line);
      expect(patches(preview)).not.toContain("-by hand");
      expect(read("a.txt")).toBe(change(11, "by hand"));
    }),
  );

  test(
    "[R95] [M42] [M47] a source with a conflict is held whole, and the others are merged",
    inWorkspace({ "a.txt": CODE, "b.txt": "b\n" }, async (temp) => {
      const { workspace, write } = temp;
      const base = (await workspace.checkpoint()).id;
      const one = await aside(temp, "one", () => write("a.txt", change(2, "by one")));
      const two = await aside(temp, "two", () => {
        write("a.txt", change(2, "by two"));
        write("b.txt", "changed by two\n");
      });
      const three = await aside(temp, "three", () => write("c.txt", "by three\n"));
      const sources = Object.entries({ one, two, three }).map(([name, head]) => ({ name, base, head }));
      const held = await workspace.merges.preview(sources, { detail: "text" });
      expect(outcomes(held)).toEqual(["one: merged", "two: held", "three: merged"]);
      expect(held.conflicts).toMatchObject([
        {
          path: "a.txt",
          agents: ["one", "two"],
          severity: "high",
          autoResolvable: false,
          reason: "both sides changed line 2",
          kind: "content",
          regions: [{ class: "overlap", base: [1, 2], ours: [1, 2], theirs: [1, 2] }],
          state: "open",
          resolution: null,
          merge: held.id,
        },
      ]);
      const [conflict] = held.conflicts;
      expect(conflict!.content("base")).toEqual(Buffer.from(CODE));
      expect(conflict!.content("ours")).toEqual(Buffer.from(change(2, "by one")));
      expect(conflict!.content("theirs")).toEqual(Buffer.from(change(2, "by two")));
      expect(checkResolution(conflict!, { content: Buffer.from(change(2, "by one\nby two")) })).toEqual([]);
      expect(checkResolution(conflict!, { content: Buffer.from(change(2, "by two")) })).toEqual([
        { check: "lost", line: 2, detail: 'ours added "by one"' },
      ]);
      expect(held.resolution.success).toBe(false);
      expect(patches(held)).not.toContain("by two");
      const none = await workspace.merges.preview(sources, { onConflict: "none" });
      expect(outcomes(none)).toEqual(["one: held", "two: held", "three: held"]);
      expect(none.changes).toEqual({ added: 0, modified: 0, deleted: 0 });
      const partial = await workspace.merges.preview(sources, { onConflict: "partial", detail: "text" });
      expect(patches(partial)).toContain("+changed by two");
      expect(patches(partial)).not.toContain("by two\n line 3");
    }),
  );

  test(
    "a source that has nothing new is unchanged, and merging it again changes nothing",
    inWorkspace({ "a.txt": CODE }, async (temp) => {
      const { workspace, write } = temp;
      const base = (await workspace.checkpoint()).id;
      const head = await aside(temp, "one", () => write("a.txt", change(2, "by one")));
      write("a.txt", change(2, "by one", change(9, "by hand")));
      const preview = await workspace.merges.preview([
        { name: "again", base, head },
        { name: "nothing", base, head: base },
      ]);
      expect(outcomes(preview)).toEqual(["again: merged", "nothing: unchanged"]);
      expect(preview.changes).toEqual({ added: 0, modified: 0, deleted: 0 });
    }),
  );

  test(
    "modes, links and deletions of a real tree are merged",
    inWorkspace({ "run.sh": CODE, "old.txt": "old\n", "dir/a": "a\n" }, async (temp) => {
      const { workspace, write, remove, root } = temp;
      const base = (await workspace.checkpoint()).id;
      const head = await aside(temp, "one", () => {
        chmodSync(join(root, "run.sh"), 0o755);
        symlinkSync("run.sh", join(root, "link"));
        remove("dir");
      });
      write("run.sh", change(3, "by hand"));
      const preview = await workspace.merges.preview([{ name: "one", base, head }]);
      expect(preview.conflicts).toEqual([]);
      expect(preview.files.map(({ path, type }) => [path, type])).toEqual([
        ["dir/a", "deleted"],
        ["link", "added"],
        ["run.sh", "mode"],
      ]);
    }),
  );

  test(
    "[R12] [R96] what the rules of either side leave out is not merged, and is named",
    inWorkspace({ "a.txt": CODE, "kept/x.txt": "x\n" }, async (temp) => {
      const { workspace, write, remove } = temp;
      const base = (await workspace.checkpoint()).id;
      const head = await aside(temp, "one", () => {
        write("kept/x.txt", "changed\n");
        write("kept/new.txt", "new\n");
        write(".belayignore", "");
      });
      write(".belayignore", "kept/\n");
      const preview = await workspace.merges.preview([{ name: "one", base, head }]);
      expect(preview.notMerged).toEqual([
        { path: "kept/new.txt", reason: "the rules here leave it out" },
        { path: "kept/x.txt", reason: "the rules here leave it out" },
      ]);
      remove(".belayignore");
    }),
  );

  test(
    "[M43] a conflict in a file that .gitattributes calls generated is one to generate again",
    inWorkspace({ ".gitattributes": "*.api linguist-generated\n", "x.api": CODE }, async (temp) => {
      const { workspace, write } = temp;
      const base = (await workspace.checkpoint()).id;
      const head = await aside(temp, "one", () => write("x.api", change(2, "by one")));
      write("x.api", change(2, "by hand"));
      const { conflicts } = await workspace.merges.preview([{ name: "one", base, head }]);
      expect(conflicts).toMatchObject([{ kind: "generated", severity: "medium", agents: ["you", "one"] }]);
    }),
  );

  test(
    "an unknown base or head is an error, and nothing is compared",
    inWorkspace({ "a.txt": CODE }, async ({ workspace }) => {
      const head = (await workspace.checkpoint()).id;
      await expect(workspace.merges.preview([{ name: "one", base: "nowhere", head }])).rejects.toMatchObject({
        code: "CHECKPOINT_NOT_FOUND",
      });
    }),
  );
});
