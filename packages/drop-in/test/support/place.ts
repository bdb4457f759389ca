/** A directory of a test's own, with a home for Belay beside it; both go when the test is over. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { openWorkspaceSync, type SyncWorkspace } from "@belay/engine/sync";
import { onTestFinished } from "vitest";
import { closeDropIn, type DropInOptions, type LogLine } from "../../src/index.ts";

/** Files of a test, and what every front gets. */
export interface Place {
  readonly root: string;
  readonly home: string;
  readonly lines: LogLine[];
  readonly options: DropInOptions;
  write(path: string, text: string | Buffer): void;
  read(path: string): string;
  exists(path: string): boolean;
  remove(path: string): void;
  /** Makes the directory the process's own. */
  enter(): void;
  /** The same workspace as another process sees it. */
  look<Result>(work: (workspace: SyncWorkspace) => Result): Result;
}

/** Makes a place with these files. */
export function makePlace(files: Readonly<Record<string, string>> = {}): Place {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "belay-drop-in-")));
  const [root, home] = [join(directory, "project"), join(directory, "home")];
  const lines: LogLine[] = [];
  mkdirSync(root);
  const before = process.cwd();
  onTestFinished(() => {
    closeDropIn();
    process.chdir(before);
    rmSync(directory, { recursive: true, force: true });
  });
  const place: Place = {
    root,
    home,
    lines,
    options: { home, log: (line) => void lines.push(line) },
    write: (path, text) => {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    },
    read: (path) => readFileSync(join(root, path), "utf8"),
    exists: (path) => existsSync(join(root, path)),
    remove: (path) => rmSync(join(root, path), { recursive: true }),
    enter: () => process.chdir(root),
    look: (work) => {
      const workspace = openWorkspaceSync(root, { home });
      try {
        return work(workspace);
      } finally {
        workspace.close();
      }
    },
  };
  for (const [path, text] of Object.entries(files)) place.write(path, text);
  return place;
}
