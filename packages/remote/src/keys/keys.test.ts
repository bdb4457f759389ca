import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DamageError } from "../parcel/damage.ts";
import { AEAD, hpkeOpen, hpkeSeal } from "./hpke.ts";
import { memberKeys, privateKey, rawPublic } from "./key-pairs.ts";
import {
  formatRecoveryKey,
  lastGroup,
  parseRecoveryKey,
  recoveryKeys,
  RECOVERY_SEED_BYTES,
} from "./recovery-key.ts";

const hex = (text: string) => Buffer.from(text, "hex");

/** RFC 9180, appendix A.1.1: base mode, X25519, HKDF-SHA256, AES-128-GCM; its first message. */
const RFC = {
  info: hex("4f6465206f6e2061204772656369616e2055726e"),
  ephemeral: hex("52c4a758a802cd8b936eceea314432798d5baf2d7e9235dc084ab1b9cfa2f736"),
  recipient: hex("4612c550263fc8ad58375df3f557aac531d26850903e55a9f23f21d8534e8ac8"),
  recipientPublic: hex("3948cfe0ad1ddb695d780e59077195da6c56506b027329794ab02bca80815c4d"),
  enc: hex("37fda3567bdbd628e88668c3c8d7e97d1d1253b6d4ea6d44c150f741f1bf4431"),
  message: hex("4265617574792069732074727574682c20747275746820626561757479"),
  aad: hex("436f756e742d30"),
  sealed: hex("f938558b5d72f1a23810b4be2ab4f84331acc02fc97babc53a52ae8218a355a96d8770ac83d07bea87e13c512a"),
};

describe("sealing a secret to a member", () => {
  test("[T12] does what the vectors of RFC 9180 say", () => {
    const context = { info: RFC.info, aad: RFC.aad, aead: AEAD.aes128 };
    const recipient = privateKey("x25519", RFC.recipient);
    expect(rawPublic(recipient).equals(RFC.recipientPublic)).toBe(true);
    const sealed = hpkeSeal(
      RFC.message,
      { recipient: RFC.recipientPublic, ephemeral: RFC.ephemeral },
      context,
    );
    expect(sealed.toString("hex")).toBe(Buffer.concat([RFC.enc, RFC.sealed]).toString("hex"));
    expect(hpkeOpen(sealed, recipient, context).equals(RFC.message)).toBe(true);
  });

  test("only the member it was sealed to opens it, for what it was sealed for, unaltered", () => {
    const [own, other] = [0, 1].map(() => memberKeys({ sign: randomBytes(32), receive: randomBytes(32) }));
    const context = { info: Buffer.from("space 1") };
    const message = randomBytes(32);
    const to = { recipient: rawPublic(own!.receive), ephemeral: randomBytes(32) };
    const sealed = hpkeSeal(message, to, context);
    expect(hpkeOpen(sealed, own!.receive, context).equals(message)).toBe(true);
    expect(() => hpkeOpen(sealed, other!.receive, context)).toThrow(DamageError);
    expect(() => hpkeOpen(sealed, own!.receive, { info: Buffer.from("space 2") })).toThrow(DamageError);
    for (let at = 0; at < sealed.length; at++) {
      const altered = Buffer.from(sealed);
      altered[at]! ^= 1;
      expect(() => hpkeOpen(altered, own!.receive, context), `byte ${at}`).toThrow(DamageError);
      expect(() => hpkeOpen(sealed.subarray(0, at), own!.receive, context)).toThrow(DamageError);
    }
  });
});

describe("a recovery key", () => {
  const seed = Buffer.alloc(RECOVERY_SEED_BYTES, 0xa5);
  const key = formatRecoveryKey(seed);

  test("is 52 letters in groups of four, and reads back", () => {
    expect(key).toMatch(/^([0-9a-hjkmnp-tv-z]{4}-){12}[0-9a-hjkmnp-tv-z]{4}$/);
    expect(lastGroup(key)).toBe(key.split("-").at(-1));
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: RECOVERY_SEED_BYTES, maxLength: RECOVERY_SEED_BYTES }),
        (bytes) => {
          const text = formatRecoveryKey(Buffer.from(bytes));
          expect(parseRecoveryKey(text)?.equals(Buffer.from(bytes))).toBe(true);
          expect(parseRecoveryKey(` ${text.toUpperCase().replaceAll("-", " ")}\n`)).toEqual(
            Buffer.from(bytes),
          );
        },
      ),
    );
  });

  test("with a wrong, missing or swapped letter is refused", () => {
    const letters = key.replaceAll("-", "");
    let passed = 0;
    for (let at = 0; at < letters.length; at++) {
      const wrong = letters[at] === "7" ? "8" : "7";
      if (parseRecoveryKey(letters.slice(0, at) + wrong + letters.slice(at + 1)) !== undefined) passed++;
      expect(parseRecoveryKey(letters.slice(0, at) + letters.slice(at + 1))).toBeUndefined();
    }
    expect(passed).toBe(0);
    expect(parseRecoveryKey("not a key")).toBeUndefined();
    expect(parseRecoveryKey(`${letters.slice(0, -1)}!`)).toBeUndefined();
  });

  test("letters that look alike are read as the one that is meant", () => {
    const zeros = formatRecoveryKey(Buffer.alloc(RECOVERY_SEED_BYTES));
    expect(parseRecoveryKey(zeros.replaceAll("0", "O"))).toEqual(Buffer.alloc(RECOVERY_SEED_BYTES));
  });

  test("is always the same member", () => {
    expect(recoveryKeys(seed).id).toBe(recoveryKeys(Buffer.from(seed)).id);
    expect(recoveryKeys(seed).id).not.toBe(recoveryKeys(Buffer.alloc(RECOVERY_SEED_BYTES)).id);
  });
});
