/** A workspace that captures exactly what was named, and one plan with several targets. */
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Workspace } from "../src/index.ts";
import { inProject, inProtected, type Project } from "./support/project.ts";

const FILES = { "src/a.ts": "a\n", "src/b.ts": "b\n", ".gitignore": "*.log\n", "out.log": "log\n" };

const openNamed = (project: Project) => project.open({ coverage: "named" });

const named = (workspace: Workspace, ...paths: string[]) => workspace.checkpoint({ kind: "manual", paths });

const pathsOf = async (workspace: Workspace, ref: string) => {
  const paths: string[] = [];
  for await (const { path, kind } of workspace.files(ref)) if (kind !== "directory") paths.push(path);
  return paths;
};

test(
  "[R1783] [C01] exactly the named paths are captured, whatever the size of the project: one content of 5,000 is stored",
  inProject(FILES, async (project) => {
    for (let index = 0; index < 5000; index += 1) project.write(`many/${index % 50}/f${index}`, `${index}\n`);
    const workspace = await openNamed(project);
    expect((await workspace.resolve("1")).files).toBe(0);
    const first = await named(workspace, "many/7/f7");
    expect([first.stored, first.checkpoint.files]).toEqual([{ objects: 1, bytes: 2 }, 1]);
    project.write("many/7/f7", "changed\n");
    project.write("many/7/f57", "not named\n");
    const second = await named(workspace, "out.log", "missing");
    expect([second.stored, second.checkpoint.files]).toEqual([{ objects: 2, bytes: 12 }, 2]);
    expect(await pathsOf(workspace, second.id)).toEqual(["many/7/f7", "out.log"]);
    expect((await named(workspace, "out.log")).stored).toEqual({ objects: 0, bytes: 0 });
  }),
);

test(
  "[R1783] [N6] going back touches named paths only: what was absent when it was named goes, what was not named stays",
  inProject(FILES, async (project) => {
    const workspace = await openNamed(project);
    const { id } = await named(workspace, "src/a.ts");
    project.write("src/a.ts", "changed\n");
    project.write("src/b.ts", "by hand\n");
    await named(workspace, "src/new.ts");
    project.write("src/new.ts", "new\n");
    project.write("src/unnamed.ts", "stays\n");
    expect(await workspace.restoreTo(id)).toMatchObject({ outcome: "applied", modified: 1, deleted: 1 });
    expect([project.read("src/a.ts"), project.read("src/b.ts"), project.read("src/unnamed.ts")]).toEqual([
      "a\n",
      "by hand\n",
      "stays\n",
    ]);
    expect(existsSync(join(project.root, "src/new.ts"))).toBe(false);
    await workspace.undo();
    expect([project.read("src/a.ts"), project.read("src/new.ts")]).toEqual(["changed\n", "new\n"]);
  }),
);

test(
  "[R1783] a checkpoint without paths makes it whole for good, also after it was opened again",
  inProject(FILES, async (project) => {
    const whole = [".gitignore", "out.log", "src/a.ts", "src/b.ts"];
    const first = await openNamed(project);
    const { id } = await named(first, "src/a.ts");
    expect(await pathsOf(first, id)).toEqual(["src/a.ts"]);
    const other = await openNamed(project);
    const all = await first.checkpoint();
    expect(await pathsOf(first, all.id)).toEqual(whole.filter((path) => path !== "out.log"));
    expect(await pathsOf(other, (await named(other, "out.log")).id)).toEqual(whole);
    const workspace = await openNamed(project);
    expect(await pathsOf(workspace, (await named(workspace, "src/b.ts")).id)).toEqual(whole);
    project.write("later", "x\n");
    await workspace.restoreTo(all.id);
    expect(existsSync(join(project.root, "later"))).toBe(false);
  }),
);

