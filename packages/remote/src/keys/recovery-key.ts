/**
 * The recovery key: 52 letters on paper that open a space when every machine is lost. 48 letters are 240 random bits,
 * the last four a check, so that a slip of the pen is found before anything is done. Letters that look alike are read
 * as the one that is meant.
 */
import { createHash, hkdfSync } from "node:crypto";
import { memberKeys, type MemberKeys } from "./key-pairs.ts";

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const SEED_BYTES = 30;
const SEED_LETTERS = 48;
const CHECK_LETTERS = 4;
const GROUP = 4;
/** What people write for a letter of the alphabet. */
const ALIKE: Readonly<Record<string, string>> = { o: "0", i: "1", l: "1", u: "v" };

/** How many random bytes a recovery key is made of. */
export const RECOVERY_SEED_BYTES = SEED_BYTES;

/** The recovery key of a seed, in groups of four letters. */
export function formatRecoveryKey(seed: Buffer): string {
  const letters = encode(seed) + checkOf(seed);
  return letters.match(new RegExp(`.{${GROUP}}`, "g"))!.join("-");
}

/** The last group of a recovery key is asked back, to see that it was kept. */
export function lastGroup(key: string): string {
  return key.slice(-GROUP);
}

/** The seed of a recovery key as it was typed; undefined when letters are missing, wrong or swapped. */
export function parseRecoveryKey(text: string): Buffer | undefined {
  const letters = text
    .toLowerCase()
    .replaceAll(/[\s-]/g, "")
    .replaceAll(/[oilu]/g, (letter) => ALIKE[letter]!);
  if (letters.length !== SEED_LETTERS + CHECK_LETTERS) return undefined;
  if (!/^[0-9a-hjkmnp-tv-z]*$/.test(letters)) return undefined;
  const seed = decode(letters.slice(0, SEED_LETTERS));
  return checkOf(seed) === letters.slice(SEED_LETTERS) ? seed : undefined;
}

/** The keys of the member that a recovery key is. */
export function recoveryKeys(seed: Buffer): MemberKeys {
  const derive = (use: string) =>
    Buffer.from(hkdfSync("sha256", seed, Buffer.alloc(0), `belay recovery 1\0${use}`, 32));
  return memberKeys({ sign: derive("sign"), receive: derive("receive") });
}

function checkOf(seed: Buffer): string {
  const digest = createHash("sha256").update("belay recovery check 1\0").update(seed).digest();
  return encode(digest).slice(0, CHECK_LETTERS);
}

function encode(bytes: Buffer): string {
  let [bits, held, text] = [0, 0, ""];
  for (const byte of bytes) {
    held = (held << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) text += ALPHABET[(held >> (bits - 5)) & 31]!;
    held &= (1 << bits) - 1;
  }
  return text;
}

function decode(letters: string): Buffer {
  const bytes: number[] = [];
  let [bits, held] = [0, 0];
  for (const letter of letters) {
    held = (held << 5) | ALPHABET.indexOf(letter);
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((held >> bits) & 255);
    held &= (1 << bits) - 1;
  }
  return Buffer.from(bytes);
}
