/** A scratch copy of the project for a merger: the files as they are here, those in conflict with marks. */
import { createHash } from "node:crypto";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { displayPath, type MergeConflict, type Workspace } from "@belay/engine";

/** Where a merger works. */
export interface Scratch extends Disposable {
  /** The copy of the project. */
  readonly tree: string;
  /** The task and the answer, in a directory of the copy: agents may write nowhere else. */
  readonly task: string;
  readonly answer: string;
  /** The paths that differ from what the merger was given. */
  changed(): string[];
}

/** [N0] A link in the copy leads to real files: it is replaced, and nothing is written behind a linked directory. */
function writeMarked(tree: string, path: string, marked: Parameters<typeof writeFileSync>[1]): void {
  const file = join(tree, path);
  mkdirSync(dirname(file), { recursive: true });
  if (!`${realpathSync(dirname(file))}/`.startsWith(`${tree}/`)) return;
  if (lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() === true) rmSync(file);
  writeFileSync(file, marked);
}

/** Writes the copy; it is removed when it is disposed of. */
export async function makeMergerScratch(
  workspace: Workspace,
  conflicts: readonly MergeConflict[],
): Promise<Scratch> {
  const { checkpoint } = await workspace.checkpoint({ kind: "safety", description: "Before the merger" });
  const place = realpathSync(mkdtempSync(join(tmpdir(), "belay-merger-")));
  const tree = join(place, "project");
  mkdirSync(tree, { mode: 0o700 });
  try {
    for await (const { path, kind, mode, content } of workspace.files(checkpoint.id)) {
      const file = join(tree, displayPath(path));
      mkdirSync(dirname(file), { recursive: true });
      if (kind === "directory") mkdirSync(file, { recursive: true });
      else if (kind === "symlink") symlinkSync(Buffer.concat([...content()]), file);
      else {
        writeFileSync(file, Buffer.concat([...content()]));
        chmodSync(file, mode | 0o600);
      }
    }
    for (const { id, path } of conflicts)
      writeMarked(tree, displayPath(path), await workspace.merges.marked(id));
    // a project may have something of this name, even a link that leads elsewhere
    rmSync(join(tree, OWN), { recursive: true, force: true });
    mkdirSync(join(tree, OWN), { mode: 0o700 });
    return scratchIn(place, tree);
  } catch (error) {
    rmSync(place, { recursive: true, force: true });
    throw error;
  }
}

function scratchIn(place: string, tree: string): Scratch {
  const given = fingerprints(tree);
  return {
    tree,
    task: join(tree, OWN, "task.json"),
    answer: join(tree, OWN, "answer.json"),
    changed: () => {
      const now = fingerprints(tree);
      return [...new Set([...given.keys(), ...now.keys()])].filter(
        (path) => given.get(path) !== now.get(path),
      );
    },
    [Symbol.dispose]: () => rmSync(place, { recursive: true, force: true }),
  };
}

/** Where the task and the answer are. */
const OWN = ".belay-merger";

/** Every path below a directory with what stands there. */
function fingerprints(root: string): Map<string, string> {
  const found = new Map<string, string>();
  const visit = (directory: string) => {
    for (const name of readdirSync(join(root, directory))) {
      const path = directory === "" ? name : `${directory}/${name}`;
      if (path === OWN) continue;
      const stat = lstatSync(join(root, path));
      if (stat.isDirectory()) visit(path);
      else if (stat.isSymbolicLink()) found.set(path, `link ${readlinkSync(join(root, path))}`);
      else if (stat.isFile())
        found.set(
          path,
          `${stat.mode & 0o111} ${createHash("sha256")
            .update(readFileSync(join(root, path)))
            .digest("hex")}`,
        );
      else found.set(path, "special");
    }
  };
  visit("");
  return found;
}