test(
  "[R1782] one plan, several targets: each named file comes from its own, and undo takes all of it back",
  inProtected({ "a.txt": "1", "b.txt": "1", "dir/c.txt": "1" }, async (project, workspace) => {
    const states = [(await workspace.resolve("1")).id];
    for (const state of ["2", "3", "4"]) {
      for (const path of ["a.txt", "b.txt", "dir/c.txt"]) project.write(path, state);
      if (state !== "2") project.write("dir/new.txt", state);
      states.push((await workspace.checkpoint()).id);
    }
    const [first, second, third] = states;
    const before = project.tree();
    const plan = await workspace.planRestore(first!, {
      also: [
        { ref: second!, paths: ["b.txt"] },
        { ref: third!, paths: ["dir/new.txt", "nowhere"] },
      ],
    });
    expect(plan.edits.map(({ path }) => path)).toEqual(["a.txt", "b.txt", "dir/c.txt", "dir/new.txt"]);
    expect(plan.description).toContain("and b.txt, dir/new.txt and 1 more from other checkpoints");
    expect(await workspace.restore(plan)).toMatchObject({ outcome: "applied" });
    const now = ["a.txt", "b.txt", "dir/c.txt", "dir/new.txt"].map((path) => project.read(path));
    expect(now).toEqual(["1", "2", "1", "3"]);
    await workspace.undo();
    expect(project.tree()).toEqual(before);
    await expect(workspace.planRestore(first!, { also: [{ ref: second!, paths: [] }] })).rejects.toThrow(
      "empty",
    );
    await expect(
      workspace.planRestore(first!, { also: [{ ref: second!, paths: ["b.txt"] }], outside: true }),
    ).rejects.toThrow("outside");
  }),
);

test(
  "[R1782] what the main target has instead of a directory gives way to a file below it that is named apart",
  inProtected({ d: "file" }, async (project, workspace) => {
    const first = (await workspace.resolve("1")).id;
    rmSync(join(project.root, "d"));
    for (const path of ["d/e/own.txt", "d/e/other.txt", "d/still.txt"]) project.write(path, "2");
    const second = (await workspace.checkpoint()).id;
    project.write("d/e/own.txt", "3");
    await workspace.checkpoint();
    const before = project.tree();
    const plan = await workspace.planRestore(first, {
      also: [{ ref: second, paths: ["d/e/own.txt", "d/still.txt"] }],
    });
    expect(plan.edits.map(({ path }) => path)).toEqual(["d/e/other.txt", "d/e/own.txt"]);
    expect(await workspace.restore(plan)).toMatchObject({ outcome: "applied", conflicts: [] });
    expect([...project.tree().keys()]).toEqual(["d", "d/e", "d/e/own.txt", "d/still.txt"]);
    expect(project.read("d/e/own.txt")).toBe("2");
    await workspace.undo();
    expect(project.tree()).toEqual(before);
    const both = [
      { ref: first, paths: ["d"] },
      { ref: second, paths: ["d/still.txt"] },
    ];
    await expect(workspace.planRestore("@", { also: both })).rejects.toThrow("cannot both be had");
    expect(project.tree()).toEqual(before);
  }),
);

test(
  "[R1784] what is stored counts once: not content that another file or an earlier checkpoint has, and pieces of large files",
  inProtected({ "a.txt": "one\n" }, async (project, workspace) => {
    const stored = async () => (await workspace.checkpoint()).stored;
    expect(await stored()).toEqual({ objects: 0, bytes: 0 });
    project.write("copy.txt", "one\n");
    expect(await stored()).toEqual({ objects: 0, bytes: 0 });
    project.write("a.txt", "three\n");
    project.write("b.txt", "three\n");
    expect(await stored()).toEqual({ objects: 1, bytes: 6 });
    project.write("a.txt", "one\n");
    expect(await stored()).toEqual({ objects: 0, bytes: 0 });
    const large = Buffer.alloc(3 * 1024 * 1024 + 5, "x");
    for (let at = 0; at < 4; at += 1) large.write(`piece ${at}`, at * 1024 * 1024 - (at === 3 ? 9 : 0));
    project.write("large.bin", large);
    expect(await stored()).toEqual({ objects: 1, bytes: large.length });
    large.write("other", 10);
    project.write("large.bin", large);
    expect(await stored()).toEqual({ objects: 1, bytes: 1024 * 1024 });
  }),
);
