/** How two versions differ, in Code Buddy's form. */
import { join } from "node:path";
import { displayPath, type CheckpointId, type FileChange } from "@belay/engine";
import { bytesAt, textOf, withLazy } from "../frame/contents.ts";
import type { Root } from "../frame/root.ts";

/** What differs between two versions; all paths are absolute. */
export interface VersionDiff {
  added: string[];
  modified: string[];
  deleted: string[];
  /** Listed when it is looked at. */
  unchanged: string[];
  details: {
    path: string;
    type: "added" | "modified" | "deleted";
    oldContent?: string;
    newContent?: string;
    hunks?: DiffHunk[];
  }[];
}

/** Lines that follow each other and changed: "- old", "+ new", without others around them. */
export interface DiffHunk {
  oldStart: number;
  oldLines: number;
  newStart: number;
  newLines: number;
  lines: string[];
}

type Kind = "added" | "modified" | "deleted";

/** Compares two checkpoints. A renamed file is deleted and added. */
export function compareVersions(root: Root, from: CheckpointId, to: CheckpointId): VersionDiff {
  const { workspace } = root;
  const { files } = workspace.diff({ from, to, detail: "text" });
  const changes = files.flatMap((file) => {
    if (file.from === undefined) return [{ file, path: displayPath(file.path), type: kindOf(file) }];
    return [
      { file, path: displayPath(file.from), type: "deleted" as const },
      { file, path: displayPath(file.path), type: "added" as const },
    ];
  });
  const all = (type: Kind) =>
    changes.filter((each) => each.type === type).map(({ path }) => join(root.directory, path));
  const content = (at: CheckpointId, path: string) =>
    textOf(bytesAt(workspace, at, path) ?? Buffer.alloc(0)).content;
  const details = changes.map(({ file, path, type }) => {
    const lazy: Record<string, () => unknown> = {};
    if (type !== "added") lazy["oldContent"] = () => content(from, path);
    if (type !== "deleted") lazy["newContent"] = () => content(to, path);
    if (type === "modified") lazy["hunks"] = () => hunksOf(file.diff ?? "");
    return withLazy({ path: join(root.directory, path), type }, lazy);
  });
  const changed = new Set(changes.map(({ path }) => path));
  const diff = { added: all("added"), modified: all("modified"), deleted: all("deleted"), details };
  return withLazy<typeof diff, { unchanged: string[] }>(diff, {
    unchanged: () =>
      [...workspace.files(to)]
        .filter(({ kind }) => kind !== "directory")
        .map(({ path }) => displayPath(path))
        .filter((path) => !changed.has(path))
        .map((path) => join(root.directory, path)),
  });
}

function kindOf({ type }: FileChange): Kind {
  return type === "added" || type === "deleted" ? type : "modified";
}

/** The changed lines of a unified diff, without those around them. */
function hunksOf(diff: string): DiffHunk[] {
  const hunks: DiffHunk[] = [];
  let [old, now] = [0, 0];
  let open: DiffHunk | undefined;
  for (const line of diff.split("\n")) {
    const header = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
    if (header !== null) {
      // git counts a side without lines from the line before it
      [old, now] = [
        Number(header[1]) + (header[2] === "0" ? 1 : 0),
        Number(header[3]) + (header[4] === "0" ? 1 : 0),
      ];
      open = undefined;
    } else if (old > 0 || now > 0) {
      const sign = line[0];
      if (sign === "-" || sign === "+") {
        if (open === undefined) {
          open = { oldStart: old, oldLines: 0, newStart: now, newLines: 0, lines: [] };
          hunks.push(open);
        }
        open.lines.push(`${sign} ${line.slice(1)}`);
        if (sign === "-") open.oldLines += 1;
        else open.newLines += 1;
      } else if (sign === " ") open = undefined;
      if (sign === "-" || sign === " ") old += 1;
      if (sign === "+" || sign === " ") now += 1;
    }
  }
  return hunks;
}
