/** Belay's slash commands inside an agent: the same commands, run for the user, who sees their output. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** The command line of each slash command. One that changes files does not ask, because the user typed it. */
const LINES: Readonly<Record<string, (args: readonly string[]) => readonly string[]>> = {
  checkpoint: (args) => ["checkpoint", ...(args.length > 0 ? ["-m", args.join(" ")] : [])],
  checkpoints: (args) => ["list", "--limit", "20", ...(args.length > 0 ? ["--search", args.join(" ")] : [])],
  timeline: () => ["list", "--limit", "50"],
  show: (args) => ["show", ...args],
  diff: (args) => ["diff", ...args],
  status: () => ["status"],
  undo: (args) => ["undo", ...args, "--yes"],
  redo: (args) => ["redo", ...args, "--yes"],
  // a restore to any point starts with a preview
  restore: (args) => ["restore", ...args, ...(args.includes("--yes") ? [] : ["--dry-run"])],
};

/** Runs a slash command that an agent's hook was given, as a `belay` command, and returns what it printed. */
export async function runSlashCommand(
  home: string,
  { name, args, cwd }: { name: string; args: string; cwd: string },
): Promise<string> {
  const line = Object.hasOwn(LINES, name) ? LINES[name] : undefined;
  if (line === undefined) return `Belay has no command ${name}.`;
  const words = line(args.split(/\s+/).filter((word) => word !== ""));
  const argv = [process.argv[1]!, "--home", home, "-C", cwd, ...words];
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, argv, { env: ENVIRONMENT() });
    return `${stdout}${stderr}`.trim();
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    return `${stdout}${stderr}`.trim() || String(error);
  }
}

/** A command of the resident process must not wait for the resident process. */
const ENVIRONMENT = (): NodeJS.ProcessEnv => ({ ...process.env, NO_COLOR: "1", BELAY_RESIDENT: "off" });
