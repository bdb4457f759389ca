/** The command with which each package manager writes its lock file again, and nothing else where it can. */

/** The words that are run in the directory of the lock file; undefined for any other file. */
export function lockCommand(path: string, content: string): readonly string[] | undefined {
  const name = path.slice(path.lastIndexOf("/") + 1);
  // only the newer yarn writes the file without installing; the older one installs, into the scratch copy
  if (name === "yarn.lock" && !content.includes("__metadata:")) return YARN_CLASSIC;
  return Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
}

const NPM = ["npm", "install", "--package-lock-only", "--ignore-scripts", "--no-audit", "--no-fund"];
const YARN_CLASSIC = ["yarn", "install", "--ignore-scripts", "--non-interactive"];

const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  "package-lock.json": NPM,
  "npm-shrinkwrap.json": NPM,
  "yarn.lock": ["yarn", "install", "--mode=update-lockfile"],
  "pnpm-lock.yaml": ["pnpm", "install", "--lockfile-only", "--ignore-scripts"],
  "Cargo.lock": ["cargo", "update", "--workspace"],
  "poetry.lock": ["poetry", "lock"],
  "uv.lock": ["uv", "lock"],
  "go.sum": ["go", "mod", "download", "all"],
  "composer.lock": ["composer", "update", "--lock", "--no-install", "--no-scripts", "--no-plugins"],
  "Gemfile.lock": ["bundle", "lock"],
};
