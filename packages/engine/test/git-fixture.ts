/** Real repositories in temporary directories, and the proof that nothing under `.git` was touched. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { absolutePath, type AbsolutePath } from "../src/fs/absolute-path.ts";
import { findRepository, type Repository } from "../src/git/git-repository.ts";

export interface GitFixture {
  readonly path: string;
  readonly root: AbsolutePath;
  readonly git: (...args: string[]) => string;
  /** What git prints, byte for byte. */
  readonly gitBytes: (...args: string[]) => Buffer;
  readonly write: (path: string, content: string) => void;
  readonly remove: () => void;
}

const SETTINGS = [
  "user.name=Test",
  "user.email=test@example.com",
  "init.defaultBranch=main",
  "protocol.file.allow=always",
];

export function createGitFixture(...initArguments: string[]): GitFixture {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "belay-git-")));
  const fixture = fixtureAt(path);
  fixture.git("init", "-q", ...initArguments, ".");
  return fixture;
}

/** The same for a directory that is there already. */
export function fixtureAt(path: string): GitFixture {
  return {
    path,
    root: absolutePath(path),
    git: (...args) => runGit(path, args).toString("utf8").trim(),
    gitBytes: (...args) => runGit(path, args),
    write: (name, content) => {
      const file = join(path, name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, content);
    },
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}

function runGit(cwd: string, args: readonly string[]): Buffer {
  const settings = SETTINGS.flatMap((setting) => ["-c", setting]);
  const env = {
    PATH: process.env["PATH"],
    HOME: "/nonexistent",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_AUTHOR_DATE: "2026-01-01T00:00:00Z",
  };
  return execFileSync("git", [...settings, ...args], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
}

export function repositoryOf(path: string): Repository {
  const repository = findRepository(absolutePath(path));
  if (repository === undefined) throw new Error(`no repository at ${path}`);
  return repository;
}

/** Content, mode and times of everything below a directory. */
export function fingerprint(directory: string, options: { times: boolean } = { times: true }): string {
  const hash = createHash("sha256");
  const visit = (path: string) => {
    const stat = lstatSync(path, { bigint: true });
    hash.update(
      `${path} ${stat.mode} ${stat.size} ${options.times ? `${stat.mtimeNs} ${stat.ctimeNs}` : ""}\n`,
    );
    if (stat.isDirectory()) for (const name of readdirSync(path).sort()) visit(join(path, name));
    else if (stat.isSymbolicLink()) hash.update(readlinkSync(path));
    else hash.update(readFileSync(path));
  };
  visit(directory);
  return hash.digest("hex");
}
