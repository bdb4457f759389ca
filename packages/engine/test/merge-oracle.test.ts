/** Whole trees against git's own merge: where both come to a result without asking, it is the same one. */
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { expect, test } from "vitest";
import { MergeLab } from "./support/merge-lab.ts";
import { makeDirectory } from "./support/place.ts";
import { createSeededRandom, type SeededRandom } from "./support/seeded-random.ts";

const SEED = Number(process.env["BELAY_FUZZ_SEED"] ?? 20_261_117);
const CASES = Number(process.env["BELAY_FUZZ_RUNS"] ?? 60);
const PATHS = ["a", "b", "d/a", "d/b", "d/e/a"];
/** Lines as code has them: many of them alike. */
const REPEATED = ["{\n", "}\n", "\n", "  return;\n"];

type Texts = Record<string, string>;

function baseOf(random: SeededRandom): Texts {
  const line = (path: string, at: number) =>
    random.below(4) === 0 ? random.pick(REPEATED) : `${path} ${at}\n`;
  return Object.fromEntries(
    PATHS.map((path) => [path, Array.from({ length: 30 }, (_, at) => line(path, at)).join("")]),
  );
}

/** Regions of some lines are changed, a line is put in twice, a file goes, another comes. */
function changed(base: Texts, random: SeededRandom, name: string): Texts {
  const files = { ...base };
  for (let times = 1 + random.below(4); times > 0; times -= 1) {
    const path = random.pick(PATHS);
    const lines = (files[path] ?? "").split(/(?<=\n)/);
    const at = random.below(lines.length);
    const fresh = Array.from({ length: random.below(5) }, (_, each) => `${name} ${times} ${each}\n`);
    const kind = random.below(10);
    if (kind === 0) delete files[path];
    else if (kind === 1) files[`new/${random.below(3)}`] = `${name}\n`;
    else if (kind === 2) lines.splice(at, 0, "both add this\n");
    else lines.splice(at, random.below(10), ...fresh);
    if (kind > 1 && files[path] !== undefined) files[path] = lines.join("");
  }
  return files;
}

/** The commits of all cases as one stream. */
function streamOf(cases: readonly Record<"base" | "ours" | "theirs", Texts>[]): string {
  const commit = (branch: string, files: Texts, from?: string) =>
    [
      `commit refs/heads/${branch}\ncommitter t <t@t> 0 +0000\ndata 0\n`,
      ...(from === undefined ? [] : [`from refs/heads/${from}\n`]),
      "deleteall\n",
      ...Object.entries(files).map(
        ([path, text]) => `M 100644 inline ${path}\ndata ${Buffer.byteLength(text)}\n${text}\n`,
      ),
      "\n",
    ].join("");
  return cases
    .map(({ base, ours, theirs }, at) =>
      [commit(`b${at}`, base), commit(`o${at}`, ours, `b${at}`), commit(`t${at}`, theirs, `b${at}`)].join(""),
    )
    .join("");
}

function blobName(text: string): string {
  return createHash("sha1")
    .update(`blob ${Buffer.byteLength(text)}\0${text}`)
    .digest("hex");
}

test("[R97] [R96] trees that come together unasked are those of `git merge-tree`", () => {
  const random = createSeededRandom(SEED);
  const cases = Array.from({ length: CASES }, () => {
    const base = baseOf(random);
    return { base, ours: changed(base, random, "ours"), theirs: changed(base, random, "theirs") };
  });
  const place = makeDirectory("belay-merge-tree-");
  const git = (words: readonly string[], input?: string) =>
    spawnSync("git", words, { cwd: place, encoding: "utf8", ...(input !== undefined && { input }) });
  try {
    execFileSync("git", ["init", "-q", "--bare"], { cwd: place });
    expect(git(["fast-import", "--quiet"], streamOf(cases)).status).toBe(0);
    const seen = { both: 0, neither: 0 };
    for (const [at, versions] of cases.entries()) {
      const { files, conflicts } = new MergeLab().merge(versions);
      const theirs = git(["merge-tree", "--write-tree", `o${at}`, `t${at}`]);
      const about = `seed ${SEED}, case ${at}`;
      if (conflicts.length > 0) {
        if (theirs.status === 1) seen.neither += 1;
        continue;
      }
      // what is certain for Belay is at least clean for git
      expect(theirs.status, about).toBe(0);
      const listed = git(["ls-tree", "-r", theirs.stdout.trim()]).stdout.trim().split("\n");
      const own = Object.entries(files).map(
        ([path, text]) => `100644 blob ${blobName(text as string)}\t${path}`,
      );
      expect(own.toSorted(), about).toEqual(listed.filter((row) => row !== "").toSorted());
      seen.both += 1;
    }
    // neither side of the comparison is empty
    expect(seen.both, `seed ${SEED}`).toBeGreaterThan(CASES / 6);
    expect(seen.neither, `seed ${SEED}`).toBeGreaterThan(CASES / 6);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
});
