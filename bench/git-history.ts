/** Merge commits of a git repository, as the engine's merge sees changes. Reading only. */
import { execFileSync } from "node:child_process";
import type { Entry } from "../packages/engine/src/model/entry.ts";
import type { BytePath } from "../packages/engine/src/model/byte-path.ts";
import type { ObjectHash } from "../packages/engine/src/model/object-hash.ts";
import type { Edit } from "../packages/engine/src/model/plan.ts";

const LIMIT_MS = 120_000;
const EMPTY_BLOB = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";

/** A commit with two parents. */
export interface MergeCommit {
  readonly commit: string;
  readonly ours: string;
  readonly theirs: string;
}

/** A repository at a path; a bare one too. */
export class GitHistory {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** The merges of all branches, newest first. */
  merges(most: number): MergeCommit[] {
    const text = this.#git(["rev-list", "--all", "--merges", "--parents", `--max-count=${most}`]).toString();
    return text
      .split("\n")
      .map((line) => line.split(" "))
      .filter((words) => words.length === 3)
      .map(([commit, ours, theirs]) => ({ commit: commit!, ours: ours!, theirs: theirs! }));
  }

  /** The best common ancestors; none where the histories are unrelated. */
  bases({ ours, theirs }: MergeCommit): string[] {
    try {
      return this.#git(["merge-base", "--all", ours, theirs])
        .toString()
        .split("\n")
        .filter((line) => line !== "");
    } catch {
      return [];
    }
  }

  /** What changed between two commits, file by file. */
  changes(from: string, to: string): Edit[] {
    const raw = this.#git(["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", from, to]);
    const fields = raw.toString("latin1").split("\0");
    const edits: Edit[] = [];
    for (let at = 0; at + 1 < fields.length; at += 2) {
      const [oldMode, newMode, oldHash, newHash] = fields[at]!.slice(1).split(" ");
      const path = fields[at + 1]! as BytePath;
      edits.push({ path, from: entryOf(oldMode!, oldHash!), to: entryOf(newMode!, newHash!) });
    }
    return edits;
  }

  /** Contents by the names that git knows them by; a name that means nothing is left out. */
  contents(names: readonly string[]): Map<string, Buffer> {
    const found = new Map<string, Buffer>();
    if (names.length === 0) return found;
    const output = this.#git(["cat-file", "--batch"], `${names.join("\n")}\n`);
    let at = 0;
    for (const name of names) {
      const end = output.indexOf(10, at);
      const [, kind, size] = output.toString("latin1", at, end).split(" ");
      at = end + 1;
      if (kind !== "blob" && kind !== "tree" && kind !== "commit") continue;
      if (kind === "blob") found.set(name, output.subarray(at, at + Number(size)));
      at += Number(size) + 1;
    }
    return found;
  }

  #git(args: readonly string[], input = ""): Buffer {
    return execFileSync("git", ["-C", this.#path, ...args], {
      input,
      stdio: ["pipe", "pipe", "ignore"],
      timeout: LIMIT_MS,
      maxBuffer: 2 ** 31 - 1,
    });
  }
}

function entryOf(mode: string, hash: string): Entry | undefined {
  if (/^0+$/.test(mode)) return undefined;
  const size = hash === EMPTY_BLOB ? 0 : 1;
  const name = hash as ObjectHash;
  if (mode === "120000") return { kind: "symlink", size, hash: name };
  // a submodule has no content here
  if (mode === "160000") return { kind: "gap", reason: "special", size: 0 };
  return { kind: "file", mode: mode === "100755" ? 0o755 : 0o644, size, hash: name };
}
