/**
 * What the tidy checks look at: the text files of the repository, read once. A check is a function from
 * files to complaints, so that each can be tried on files that exist only in a test.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface RepositoryFile {
  /** Relative to the repository, "/"-separated. */
  readonly path: string;
  readonly text: string;
}

export type Check = (files: readonly RepositoryFile[]) => string[];

const ROOT = join(import.meta.dirname, "..", "..");
const FOLDERS = [".ci", "agents-e2e", "bench", "docs", "packages", "scripts", "test", "torture"];
const NOT_OURS = new Set(["node_modules", "dist", "compiled"]);

/** Every text file that belongs to the repository. */
export function readRepository(): RepositoryFile[] {
  const top = readdirSync(ROOT, { withFileTypes: true });
  const paths = top
    // in a linked worktree `.git` is a file
    .filter((entry) => entry.isFile() && entry.name !== ".git" && !entry.name.endsWith(".log"))
    .map((entry) => entry.name);
  for (const folder of FOLDERS) {
    if (top.some((entry) => entry.name === folder)) collect(folder, paths);
  }
  return paths
    .map((path) => ({ path, bytes: readFileSync(join(ROOT, path)) }))
    .filter(({ bytes }) => !bytes.includes(0))
    .map(({ path, bytes }) => ({ path, text: bytes.toString("utf8") }));
}

function collect(folder: string, paths: string[]): void {
  for (const entry of readdirSync(join(ROOT, folder), { withFileTypes: true })) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory() && !NOT_OURS.has(entry.name)) collect(path, paths);
    if (entry.isFile()) paths.push(path);
  }
}

export function isCode(file: RepositoryFile): boolean {
  return /\.[mc]?[jt]sx?$/.test(file.path);
}

/** Tests, and the contract suites and fixtures that only tests use. */
export function isTest({ path }: RepositoryFile): boolean {
  return /\.test\.tsx?$/.test(path) || /(^|\/)(test|testing)\//.test(path);
}

/** The path inside the engine's sources, for files that are part of the shipped engine. */
export function enginePath(file: RepositoryFile): string | undefined {
  const source = "packages/engine/src/";
  return file.path.startsWith(source) && !isTest(file) ? file.path.slice(source.length) : undefined;
}
