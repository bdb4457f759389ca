/** The server at an address, with the access that the user keeps for it. [T17] It is read from there and kept nowhere else. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type * as Engines from "@belay/remote";
import type { PostgresAccess, RemoteStore, S3Access } from "@belay/remote";
import { ContractError, usageError } from "@belay/protocol/errors";
import { userHome } from "../call/user-home.ts";

/** A store that counts its requests. */
interface CountedStore extends RemoteStore {
  readonly requests: number;
}

/** What connecting needs. */
export interface Connecting {
  readonly engines: typeof Engines;
  readonly environment: NodeJS.ProcessEnv;
  /** Who this user is to a database whose address names none. */
  readonly user: string;
  /** Called with each server that is connected to. */
  readonly opened: (store: CountedStore) => void;
}

/** The address of content on one server and records on another: one address, which a clone can be given. */
export function withRecords(url: string, records: string): string {
  return withOption(url, "records", records);
}

/** The address of a server that locks what lines consist of for some days. */
export function withLock(url: string, days: string): string {
  if (!url.startsWith("s3://"))
    throw usageError(
      "Only what is stored on an S3 server can be locked. Nothing was changed.",
      "An invitation brings the lock that its space has; leave out --lock-days.",
    );
  return withOption(url, "lock-days", days);
}

function withOption(url: string, name: string, value: string): string {
  return `${url}${url.includes("?") ? "&" : "?"}${name}=${encodeURIComponent(value)}`;
}

/** The remote's store at an address. */
export function connectStore(url: string, connecting: Connecting): RemoteStore {
  const { engines } = connecting;
  if (engines.isPostgresAddress(url)) return connectPostgres(url, connecting);
  if (!url.startsWith("s3://"))
    throw usageError(
      "Belay can use S3-compatible servers and PostgreSQL only.",
      "Write s3://<bucket>/<prefix> or postgres://<host>/<database>.",
    );
  const content = connectS3(url, connecting);
  const records = new URLSearchParams(url.split("?")[1] ?? "").get("records");
  if (records === null) return content;
  return new engines.MixedRemoteStore({ content, records: connectPostgres(records, connecting) });
}

/** What kind of engine an address leads to. */
export function engineKind(url: string): "s3" | "postgres" | "mixed" {
  if (/^postgres(ql)?:/.test(url)) return "postgres";
  return /[?&]records=/.test(url) ? "mixed" : "s3";
}

function connectS3(url: string, { engines, environment, opened }: Connecting): RemoteStore {
  const store = new engines.S3RemoteStore(engines.parseS3Address(url), {
    access: accessOf(environment),
    ...certificates(environment["AWS_CA_BUNDLE"]),
  });
  opened(store);
  return store;
}

function connectPostgres(url: string, { engines, environment, user, opened }: Connecting): RemoteStore {
  const address = engines.parsePostgresAddress(url);
  const name = address.user || environment["PGUSER"] || user;
  const access: PostgresAccess = {
    user: name,
    password: environment["PGPASSWORD"] ?? passwordOf(environment, { ...address, user: name }),
    ...certificates(environment["PGSSLROOTCERT"]),
  };
  const store = new engines.PostgresRemoteStore(address, access);
  opened(store);
  return store;
}

function certificates(file: string | undefined): { ca?: string } {
  return file === undefined || file === "" ? {} : { ca: readFileSync(file, "utf8") };
}

/** The password of the first line of `~/.pgpass` that matches: host:port:database:user:password. */
function passwordOf(
  environment: NodeJS.ProcessEnv,
  address: { readonly host: string; readonly port: number; readonly database: string; readonly user: string },
): string | undefined {
  const text = readText(environment["PGPASSFILE"] ?? join(userHome(), ".pgpass"));
  const wanted = [address.host, String(address.port), address.database, address.user];
  for (const line of text?.split("\n") ?? []) {
    const fields = [...line.matchAll(/((?:\\.|[^:\\])*)(?::|$)/g)].map(([, field = ""]) =>
      field.replaceAll(/\\(.)/g, "$1"),
    );
    if (!line.startsWith("#") && wanted.every((one, n) => fields[n] === "*" || fields[n] === one))
      return fields[4];
  }
  return undefined;
}

function accessOf(environment: NodeJS.ProcessEnv): S3Access {
  const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret, AWS_SESSION_TOKEN: token } = environment;
  if (id !== undefined && id !== "" && secret !== undefined && secret !== "")
    return { accessKeyId: id, secretAccessKey: secret, sessionToken: token };
  const profile = environment["AWS_PROFILE"] ?? "default";
  const found = profileOf(
    environment["AWS_SHARED_CREDENTIALS_FILE"] ?? join(userHome(), ".aws", "credentials"),
    profile,
  );
  if (found !== undefined) return found;
  throw new ContractError("REMOTE_DENIED", "There is no access to the server: no access key was found.", {
    hint: "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE for a profile of ~/.aws/credentials.",
  });
}

function profileOf(file: string, profile: string): S3Access | undefined {
  const section =
    readText(file)
      ?.split(/^\s*\[/m)
      .find((part) => part.startsWith(`${profile}]`)) ?? "";
  const value = (name: string) => new RegExp(`^\\s*${name}\\s*=\\s*(\\S+)`, "m").exec(section)?.[1];
  const [id, secret] = [value("aws_access_key_id"), value("aws_secret_access_key")];
  return id === undefined || secret === undefined
    ? undefined
    : { accessKeyId: id, secretAccessKey: secret, sessionToken: value("aws_session_token") };
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
