/** Files that look like secrets: by their name, or by what is in them. */
import { redact } from "@belay/protocol/redact";

const NAMES =
  /(^|\/)(\.env(rc)?(\.[\w.-]+)?|id_(rsa|ecdsa|ed25519)|[\w.-]*\.(pem|p12|pfx|key|env)|credentials(\.json)?|\.netrc|\.npmrc|\.pypirc)$/;

/** Whether a file has the name of one that holds secrets. */
export function isNamedSecret(path: string): boolean {
  return NAMES.test(path);
}

/** Whether a text has something in it that would not be shown. */
export function holdsSecret(content: Buffer): boolean {
  if (content.includes(0)) return false;
  const text = content.toString("utf8");
  return redact(text) !== text;
}
