/**
 * Replays the merge commits of a repository: for every file that both sides changed, what Belay's merge makes of it, and
 * whether that is what people committed. Every clean merge by lines is also compared with `git merge-file`.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSyntax } from "@belay/syntax";
import { mergeByGit } from "../packages/engine/test/support/merge-cases.ts";
import type { MergedChanges, PathConflict } from "../packages/engine/src/merge/change-set.ts";
import { mergeChanges } from "../packages/engine/src/merge/merge-changes.ts";
import type { BytePath } from "../packages/engine/src/model/byte-path.ts";
import { sameNode, type Entry } from "../packages/engine/src/model/entry.ts";
import { hashBytes } from "../packages/engine/src/model/object-hash.ts";
import type { Edit } from "../packages/engine/src/model/plan.ts";
import { GitHistory, type MergeCommit } from "./git-history.ts";
import { median, ms } from "./measure.ts";

/** One row of the table: what was decided about a file, how often, and how often people had committed the same. */
interface Tally {
  files: number;
  asCommitted: number;
}

interface Replay {
  readonly rows: Map<string, Tally>;
  readonly times: number[];
  merges: number;
  skipped: number;
  files: number;
  code: number;
  readonly git: { same: number; onlyHere: number; onlyGit: number; bothConflict: number; different: number };
}

const CODE = /\.(?:[cm]?[jt]sx?|py|go|rs|java|rb|php|cs|c|h|cc|cpp|hpp|css|sh)$/;

