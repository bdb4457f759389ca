/** What a database says about a request that failed, in the words of every remote. */
import { RemoteFailure, type FailureKind } from "./remote-store.ts";

const NEVER_ARRIVED = new Set(["ECONNREFUSED", "ENOTFOUND", "EHOSTUNREACH", "ENETUNREACH", "EAI_AGAIN"]);

/** By the code, or the class of codes, that PostgreSQL answers. */
const KINDS: Readonly<Record<string, FailureKind>> = {
  "28": "denied",
  "42501": "denied",
  "25006": "denied",
  "3D000": "missing",
  "53100": "full",
  "53": "unknown",
  "57": "unknown",
  "58": "unknown",
  "40": "unknown",
  "55": "unknown",
  "08": "unknown",
};

/** The failure of a request to a database. Its message never contains a password. */
export function postgresFailure(error: unknown, server = "The database"): RemoteFailure {
  if (error instanceof RemoteFailure) return error;
  const { code = "", message } = error as { code?: string; message: string };
  const kind = NEVER_ARRIVED.has(code)
    ? "unreachable"
    : (KINDS[code] ?? KINDS[code.slice(0, 2)] ?? (/^[0-9A-Z]{5}$/.test(code) ? "unsupported" : "unknown"));
  return new RemoteFailure(kind, `${server}: ${message}`, { cause: error });
}
