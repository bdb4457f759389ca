/**
 * Reads what another program left behind. Nothing is written there, no symbolic link in it is followed, and what cannot
 * be read is noted with its reason instead of ending the import.
 */
import { createHash } from "node:crypto";
import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Something that could not be taken over. */
export interface Skipped {
  readonly what: string;
  readonly reason: string;
}

/** The most that is read of one file, or made of a compressed one: a file may be there to fill the memory. */
export const LARGEST_BYTES = 256 * 1024 * 1024;

/** The reason for what is larger. */
export const TOO_LARGE = "it is larger than 256 MiB";

/** The directory of another program's data. */
export class OldData {
  readonly directory: string;
  readonly skipped: Skipped[];

  /** `directory`: a real path. */
  constructor(directory: string, skipped: Skipped[]) {
    this.directory = directory;
    this.skipped = skipped;
  }

  skip(what: string, reason: string): undefined {
    this.skipped.push({ what, reason });
    return undefined;
  }

  /** [R840] The data below a directory that `has` finds; anything else is a mistake of the caller. */
  below(path: string): OldData {
    const problem = this.#problem(path);
    if (problem !== undefined) throw new Error(`${path} is not part of the data: ${problem}`);
    return new OldData(join(this.directory, path), this.skipped);
  }

  /** The directories in a directory, sorted by name; links are noted. */
  directories(path = ""): { readonly name: string; readonly data: OldData }[] {
    return this.names(path).flatMap((name) => {
      const inside = join(path, name);
      const stat = lstatSync(join(this.directory, inside), { throwIfNoEntry: false });
      if (stat === undefined) this.skip(inside, ODD_NAME);
      else if (stat.isSymbolicLink()) this.skip(inside, LINK);
      return stat?.isDirectory() === true ? [{ name, data: this.below(inside) }] : [];
    });
  }

  /** True for a file or directory that can be reached without a link. */
  has(path: string): boolean {
    return this.#problem(path) === undefined;
  }

  /** The names in a directory, sorted; none where there is no such directory. */
  names(path = ""): string[] {
    if (!this.has(path)) return [];
    const place = join(this.directory, path).replace(/\/$/, "");
    try {
      return lstatSync(place).isDirectory() ? readdirSync(place).sort() : [];
    } catch (error) {
      this.skip(path, `it cannot be read: ${(error as Error).message}`);
      return [];
    }
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
    try {
      return readRegular(join(this.directory, path));
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

  /** What is in a directory of copies, as paths relative to it. Anything but a regular file is noted, and marked as such. */
  *files(path: string, below = ""): Generator<{ readonly file: string; readonly isRegular: boolean }> {
    for (const name of this.names(join(path, below))) {
      const file = below === "" ? name : `${below}/${name}`;
      const stat = lstatSync(join(this.directory, path, file), { throwIfNoEntry: false });
      if (stat?.isDirectory() === true) {
        yield* this.files(path, file);
        continue;
      }
      const isRegular = stat?.isFile() === true;
      if (!isRegular) {
        const reason = stat === undefined ? ODD_NAME : stat.isSymbolicLink() ? LINK : "it is not a file";
        this.skip(join(path, file), reason);
      }
      yield { file, isRegular };
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
const ODD_NAME = "its name is not UTF-8";

/** A link or a pipe that took the file's place meanwhile is not opened, or opened and not read. */
function readRegular(place: string): Buffer | string {
  const file = openSync(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) return "it is not a file";
    return stat.size > LARGEST_BYTES ? TOO_LARGE : readFileSync(file);
  } finally {
    closeSync(file);
  }
}

/** The SHA-256 of content, in hexadecimal digits. */
export function sha256(content: Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}
