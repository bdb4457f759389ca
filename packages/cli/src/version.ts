/** Which Belay this is: the resident process of another one is replaced. */
import { readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";

export function readVersion(): string {
  const text = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}

/** Version and build: two builds of one version are not the same program. */
export function readBuild(): string {
  return `${readVersion()}+${Math.round(statSync(buildFile()).mtimeMs)}`;
}

/** A file that every build writes anew. */
export function buildFile(): string {
  return fileURLToPath(import.meta.url);
}
