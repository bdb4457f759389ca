/** Where an S3 remote is: `s3://bucket/prefix?endpoint=…&region=…&lock-days=…`. The address never contains access keys. */
import { ContractError } from "@belay/protocol/errors";
import { isLoopback } from "./loopback.ts";

/** The parts of an S3 address. */
export interface S3Address {
  readonly bucket: string;
  /** Without a slash at its ends; may be empty. */
  readonly prefix: string;
  /** The server: scheme, host and port. */
  readonly endpoint: string;
  readonly region: string;
  /** What is stored of lines cannot be overwritten or deleted for so many days. */
  readonly lockDays?: number | undefined;
}

const DEFAULT_REGION = "us-east-1";
/** Ten years: what is locked by mistake cannot be taken back. */
const MOST_LOCK_DAYS = 3650;

/** Reads an address; throws with what is wrong about it. */
export function parseS3Address(text: string): S3Address {
  const [, bucket = "", path = "", query = ""] =
    /^s3:\/\/([^/?#@]+)(?:\/([^?#]*))?(?:\?([^#]*))?$/.exec(text) ?? [];
  if (bucket === "") throw unusable(text, "it has no bucket");
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket))
    throw unusable(text, "that is not a name of a bucket");
  const prefix = path.replaceAll(/^\/+|\/+$/g, "");
  if (!/^[a-z0-9/.-]*$/.test(prefix) || prefix.split("/").some((part) => part === ".." || part === "."))
    throw unusable(text, "the prefix may have lower-case letters, digits, dots, hyphens and slashes only");
  const options = new URLSearchParams(query);
  const region = options.get("region") ?? DEFAULT_REGION;
  const endpoint = endpointOf(text, options.get("endpoint") ?? `https://s3.${region}.amazonaws.com`);
  return { bucket, prefix, endpoint, region, lockDays: lockDaysOf(text, options.get("lock-days")) };
}

function lockDaysOf(address: string, text: string | null): number | undefined {
  if (text === null) return undefined;
  const days = /^[1-9]\d{0,3}$/.test(text) ? Number(text) : Infinity;
  if (days > MOST_LOCK_DAYS)
    throw unusable(address, `what is stored can be locked for 1 to ${MOST_LOCK_DAYS} days`);
  return days;
}

function endpointOf(address: string, text: string): string {
  if (!URL.canParse(text)) throw unusable(address, "the endpoint is no URL");
  const { protocol, hostname, host, username, password } = new URL(text);
  if (username !== "" || password !== "")
    throw unusable(
      "s3://…",
      "access keys do not belong into an address, where they would be stored and shown",
    );
  if (protocol === "https:" || (protocol === "http:" && isLoopback(hostname))) return `${protocol}//${host}`;
  throw unusable(address, "the endpoint must be https: only a server on this machine may be http");
}

function unusable(address: string, reason: string): ContractError {
  return new ContractError("USAGE", `The address ${address} cannot be used: ${reason}.`, {
    hint: "Write s3://<bucket>/<prefix>?endpoint=https://<server>&region=<region>.",
  });
}
