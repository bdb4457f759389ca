/** Random files like code and what two sides made of them, and git's own merge to compare with. */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SeededRandom } from "./seeded-random.ts";

export interface MergeCase {
  readonly base: Buffer;
  /** The base with those changes that both sides have. */
  readonly shared: Buffer;
  readonly ours: Buffer;
  readonly theirs: Buffer;
}

const GIT_LIMIT_MS = 60_000;

/** Git's result, or `undefined` for a conflict. `folder` holds the files that git reads. */
export function mergeByGit(
  folder: string,
  { base, ours, theirs }: Omit<MergeCase, "shared">,
): Buffer | undefined {
  writeFileSync(join(folder, "base"), base);
  writeFileSync(join(folder, "ours"), ours);
  writeFileSync(join(folder, "theirs"), theirs);
  const result = spawnSync("git", ["merge-file", "-p", "ours", "base", "theirs"], {
    cwd: folder,
    timeout: GIT_LIMIT_MS,
    maxBuffer: 1024 * 1024 * 1024,
  });
  if (result.status === null || result.status > 127)
    throw new Error(`git merge-file failed: ${result.stderr.toString()}`);
  return result.status === 0 ? result.stdout : undefined;
}

/** A file of functions, and two versions of it that may share some of their edits. */
export function createMergeCase(random: SeededRandom): MergeCase {
  const base = createFile(random);
  const shared = random.below(3) === 0 ? editFile(random, base) : base;
  return {
    base: toContent(base),
    shared: toContent(shared),
    ours: toContent(editFile(random, shared)),
    theirs: toContent(editFile(random, shared)),
  };
}

type Block = readonly string[];

/** One in ten has more than ninety lines, as in real merges. */
function createFile(random: SeededRandom): Block[] {
  const blocks = random.below(10) === 0 ? 10 + random.below(30) : 1 + random.below(9);
  return [importLines(random), ...Array.from({ length: blocks }, () => createFunction(random))];
}

function importLines(random: SeededRandom): Block {
  return Array.from({ length: random.below(5) }, () => `import { name${random.below(40)} } from "./file";`);
}

/** Many lines of code repeat: braces, blank lines, returns. */
function createFunction(random: SeededRandom): Block {
  const body = Array.from({ length: 2 + random.below(10) }, () => createLine(random));
  return [
    "",
    `function work${random.below(10_000)}(a, b) {`,
    ...body,
    random.pick(["  return a;", "  return;"]),
    "}",
  ];
}

function createLine(random: SeededRandom): string {
  const repeated = ["", "  }", "  if (a) {", "    continue;", "  const list = [];", "    }"];
  return random.below(3) === 0 ? random.pick(repeated) : `  call(${random.below(2000)});`;
}

function editFile(random: SeededRandom, file: readonly Block[]): Block[] {
  let now = [...file];
  for (let edits = 1 + random.below(4); edits > 0; edits -= 1) now = editOnce(random, now);
  return now;
}

function editOnce(random: SeededRandom, file: readonly Block[]): Block[] {
  const at = random.below(file.length);
  const block = file[at]!;
  const kind = random.below(12);
  if (kind === 0) return file.toSpliced(at, 0, createFunction(random));
  if (kind === 1 && file.length > 1) return file.toSpliced(at, 1);
  if (kind === 2) return file.toSpliced(at, 1).toSpliced(random.below(file.length), 0, block);
  // the same function once more, as people copy code
  if (kind === 3) return file.toSpliced(at, 0, block);
  if (kind === 4)
    return file.with(
      at,
      block.map((line) => (line === "" ? line : `  ${line}`)),
    );
  // both sides add such a line now and then
  if (kind === 5) return file.with(0, [...file[0]!, 'import { common } from "./common";']);
  const line = random.below(block.length + 1);
  const added = Array.from({ length: random.below(4) }, () => createLine(random));
  return file.with(at, block.toSpliced(line, random.below(4), ...added));
}

function toContent(blocks: readonly Block[]): Buffer {
  return Buffer.from(
    blocks
      .flat()
      .map((line) => `${line}\n`)
      .join(""),
  );
}
