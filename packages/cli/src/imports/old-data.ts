/**
 * Reads what another program left behind. Nothing is written there, no symbolic link in it is followed, and what cannot
 * be read is noted with its reason instead of ending the import.
 */
import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";

/** Something that could not be taken over. */
export interface Skipped {
  readonly what: string;
  readonly reason: string;
}

/** The directory of another program's data. */
export class OldData {
  readonly directory: string;
  readonly skipped: Skipped[];

  constructor(directory: string, skipped: Skipped[]) {
    this.directory = realpathSync(directory);
    this.skipped = skipped;
  }

  skip(what: string, reason: string): undefined {
    this.skipped.push({ what, reason });
    return undefined;
  }

  /** The data below a directory of this one. */
  below(path: string): OldData {
    return new OldData(join(this.directory, path), this.skipped);
  }

  /** True for a file or directory that can be reached without a link. */
  has(path: string): boolean {
    return this.#problem(path) === undefined;
  }

  /** The names in a directory, sorted; none where there is no such directory. */
  names(path = ""): string[] {
    if (!this.has(path)) return [];
    const place = join(this.directory, path).replace(/\/$/, "");
    return lstatSync(place).isDirectory() ? readdirSync(place).sort() : [];
  }

  /** The bytes of a file; what cannot be read is noted. */
  bytes(path: string): Buffer | undefined {
    const content = this.tryBytes(path);
    return typeof content === "string" ? this.skip(path, content) : content;
  }

  /** The bytes of a file, or why they cannot be had. */
  tryBytes(path: string): Buffer | string {
    const problem = this.#problem(path);
    if (problem !== undefined) return problem;
    const place = join(this.directory, path);
    if (!lstatSync(place).isFile()) return "it is no file";
    try {
      return readFileSync(place);
    } catch (error) {
      return `it cannot be read: ${(error as Error).message}`;
    }
  }

  /** A JSON file; what is not one is noted. */
  json(path: string): unknown {
    const bytes = this.bytes(path);
    if (bytes === undefined) return undefined;
    try {
      return JSON.parse(bytes.toString("utf8")) as unknown;
    } catch {
      return this.skip(path, "it is not valid JSON");
    }
  }

  /** The objects of a file with one JSON text a line; lines that are none are noted. */
  lines(path: string): unknown[] {
    const bytes = this.has(path) ? this.bytes(path) : undefined;
    const lines = (bytes?.toString("utf8") ?? "").split("\n");
    return lines.flatMap((line, at) => {
      if (line.trim() === "") return [];
      try {
        return [JSON.parse(line) as unknown];
      } catch {
        this.skip(`${path}:${at + 1}`, "it is not valid JSON");
        return [];
      }
    });
  }

  /** The regular files below a directory, as paths relative to it; links are noted. */
  *files(path: string, below = ""): Generator<string> {
    for (const name of this.names(join(path, below))) {
      const inside = below === "" ? name : `${below}/${name}`;
      const stat = lstatSync(join(this.directory, path, inside));
      if (stat.isDirectory()) yield* this.files(path, inside);
      else if (stat.isFile()) yield inside;
      else this.skip(join(path, inside), stat.isSymbolicLink() ? LINK : "it is no file");
    }
  }

  /** Why a path cannot be reached. */
  #problem(path: string): string | undefined {
    const names = path.split("/").filter((name) => name !== "");
    if (path.startsWith("/") || names.includes("..")) return "it leads out of the data";
    let place = this.directory;
    for (const [at, name] of names.entries()) {
      place = join(place, name);
      const stat = lstatSync(place, { throwIfNoEntry: false });
      if (stat === undefined) return "it is missing";
      if (stat.isSymbolicLink()) return LINK;
      if (!stat.isDirectory() && at < names.length - 1) return "it is missing";
    }
    return undefined;
  }
}

const LINK = "it is a symbolic link";

/** The SHA-256 of content, in hexadecimal digits. */
export function sha256(content: Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}
