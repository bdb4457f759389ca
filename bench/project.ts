/** A project made from a seed: source-like text, sizes as in real repositories, directories a few levels deep. */
import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createRandom, type Random } from "./random.ts";

export interface Project {
  readonly root: string;
  readonly files: string[];
  readonly bytes: number;
  readonly random: Random;
}

const KEYWORDS =
  "const let function return if else for while import export from new await async throw type interface class extends".split(
    " ",
  );
const SYLLABLES =
  "ab ac ad al am an ar as at be ca ce co de di do ed el en er es fa fi ge ha he id il in io is it ja ke la le li lo ma me mi mo na ne ni no on or pa pe pi po qu ra re ri ro sa se si so ta te ti to un ur us va ve vi wa we xa ya ze".split(
    " ",
  );

export function createProject(root: string, count: number, seed: number): Project {
  rmSync(root, { recursive: true, force: true });
  const random = createRandom(seed);
  const words = Array.from({ length: 4000 }, () => word(random));
  const files: string[] = [];
  let bytes = 0;
  for (let directory = 0; files.length < count; directory += 1) {
    const path = join(
      root,
      `packages/${words[directory % 40]}-${Math.floor(directory / 40) % 12}/src/${words[directory % 97]}/${words[(directory * 7) % 911]}`,
    );
    mkdirSync(path, { recursive: true });
    const here = Math.min(count - files.length, 5 + random.below(35));
    for (let i = 0; i < here; i += 1) {
      const text = sourceText(random, words, 40 + Math.floor(-Math.log(1 - random.next()) * 105));
      const file = join(path, `${random.pick(words)}-${files.length}.ts`);
      writeFileSync(file, text);
      files.push(file);
      bytes += text.length;
    }
  }
  return { root, files, bytes, random };
}

function word(random: Random): string {
  return Array.from({ length: 2 + random.below(3) }, () => random.pick(SYLLABLES)).join("");
}

/** Words are as unevenly frequent as in real text. */
function sourceText(random: Random, words: readonly string[], lines: number): string {
  const pick = () => words[Math.floor(words.length * random.next() ** 3)]!;
  let text = "";
  for (let line = 0; line < lines; line += 1) {
    const indent = "  ".repeat(random.below(4));
    const rest =
      random.next() < 0.15
        ? `"${pick()} ${pick()} ${random.below(100000)}"`
        : `${pick()}.${pick()}(${pick()}, ${random.below(1000)})`;
    text += `${indent}${random.pick(KEYWORDS)} ${pick()} = ${rest};\n`;
  }
  return text;
}

/**
 * A monorepo: packages of unequal size, nested to various depths with a handful of files in each directory,
 * notebooks, images and a few big binaries among them, and a history of edits.
 */
export function createMonorepo(root: string, count: number, seed: number): Project {
  rmSync(root, { recursive: true, force: true });
  const random = createRandom(seed);
  const words = Array.from({ length: 4000 }, () => word(random));
  const files: string[] = [];
  let bytes = 0;
  const add = (path: string, content: string | Buffer) => {
    writeFileSync(path, content);
    files.push(path);
    bytes += content.length;
  };
  while (files.length < count) {
    const depth = 1 + random.below(6);
    const inside = Array.from({ length: depth }, () => words[Math.floor(60 * random.next() ** 2)]!);
    const directory = join(root, "packages", words[Math.floor(80 * random.next() ** 2)]!, "src", ...inside);
    mkdirSync(directory, { recursive: true });
    const here = Math.min(count - files.length, 1 + Math.floor(-Math.log(1 - random.next()) * 7));
    for (let i = 0; i < here; i += 1) {
      const name = `${random.pick(words)}-${files.length}`;
      const kind = random.next();
      if (kind < 0.0005) add(join(directory, `${name}.bin`), noise(random, 2 ** 20 * (1 + random.below(12))));
      else if (kind < 0.02) add(join(directory, `${name}.png`), noise(random, 2000 + random.below(60_000)));
      else
        add(
          join(directory, `${name}.ts`),
          sourceText(random, words, 5 + Math.floor(-Math.log(1 - random.next()) * 90)),
        );
    }
  }
  return { root, files, bytes, random };
}

function noise(random: Random, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at + 4 <= length; at += 4) bytes.writeUInt32LE(Math.floor(random.next() * 2 ** 32), at);
  return bytes;
}

/** Changes `count` text files a little, as an agent's turn would, and tells which. */
export function changeFiles(project: Project, count: number): string[] {
  const changed = new Set<string>();
  while (changed.size < Math.min(count, project.files.length / 2)) {
    const file = project.random.pick(project.files);
    if (!file.endsWith(".ts") || changed.has(file)) continue;
    changed.add(file);
    if (project.random.next() < 0.5) {
      appendFileSync(
        file,
        `export const changed${project.random.below(1e9)} = ${project.random.below(1e9)};\n`,
      );
      continue;
    }
    const lines = readFileSync(file, "utf8").split("\n");
    lines.splice(
      project.random.below(lines.length),
      1,
      `  let inserted = call${project.random.below(1e6)}();`,
      `  use(inserted, ${project.random.below(1e6)});`,
    );
    writeFileSync(file, lines.join("\n"));
  }
  return [...changed];
}