/** Replays at most `most` merges and prints what came of them. */
export async function replayMerges(path: string, most: number): Promise<void> {
  const history = new GitHistory(path);
  const folder = mkdtempSync(join(tmpdir(), "belay-replay-"));
  const replay: Replay = {
    rows: new Map(),
    times: [],
    merges: 0,
    skipped: 0,
    files: 0,
    code: 0,
    git: { same: 0, onlyHere: 0, onlyGit: 0, bothConflict: 0, different: 0 },
  };
  const syntax = createSyntax();
  try {
    for (const merge of history.merges(most)) {
      await replayMerge(replay, { history, folder, syntax }, merge);
      if (replay.merges % 500 === 0) console.error(`${replay.merges} merges …`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  print(replay);
}

interface Tools {
  readonly history: GitHistory;
  readonly folder: string;
  readonly syntax: ReturnType<typeof createSyntax>;
}

async function replayMerge(replay: Replay, tools: Tools, merge: MergeCommit): Promise<void> {
  const { history, syntax } = tools;
  const bases = history.bases(merge);
  replay.merges += 1;
  if (bases.length === 0) {
    replay.skipped += 1;
    return;
  }
  const [base, ...others] = bases as [string, ...string[]];
  const [ours, theirs] = [history.changes(base, merge.ours), history.changes(base, merge.theirs)];
  const both = changedByBoth(ours, theirs);
  if (both.length === 0) return;
  await syntax.load([...ours, ...theirs].map(({ path }) => path));
  const contents = history.contents([
    ...both.flatMap(({ from, ours: own, theirs: other }) => [from, own, other]).flatMap(hashOf),
    ...both.map(({ path }) => `${merge.commit}:${path}`),
  ]);
  const read = (entry: Entry): Buffer => {
    const name = hashOf(entry)[0] ?? "";
    if (!contents.has(name)) for (const [key, bytes] of history.contents([name])) contents.set(key, bytes);
    return contents.get(name) ?? Buffer.alloc(0);
  };
  const started = performance.now();
  const result = mergeChanges({
    ours,
    theirs,
    ambiguous: others.flatMap((other) => history.changes(base, other)),
    read,
    put(content) {
      const name = hashBytes(content);
      contents.set(name, content);
      return name;
    },
    syntax,
  });
  replay.times.push((performance.now() - started) / both.length);
  for (const file of both) {
    replay.files += 1;
    if (CODE.test(file.path)) replay.code += 1;
    const committed = contents.get(`${merge.commit}:${file.path}`);
    tally(replay, { result, path: file.path, committed, read });
    compareWithGit(replay, tools.folder, { file, read, result });
  }
}

interface BothChanged {
  readonly path: BytePath;
  readonly from: Entry | undefined;
  readonly ours: Entry | undefined;
  readonly theirs: Entry | undefined;
}

/** Paths that both sides changed, and not alike. */
function changedByBoth(ours: readonly Edit[], theirs: readonly Edit[]): BothChanged[] {
  const own = new Map(ours.map((edit) => [edit.path, edit]));
  return theirs.flatMap(({ path, from, to }) => {
    const edit = own.get(path);
    return edit === undefined || sameNode(edit.to, to) ? [] : [{ path, from, ours: edit.to, theirs: to }];
  });
}

function hashOf(entry: Entry | undefined): string[] {
  return entry?.kind === "file" || entry?.kind === "symlink" ? [entry.hash] : [];
}

function tally(
  { rows }: Replay,
  file: { result: MergedChanges; path: BytePath; committed: Buffer | undefined; read(entry: Entry): Buffer },
): void {
  const { result, path, committed } = file;
  const conflict = result.conflicts.find((each) => each.path === path || each.otherPath === path);
  const merged = result.merged.find((each) => each.path === path);
  const edit = result.edits.find((each) => each.path === path);
  const row =
    conflict !== undefined
      ? rowOf(conflict)
      : merged === undefined
        ? "other: mode, gap, move"
        : `${merged.severity}: taken (${merged.how})`;
  const known = rows.get(row) ?? { files: 0, asCommitted: 0 };
  rows.set(row, known);
  known.files += 1;
  if (conflict?.kind === "delete-modify") known.asCommitted += Number(committed === undefined);
  else if (conflict !== undefined) known.asCommitted += Number(isSame(conflict.proposal, committed));
  else if (edit !== undefined)
    known.asCommitted += Number(isSame(edit.to === undefined ? undefined : file.read(edit.to), committed));
  else known.asCommitted += 1;
}

function isSame(content: Buffer | null | undefined, committed: Buffer | undefined): boolean {
  return content === null
    ? false
    : content === undefined
      ? committed === undefined
      : committed?.equals(content) === true;
}

function rowOf({ severity, kind, facts, proposal }: PathConflict): string {
  if (kind === "delete-modify") return `${severity}: deleted and changed (deletion kept)`;
  const code = severity === "critical" || kind !== "content" ? `${kind}, ${facts[0]!.code}` : kind;
  return `${severity}: ${code}${proposal === null ? "" : " (proposal)"}`;
}

/** A clean merge by lines has to be git's. */
function compareWithGit(
  { git }: Replay,
  folder: string,
  { file, read, result }: { file: BothChanged; read(entry: Entry): Buffer; result: MergedChanges },
): void {
  const { from, ours, theirs, path } = file;
  if (ours?.kind !== "file" || theirs?.kind !== "file" || (from !== undefined && from.kind !== "file"))
    return;
  const contents = {
    base: from === undefined ? Buffer.alloc(0) : read(from),
    ours: read(ours),
    theirs: read(theirs),
  };
  if (Object.values(contents).some((content) => content.includes(0))) return;
  const byGit = mergeByGit(folder, contents);
  const isTaken = result.merged.some((each) => each.path === path && /lines|lock/.test(each.how));
  const edit = result.edits.find((each) => each.path === path);
  const here = !isTaken ? undefined : edit?.to === undefined ? contents.ours : read(edit.to);
  if (here === undefined) git[byGit === undefined ? "bothConflict" : "onlyGit"] += 1;
  else if (byGit === undefined) git.onlyHere += 1;
  else git[byGit.equals(here) ? "same" : "different"] += 1;
}

function print({ rows, times, merges, skipped, files, code, git }: Replay): void {
  console.log(
    `${merges} merges (${skipped} of unrelated histories), ${files} files that both sides changed, ${code} of them code; ` +
      `median ${ms(median(times))} a file`,
  );
  console.log(
    `git merge-file: ${git.same} clean and equal, ${git.bothConflict} in conflict in both, ${git.onlyGit} clean in git only, ` +
      `${git.onlyHere} clean here only, ${git.different} clean and different\n`,
  );
  console.log("| severity: what | files | as committed |\n|---|---|---|");
  for (const [row, { files: count, asCommitted }] of [...rows].sort(([a], [b]) => (a < b ? -1 : 1)))
    console.log(`| ${row} | ${count} | ${((100 * asCommitted) / count).toFixed(1)} % |`);
}
