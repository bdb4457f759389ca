/** Ghost commits in the project's repository, Code Buddy's and Belay's own, read with git. */
import { spawnSync } from "node:child_process";
import type { ImportedFile } from "@belay/engine";
import { coversOf, lost, pathOf, unionOf, type FoundCheckpoint } from "./importer.ts";
import type { OldData } from "./old-data.ts";

const LARGEST_BYTES = 1024 * 1024 * 1024;

/** A checkpoint, and the commit that has its files. */
export type GhostCheckpoint = FoundCheckpoint & { readonly commit: string };

/** Whether a repository has ghosts below these refs. */
export function hasGhosts(directory: string, refs: string): boolean {
  return (git(directory, ["for-each-ref", "--count=1", refs])?.length ?? 0) > 0;
}

/** The refs of ghosts, oldest first, without their files. */
export function listGhosts(
  directory: string,
  refs: string,
): { id: string; commit: string; createdAt: number; subject: string; leftOut: boolean }[] {
  const format =
    "%(refname)%00%(objectname)%00%(committerdate:unix)%00%(contents:subject)%00%(trailers:key=Belay-Left-Out,valueonly,separator= )";
  const listed = git(directory, ["for-each-ref", `--format=${format}`, refs])?.toString("utf8") ?? "";
  return listed
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => line.split("\0"))
    .map(([ref = "", commit = "", time = "", subject = "", leftOut = ""]) => ({
      id: ref.slice(refs.length),
      commit,
      createdAt: Number(time) * 1000,
      subject,
      leftOut: Number(leftOut) > 0,
    }))
    .sort((a, b) => a.createdAt - b.createdAt);
}

/** The ghosts of a repository, oldest first; none where there is no repository or no git. */
export function readGhosts(directory: string, data: OldData, refs: string): GhostCheckpoint[] {
  const ghosts = listGhosts(directory, refs).flatMap((ghost) => {
    const tree = treeOf(directory, ghost.commit, data);
    return tree === undefined ? [] : [{ ...ghost, tree }];
  });
  const covers = unionOf(ghosts.map(({ tree }) => tree.map(({ path }) => path)));
  return ghosts.map(({ id, commit, createdAt, subject, leftOut, tree }) => ({
    commit,
    alias: id,
    kind: "turn",
    description: subject.replace(/^\[ghost\]\s*/, "") || id,
    createdAt,
    files: { [Symbol.iterator]: () => filesOf(directory, tree, data) },
    // what was left out of it was there
    covers: coversOf(
      !leftOut,
      covers,
      tree.map(({ path }) => path),
    ),
  }));
}

interface TreeEntry {
  readonly path: ImportedFile["path"];
  readonly mode: string;
  readonly blob: string;
}

function treeOf(directory: string, commit: string, data: OldData): TreeEntry[] | undefined {
  // below the directory that git is asked in: a project may be a part of its repository
  const listed = git(directory, ["ls-tree", "-r", "-z", commit]);
  // without its tree every file would look absent
  if (listed === undefined) return data.skip(`commit ${commit.slice(0, 12)}`, "git does not have its files");
  return listed
    .toString("latin1")
    .split("\0")
    .flatMap((line): TreeEntry[] => {
      const [, mode, blob, name] = /^(\d{6}) (?:blob|commit) ([0-9a-f]+)\t(.+)$/s.exec(line) ?? [];
      if (mode === undefined || blob === undefined || name === undefined) return [];
      const path = pathOf(data, Buffer.from(name, "latin1"));
      return path === undefined ? [] : [{ path, mode, blob }];
    });
}

function* filesOf(directory: string, tree: readonly TreeEntry[], data: OldData): Generator<ImportedFile> {
  for (const { path, mode, blob } of tree) {
    // another repository: its files are not in this one
    if (mode === "160000") {
      yield lost(path);
      continue;
    }
    const content = git(directory, ["cat-file", "blob", blob]);
    if (content === undefined) {
      data.skip(path, "git does not have its content");
      yield { path, kind: "gap", reason: "unreadable", size: 0 };
    } else if (mode === "120000") yield { path, kind: "symlink", mode: 0, content };
    else yield { path, kind: "file", mode: mode === "100755" ? 0o755 : 0o644, content };
  }
}

/** Asks git something that changes nothing, without hooks, prompts or anything fetched. */
function git(directory: string, args: readonly string[]): Buffer | undefined {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith("GIT_"));
  const done = spawnSync("git", ["-c", "core.fsmonitor=false", ...args], {
    cwd: directory,
    env: {
      ...Object.fromEntries(own),
      GIT_OPTIONAL_LOCKS: "0",
      GIT_NO_LAZY_FETCH: "1",
      GIT_TERMINAL_PROMPT: "0",
    },
    maxBuffer: LARGEST_BYTES,
    timeout: 60_000,
  });
  return done.status === 0 ? done.stdout : undefined;
}
