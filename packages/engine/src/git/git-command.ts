/**
 * Runs git to answer a question. Git is told to take no locks, start no helper, fetch nothing and ignore
 * environment variables that point it at another repository. It is searched for only in absolute directories
 * outside the repository, so that no program of the project is mistaken for git.
 */
import { accessSync, constants } from "node:fs";
import { delimiter, isAbsolute, join, sep } from "node:path";
import { isUtf8Path, type BytePath } from "../model/byte-path.ts";
import { displayAbsolute } from "../fs/absolute-path.ts";
import type { Repository } from "./git-repository.ts";
import { childProcesses } from "../fs/on-demand.ts";

/** How to find and run git. */
export interface GitCommandOptions {
  /** The search path for programs, as in PATH. */
  readonly commandPath?: string;
  /** The home directory, for the user's `safe.directory`. Without it only the system's settings count. */
  readonly home?: string;
  readonly timeoutMs?: number;
}

const DEFAULT_COMMAND_PATH = ["/usr/local/bin", "/usr/bin", "/bin", "/opt/homebrew/bin"].join(delimiter);
const DEFAULT_TIMEOUT_MS = 10_000;
const OUTPUT_LIMIT = 512 * 1024 * 1024;
const SETTINGS = ["-c", "core.fsmonitor=false", "--no-pager"];

/** Git's output; undefined when git is missing, fails or takes too long. */
export function askGit(
  repository: Repository,
  args: readonly string[],
  options: GitCommandOptions,
): Buffer | undefined {
  const answer = runGit(repository, args, options);
  return "failed" in answer ? undefined : answer.output;
}

/** What one run of git takes besides its arguments. */
export interface GitRun extends GitCommandOptions {
  /** An open file, or bytes, that git reads as its input. */
  readonly input?: number | Buffer;
  /** Variables that name another git directory or object directory. */
  readonly variables?: Readonly<Record<string, string>>;
}

/** Git's output, or why there is none. */
export type GitAnswer = { readonly output: Buffer } | { readonly failed: string };

/** How git is started in a repository, or why it cannot be. */
export function howToRunGit(
  { topLevel }: Repository,
  run: GitCommandOptions,
): { git: string; cwd: string; commandPath: string } | { failed: string } {
  // a child process takes its working directory as text only
  if (!isUtf8Path(topLevel as string as BytePath))
    return { failed: "the path of the repository is not UTF-8" };
  const cwd = displayAbsolute(topLevel);
  const commandPath = run.commandPath ?? DEFAULT_COMMAND_PATH;
  const git = findGit(commandPath, cwd);
  return git === undefined ? { failed: "git is not installed" } : { git, cwd, commandPath };
}

/** Runs git in a repository. */
export function runGit(repository: Repository, args: readonly string[], run: GitRun): GitAnswer {
  const how = howToRunGit(repository, run);
  if ("failed" in how) return how;
  const { git, cwd, commandPath } = how;
  const { input } = run;
  const ended = childProcesses().spawnSync(git, [...SETTINGS, ...args], {
    cwd,
    env: { ...environment(commandPath, run.home), ...run.variables },
    stdio: [typeof input === "number" ? input : input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    ...(typeof input === "object" ? { input } : {}),
    timeout: run.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    killSignal: "SIGKILL",
    maxBuffer: OUTPUT_LIMIT,
    windowsHide: true,
  });
  if (ended.status === 0) return { output: ended.stdout };
  return {
    failed: ended.stderr?.toString("utf8").trim().split("\n")[0] || "git was ended before it was done",
  };
}

function environment(commandPath: string, home: string | undefined): Record<string, string> {
  return {
    PATH: commandPath,
    ...(home === undefined ? {} : { HOME: home }),
    LC_ALL: "C",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_TERMINAL_PROMPT: "0",
    // a partial clone must not fetch missing objects; git before 2.45 knows only the second variable
    GIT_NO_LAZY_FETCH: "1",
    GIT_ALLOW_PROTOCOL: "none",
  };
}

function findGit(commandPath: string, topLevel: string): string | undefined {
  const name = sep === "\\" ? "git.exe" : "git";
  for (const directory of commandPath.split(delimiter)) {
    if (!isAbsolute(directory) || `${directory}${sep}`.startsWith(`${topLevel}${sep}`)) continue;
    const path = join(directory, name);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // not in this directory
    }
  }
  return undefined;
}
