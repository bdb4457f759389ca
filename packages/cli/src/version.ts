/** The version and build of this Belay. A resident process of another build is replaced. */
import { readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The version of the package. */
export function readVersion(): string {
  const text = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}

/** Version and build: two builds of one version are not the same program. */
export function readBuild(): string {
  return `${readVersion()}+${Math.round(statSync(buildFile()).mtimeMs)}`;
}

/** A file that every build rewrites. */
export function buildFile(): string {
  return fileURLToPath(import.meta.url);
}
