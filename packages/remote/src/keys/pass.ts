/**
 * What is handed to another machine as one piece of text: an invitation, or a token. It holds a certificate, the seed of
 * the key that was certified, the secrets of the space sealed to that key, and where the space is. It is made without
 * asking the server. Who has it has what it gives: it belongs into no list, log or error [T17].
 */
import { hkdfSync } from "node:crypto";
import { hpkeOpen, hpkeSeal } from "./hpke.ts";
import { certify, type CertificateFacts } from "./certificate.ts";
import { memberKeys, rawPublic, type Certificate, type MemberKeys } from "./key-pairs.ts";

/** A pass that was read: the keys it is for, with what they open. */
export interface OpenPass {
  readonly keys: MemberKeys & { readonly certificate: Certificate };
  readonly certificate: Certificate;
  readonly url: string;
  /** What the remote is called where the pass was made. */
  readonly remote: string;
}

const PREFIX = { token: "belay-token-1.", invitation: "belay-invitation-1." } as const;
const SEED_BYTES = 32;

interface PassText {
  readonly certificate: Certificate;
  readonly seed: string;
  readonly secrets: Readonly<Record<string, string>>;
  readonly url: string;
  readonly remote: string;
}

/** Makes a pass: the text of an invitation or a token. */
export function makePass(
  facts: CertificateFacts,
  issuer: MemberKeys,
  giving: {
    readonly secrets: ReadonlyMap<number, { readonly secret: Buffer }>;
    readonly url: string;
    readonly remote: string;
    readonly random: (bytes: number) => Buffer;
  },
): { readonly text: string; readonly certificate: Certificate } {
  const { secrets, url, remote, random } = giving;
  const seed = random(SEED_BYTES);
  const subject = seedKeys(seed);
  const certificate = certify(facts, subject, issuer);
  const sealed = [...secrets].map(([generation, { secret }]) => {
    const to = { recipient: rawPublic(subject.receive), ephemeral: random(32) };
    return [generation, hpkeSeal(secret, to, { info: infoOf(certificate, generation) }).toString("base64")];
  });
  const pass: PassText = {
    certificate,
    seed: seed.toString("base64"),
    secrets: Object.fromEntries(sealed) as Record<string, string>,
    url,
    remote,
  };
  const text = `${PREFIX[facts.purpose]}${Buffer.from(JSON.stringify(pass)).toString("base64url")}`;
  return { text, certificate };
}

/** Whether a text claims to be a pass of this purpose. */
export function looksLikePass(text: string, purpose: Certificate["purpose"]): boolean {
  return text.trim().startsWith(PREFIX[purpose]);
}

/** Reads a pass; undefined when letters of it are missing or wrong. */
export function openPass(text: string, purpose: Certificate["purpose"]): OpenPass | undefined {
  if (!looksLikePass(text, purpose)) return undefined;
  try {
    const encoded = text.trim().slice(PREFIX[purpose].length);
    const pass = JSON.parse(Buffer.from(encoded, "base64url").toString("utf8")) as PassText;
    const { certificate, url, remote } = pass;
    const keys = seedKeys(Buffer.from(pass.seed, "base64"));
    const isWhole = typeof url === "string" && typeof remote === "string";
    if (!isWhole || keys.id !== certificate.id || certificate.purpose !== purpose) return undefined;
    const secrets = new Map(
      Object.entries(pass.secrets).map(([generation, sealed]) => [
        Number(generation),
        hpkeOpen(Buffer.from(sealed, "base64"), keys.receive, {
          info: infoOf(certificate, Number(generation)),
        }),
      ]),
    );
    return { keys: { ...keys, certificate, secrets }, certificate, url, remote };
  } catch {
    return undefined;
  }
}

function seedKeys(seed: Buffer): MemberKeys {
  const derive = (use: string) =>
    Buffer.from(hkdfSync("sha256", seed, Buffer.alloc(0), `belay pass 1\0${use}`, 32));
  return memberKeys({ sign: derive("sign"), receive: derive("receive") });
}

function infoOf({ space, id }: Certificate, generation: number): Buffer {
  return Buffer.from(`belay pass 1\0${space}\0${id}\0${generation}`);
}
