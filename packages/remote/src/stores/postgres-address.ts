/** Where a PostgreSQL remote is: `postgres://[user@]host[:port]/database[/prefix]`. The address never contains a password. */
import { ContractError } from "@belay/protocol/errors";
import { isLoopback } from "./loopback.ts";

/** The parts of a PostgreSQL address. */
export interface PostgresAddress {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  /** Empty where the address names none. */
  readonly user: string;
  /** Keeps spaces of one database apart; may be empty. */
  readonly prefix: string;
  /** False for a server on this machine only. */
  readonly isEncrypted: boolean;
}

const DEFAULT_PORT = 5432;
const FORM = "Write postgres://<user>@<host>:<port>/<database>/<prefix>.";

/** Whether an address is one of PostgreSQL. */
export function isPostgresAddress(text: string): boolean {
  return /^postgres(?:ql)?:\/\//.test(text);
}

/** Reads an address; throws with what is wrong about it. */
export function parsePostgresAddress(text: string): PostgresAddress {
  if (!isPostgresAddress(text) || !URL.canParse(text))
    throw unusable(text, "it is not an address of a PostgreSQL server");
  const { hostname, port, username, password, pathname, search } = new URL(text);
  // [T17]
  if (password !== "")
    throw unusable(
      "postgres://…",
      "a password does not belong into an address, where it would be stored and shown",
    );
  if (search !== "") throw unusable(text, "it has options, which are not known here");
  const [database = "", ...rest] = pathname
    .replaceAll(/^\/+|\/+$/g, "")
    .split("/")
    .map(decodeURIComponent);
  if (hostname === "" || database === "") throw unusable(text, "it needs a host and a database");
  const prefix = rest.join("/");
  if (!/^[a-z0-9/.-]*$/.test(prefix))
    throw unusable(text, "the prefix may have lower-case letters, digits, dots, hyphens and slashes only");
  return {
    host: hostname.replaceAll(/^\[|\]$/g, ""),
    port: port === "" ? DEFAULT_PORT : Number(port),
    database,
    user: decodeURIComponent(username),
    prefix,
    isEncrypted: !isLoopback(hostname),
  };
}

function unusable(address: string, reason: string): ContractError {
  return new ContractError("USAGE", `The address ${address} cannot be used: ${reason}.`, { hint: FORM });
}
