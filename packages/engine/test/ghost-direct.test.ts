/** Ghosts of few changes are written without an import: the same commit, whatever changed, and with fewer runs of git. */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Ghost, MissingGhost } from "../src/index.ts";
import { fixtureAt, type GitFixture } from "./git-fixture.ts";
import { inProject, type Project } from "./support/project.ts";

function made(result: Ghost | MissingGhost): Ghost {
  if ("missing" in result) throw new Error(`no ghost: ${result.missing}`);
  return result;
}

const FIRST = {
  "a.txt": "a\n",
  "deep/er/down/x.txt": "x\n",
  "deep/er/y.txt": "y\n",
  "gone/only.txt": "only\n",
  "sort.txt": "1\n",
  "sort/in.txt": "2\n",
  "sort-z": "3\n",
  "to-directory": "a file\n",
  "to-file/one": "1\n",
  "to-file/two/three": "3\n",
};

/** With a git that notes what it is asked to do. */
function watched(project: Project): { system: Project["system"]; verbs(): string[] } {
  const tools = join(project.base, "tools");
  const notes = join(project.base, "notes");
  mkdirSync(tools);
  writeFileSync(notes, "");
  const real = spawnSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).stdout.trim();
  writeFileSync(join(tools, "git"), `#!/bin/sh\necho "$@" >> ${notes}\nexec ${real} "$@"\n`, { mode: 0o755 });
  return {
    system: { ...project.system, commandPath: tools },
    verbs: () => {
      const lines = readFileSync(notes, "utf8").split("\n").slice(0, -1);
      writeFileSync(notes, "");
      return lines.flatMap((line) => /ls-tree|cat-file|fast-import|update-ref/.exec(line) ?? []);
    },
  };
}

function makeRepository(project: Project, ...init: string[]): GitFixture {
  const git = fixtureAt(project.root);
  git.git("init", "-q", ...init, ".");
  for (const [path, content] of Object.entries(FIRST)) git.write(path, content);
  git.git("add", ".");
  git.git("commit", "-qm", "first");
  return git;
}

function change(project: Project): void {
  project.write("a.txt", "changed\n");
  project.remove("gone/only.txt");
  project.remove("to-directory");
  project.write("to-directory/now/there.txt", "there\n");
  for (const path of ["to-file/one", "to-file/two"]) project.remove(path);
  project.remove("to-file");
  project.write("to-file", "a file now\n");
  project.write("sort.z/in.txt", "between\n");
  project.write("sort0", "after\n");
  project.write('deep/er/down/new "name"\tä.txt', "odd\n");
  project.write("empty.txt", "");
  project.write("binary", Buffer.from([0, 255, 10, 13]).toString("latin1"));
  symlinkSync("../a.txt", join(project.root, "deep/link"));
  chmodSync(join(project.root, "sort-z"), 0o755);
}

test.each([["sha1"], ["sha256"]])(
  "[R2200] what is written is what git imports: any change, trees loose and in packs, %s",
  (format) =>
    inProject({}, async (project) => {
      const git = makeRepository(project, `--object-format=${format}`);
      const { system, verbs } = watched(project);
      const workspace = await project.open({ system });
      const trees: string[] = [];
      const ghost = async () => {
        const { commit } = made(await workspace.ghost());
        trees.push(git.git("rev-parse", `${commit}^{tree}`));
        git.git("fsck", "--strict");
        return verbs();
      };
      change(project);
      expect(await ghost()).toEqual(["ls-tree", "cat-file"]);
      project.write("deep/er/y.txt", "changed\n");
      expect(await ghost()).toEqual([]);
      git.git("gc", "-q");
      project.write("deep/er/y.txt", "changed again\n");
      project.remove("sort");
      expect(await ghost()).toEqual(["cat-file"]);
      // the directories that were in packs lie loose now
      project.write("deep/er/down/x.txt", "changed again\n");
      project.write("deep/er/y.txt", "once more\n");
      expect(await ghost()).toEqual(["cat-file"]);
      project.write("deep/er/down/x.txt", "for the last time\n");
      expect(await ghost()).toEqual([]);
      git.git("config", "core.sharedRepository", "0600");
      const direct = trees.at(-1);
      expect(await ghost()).toEqual(["fast-import", "update-ref"]);
      expect(trees.at(-1)).toBe(direct);
      // and from HEAD: the same files, imported and written
      for (const rights of ["0600", "umask"]) {
        git.git("config", "core.sharedRepository", rights);
        git.git("commit", "-q", "--allow-empty", "-m", `rights ${rights}`);
        const ran = await ghost();
        expect([rights, ran.includes("fast-import"), trees.at(-1)]).toEqual([
          rights,
          rights === "0600",
          direct,
        ]);
      }
    })(),
  60_000,
);

