/**
 * [R2603] A ghost whose checkpoint the store no longer has, taken over from its commit as another program's checkpoint would be:
 * pruned, or made on another machine. What the commit lacks is not touched by going back to it.
 */
import type { Context } from "../capture/context.ts";
import { importCheckpoints, whyNotImported } from "../capture/import-checkpoints.ts";
import { commitEntries, readBlobs, type CommitEntry } from "../git/git-ghosts.ts";
import type { ImportedFile } from "../model/arrival.ts";
import type { BytePath } from "../model/byte-path.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import { findGhosts, type FoundGhost, type MissingGhost } from "./ghosts.ts";

/** Whose names the ids of ghosts are. */
const ORIGIN = "ghost";
const GITLINK = 0o160000;
const SYMBOLIC_LINK = 0o120000;
const EXECUTABLE = 0o100755;

/** The checkpoint of a ghost, imported if need be; importing it again changes nothing. */
export function importGhost(context: Context, id: string): Checkpoint | MissingGhost {
  const found = findGhosts(context);
  if ("missing" in found) return found;
  const { repository, git, ghosts } = found;
  const ghost = ghosts.find((each) => each.id === id);
  if (ghost === undefined) return { missing: `the repository has no ghost ${id} of this workspace` };
  if (ghost.known !== undefined) return ghost.known;
  const entries = commitEntries(repository, ghost.commit, git);
  if ("failed" in entries) return { missing: entries.failed };
  const files = filesOf(entries, (objects) => readBlobs(repository, objects, git));
  if ("failed" in files) return { missing: files.failed };
  const own = [...entries.keys()].filter((path) => whyNotImported(path) === undefined);
  // what was left out of a commit was there: only of a whole one can it be told that a path was absent
  const others = ghost.leftOut > 0 ? [] : ghosts.filter((each) => each !== ghost);
  const covers = others.reduce((all, other) => pathsOf(all, other), new Set(own));
  const request = {
    origin: ORIGIN,
    alias: id,
    kind: "turn",
    description: ghost.description === "" ? id : ghost.description,
    createdAt: ghost.committedAt,
    files,
    covers: [...covers].sort(),
  } as const;
  return importCheckpoints(context, [request]).checkpoints[0]!;

  function pathsOf(all: Set<BytePath>, { commit }: FoundGhost): Set<BytePath> {
    const known = commitEntries(repository, commit, git);
    if ("failed" in known) return all;
    for (const path of known.keys()) if (whyNotImported(path) === undefined) all.add(path);
    return all;
  }
}

type Blobs = ReturnType<typeof readBlobs>;

/** The files of a commit; another repository in it, and what git lacks, is a gap. */
function filesOf(
  entries: ReadonlyMap<BytePath, CommitEntry>,
  read: (objects: readonly string[]) => Blobs,
): ImportedFile[] | { failed: string } {
  const blobs = read(
    [...entries.values()].filter(({ mode }) => mode !== GITLINK).map(({ object }) => object),
  );
  if ("failed" in blobs) return blobs;
  return [...entries]
    .filter(([path]) => whyNotImported(path) === undefined)
    .map(([path, { mode, object }]): ImportedFile => {
      const content = mode === GITLINK ? undefined : blobs.get(object);
      if (content === undefined) return { path, kind: "gap", reason: "unreadable", size: 0 };
      if (mode === SYMBOLIC_LINK) return { path, kind: "symlink", mode: 0, content };
      return { path, kind: "file", mode: mode === EXECUTABLE ? 0o755 : 0o644, content };
    });
}
