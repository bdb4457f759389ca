/** Reads and replaces a file that belongs to the user: all of it or nothing, with its mode, through links. */
import { createHash } from "node:crypto";
import {
  closeSync,
  fchmodSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { makePrivateDirectory } from "../state/private-directory.ts";

const LARGEST = 8 << 20;

/** A settings file as it was read. */
export interface SettingsFile {
  readonly text: string;
  readonly mode: number;
}

/** Why a file is not touched; the message says it. */
export class SettingsRefused extends Error {}

/** null when there is no such file. */
export function readSettings(path: string): SettingsFile | null {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return null;
  if (!stat.isFile()) throw new SettingsRefused("it is not a file");
  if (stat.size > LARGEST) throw new SettingsRefused("it is larger than 8 MiB");
  const bytes = readFileSync(path);
  const text = bytes.toString("utf8");
  if (!Buffer.from(text, "utf8").equals(bytes)) throw new SettingsRefused("it is not UTF-8");
  return { text, mode: stat.mode & 0o7777 };
}

/** Replaces what `before` describes; refuses when it has changed, or was made read-only on purpose. */
export function replaceSettings(path: string, before: SettingsFile | null, text: string): void {
  const now = readSettings(path);
  if (now?.text !== before?.text) throw new SettingsRefused("it changed meanwhile; try again");
  if (now !== null && (now.mode & 0o222) === 0) throw new SettingsRefused("it is read-only");
  const target = now === null ? path : realpathSync(path);
  writeAtomically(target, text, now?.mode ?? 0o644);
}

/** A reader sees the old content or the new one, also after a crash. */
function writeAtomically(path: string, content: string | Buffer, mode: number): void {
  mkdirSync(dirname(path), { recursive: true });
  const draft = join(dirname(path), `.${basename(path)}.belay-${process.pid}`);
  const file = openSync(draft, "w", mode);
  try {
    try {
      writeFileSync(file, content);
      fchmodSync(file, mode);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/** The same for a file below `$BELAY_HOME`. */
export function writeOwnFile(path: string, content: string | Buffer, mode: number): void {
  makePrivateDirectory(dirname(path));
  writeAtomically(path, content, mode);
}

/** A text's hash: whether a file is as it was left. */
export function hashText(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