test(
  "[R2200] a ref that is there, packed or not, is left alone, and where a name is taken git decides",
  inProject({}, async (project) => {
    const git = makeRepository(project);
    const { system, verbs } = watched(project);
    const workspace = await project.open({ system });
    project.write("a.txt", "changed\n");
    const { id, commit } = made(await workspace.ghost());
    project.write("a.txt", "changed again\n");
    const ref = () => git.git("rev-parse", `refs/belay/ghost/${id}`);
    for (const pack of [false, true]) {
      if (pack) git.git("pack-refs", "--all");
      expect([pack, made(await workspace.ghost(id)).commit, ref()]).toEqual([pack, commit, commit]);
    }
    expect(verbs()).toContain("update-ref");
    expect(await workspace.dropGhost("all")).toBe(1);
    git.git("update-ref", "refs/belay", "HEAD");
    const refused = await workspace.ghost();
    expect(refused).toEqual({ missing: expect.stringContaining("refs/belay") });
    git.git("pack-refs", "--all");
    expect(await workspace.ghost()).toEqual({ missing: expect.stringContaining("refs/belay") });
    git.git("update-ref", "-d", "refs/belay");
    const { id: last } = made(await workspace.ghost());
    expect(git.git("for-each-ref", "--format=%(refname)", "refs/belay")).toBe(`refs/belay/ghost/${last}`);
  }),
);

test(
  "[R2200] many or large changes are imported, which git keeps as a pack",
  inProject({}, async (project) => {
    const git = makeRepository(project);
    const { system, verbs } = watched(project);
    const workspace = await project.open({ system });
    for (let at = 0; at < 120; at += 1) project.write(`many/${at}.txt`, `${at}\n`);
    made(await workspace.ghost());
    expect(verbs()).toContain("fast-import");
    project.write("large.txt", "x".repeat(9 * 1024 * 1024));
    made(await workspace.ghost());
    expect(verbs()).toContain("fast-import");
    git.git("fsck", "--strict");
  }),
);

test(
  "[R2200] an object of git's own look: its rights, nothing half written beside it, and the present time if it is there",
  inProject({}, async (project) => {
    const git = makeRepository(project);
    const workspace = await project.open();
    project.write("a.txt", "changed\n");
    const place = (id: string) => join(project.root, ".git/objects", id.slice(0, 2), id.slice(2));
    const blob = git.git("hash-object", "-w", "a.txt");
    const old = new Date(Date.now() - 40 * 24 * 3600_000);
    spawnSync("touch", ["-d", old.toISOString(), place(blob)]);
    const { commit } = made(await workspace.ghost());
    expect(statSync(place(blob)).mtimeMs).toBeGreaterThan(old.getTime() + 1000);
    // as git gives its own
    expect(statSync(place(commit)).mode).toBe(statSync(place(blob)).mode);
    const left = readdirSync(join(project.root, ".git/objects"), { recursive: true }).filter((name) =>
      String(name).includes("tmp_obj"),
    );
    expect(left).toEqual([]);
  }),
);

test(
  "[R2200] what a replacement shows is not what the commit has, and what cannot be written is imported",
  inProject({}, async (project) => {
    const git = makeRepository(project);
    git.git("gc", "-q");
    const workspace = await project.open();
    const other = git.git("commit-tree", "4b825dc642cb6eb9a060e54bf8d69288fbee4904", "-m", "other");
    git.git("hash-object", "-w", "-t", "tree", "/dev/null");
    git.git("replace", "HEAD", other);
    project.write("a.txt", "changed\n");
    const { commit } = made(await workspace.ghost());
    git.git("replace", "-d", git.git("rev-parse", "HEAD"));
    expect(git.git("diff", "--name-status", "HEAD", commit)).toBe("M\ta.txt");
    // where no new object can have its place, git keeps a pack
    for (let at = 0; at < 256; at += 1) {
      const directory = join(project.root, ".git/objects", at.toString(16).padStart(2, "0"));
      if (statSync(directory, { throwIfNoEntry: false }) === undefined) writeFileSync(directory, "");
    }
    for (const text of ["1", "2", "3"]) project.write(`${text}.txt`, `${text}${text}\n`);
    const packed = made(await workspace.ghost());
    expect(git.git("diff", "--name-status", commit, packed.commit)).toBe("A\t1.txt\nA\t2.txt\nA\t3.txt");
  }),
);
