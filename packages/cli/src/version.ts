/** The version and build of this Belay. A resident process of another build is replaced. */
import { readFileSync, statSync } from "node:fs";

/** The version of the package. */
export function readVersion(): string {
  const text = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}

/** Version and build: two builds of one version are not the same program. */
export function readBuild(): string {
  return `${readVersion()}+${buildTime()}`;
}

/** True for what `readBuild` says in every process of this build. The version is not read: every command asks this. */
export function isThisBuild(build: string): boolean {
  return build.endsWith(`+${buildTime()}`);
}

function buildTime(): number {
  return Math.round(statSync(buildFile()).mtimeMs);
}

/** A file that every build rewrites. */
export function buildFile(): string {
  return import.meta.filename;
}
