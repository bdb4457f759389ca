/** Who this machine is: the keys of a member, in one private file of the home. Made when a remote is first added. */
import {
  chmodSync,
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { ContractError } from "@belay/protocol/errors";
import { memberKeys, type MemberKeys } from "../keys/key-pairs.ts";

const FILE = "identity";
const FORMAT = 1;

interface IdentityFile {
  readonly format: number;
  readonly sign: string;
  readonly receive: string;
}

/** The keys of this machine; undefined when it has none yet. */
export function readIdentity(home: string): MemberKeys | undefined {
  const path = join(home, FILE);
  const text = readIfThere(path);
  if (text === undefined) return undefined;
  const raw = parse(text);
  if (raw === undefined)
    throw new ContractError("SPACE_KEY_MISSING", `${path} is damaged. Nothing was changed.`, {
      hint: "Restore it from a copy, or move it away: a new one joins a space with its recovery key.",
      facts: { space: "" },
    });
  return memberKeys(raw);
}

/** The keys of this machine, made if there are none. */
export function ensureIdentity(home: string, random: (bytes: number) => Buffer): MemberKeys {
  const known = readIdentity(home);
  if (known !== undefined) return known;
  const raw = { sign: random(32), receive: random(32) };
  const file = { format: FORMAT, sign: raw.sign.toString("base64"), receive: raw.receive.toString("base64") };
  writePrivately(home, FILE, `${JSON.stringify(file)}\n`);
  return memberKeys(raw);
}

function parse(text: string): { sign: Buffer; receive: Buffer } | undefined {
  try {
    const { format, sign, receive } = JSON.parse(text) as Partial<IdentityFile>;
    const raw = { sign: Buffer.from(sign ?? "", "base64"), receive: Buffer.from(receive ?? "", "base64") };
    return format === FORMAT && raw.sign.length === 32 && raw.receive.length === 32 ? raw : undefined;
  } catch {
    return undefined;
  }
}

/** The text of a file; undefined when there is none. */
export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Writes a file that only its owner can read, durably: the old one stays until the new one is whole. */
export function writePrivately(directory: string, name: string, text: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const [path, draft] = [join(directory, name), join(directory, `${name}.draft`)];
  const file = openSync(draft, "w", 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  chmodSync(draft, 0o600);
  renameSync(draft, path);
  const folder = openSync(directory, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
