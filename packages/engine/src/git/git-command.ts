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
  const { topLevel } = repository;
  // a child process takes its working directory as text only
  if (!isUtf8Path(topLevel as string as BytePath)) return undefined;
  const cwd = displayAbsolute(topLevel);
  const commandPath = options.commandPath ?? DEFAULT_COMMAND_PATH;
  const git = findGit(commandPath, cwd);
  if (git === undefined) return undefined;
  const asked = childProcesses().spawnSync(git, [...SETTINGS, ...args], {
    cwd,
    env: environment(commandPath, options.home),
    stdio: ["ignore", "pipe", "ignore"],
    timeout: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    killSignal: "SIGKILL",
    maxBuffer: OUTPUT_LIMIT,
    windowsHide: true,
  });
  return asked.status === 0 ? asked.stdout : undefined;
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
