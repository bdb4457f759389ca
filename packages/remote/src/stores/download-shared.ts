/** Fetches what a pre-signed request names. The address is a secret: it is in no message [T17]. */
import { RemoteFailure } from "./remote-store.ts";

const TIMEOUT_MS = 60_000;
const LARGEST = 32 * 1024 * 1024;

/** The bytes behind a pre-signed request. */
export async function downloadShared(url: string): Promise<Buffer> {
  const { protocol, hostname, host } = new URL(url);
  const isHere = /^(localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
  if (protocol !== "https:" && !(protocol === "http:" && isHere))
    throw new RemoteFailure("unsupported", `${host} is not asked over plain http.`);
  const answer = await ask(url, host);
  if (answer.status === 403 || answer.status === 404 || answer.status === 410)
    throw new RemoteFailure(
      "denied",
      `${host} answered ${answer.status}: the share has expired or was revoked.`,
    );
  if (!answer.ok) throw new RemoteFailure("unknown", `${host} answered ${answer.status}.`);
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of answer.body ?? []) {
    length += part.length;
    if (length > LARGEST)
      throw new RemoteFailure("unsupported", `The answer of ${host} is larger than is allowed.`);
    parts.push(part);
  }
  if (length === 0) throw new RemoteFailure("denied", `The share at ${host} was revoked.`);
  return Buffer.concat(parts);
}

async function ask(url: string, host: string): Promise<Response> {
  try {
    return await fetch(url, { redirect: "error", signal: AbortSignal.timeout(TIMEOUT_MS) });
  } catch {
    // the cause would repeat the address
    throw new RemoteFailure("unreachable", `${host} cannot be reached.`);
  }
}
