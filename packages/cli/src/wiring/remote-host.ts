/** What this machine brings to a remote: its home, its name, and the user's access to the server. */
import { readFileSync } from "node:fs";
import { hostname, userInfo } from "node:os";
import { join } from "node:path";
import type { RemoteHost, RemoteStore, S3Access } from "@belay/remote";
import { ContractError, usageError } from "@belay/protocol/errors";
import type { Call } from "../call/command.ts";
import { userHome } from "../call/user-home.ts";

/** A host for one command, and how many requests it sent. */
export interface CommandHost extends RemoteHost {
  requests(): number;
}

/** How long a command goes on asking, and how fast it may send. */
export interface HostLimits {
  readonly patienceMs?: number;
  readonly bytesPerSecond?: number | undefined;
}

/** Without `--wait` a command gives up after this long. */
const PATIENCE_MS = 30_000;

/** The host of a command. Access comes from the engine's standard variables, or its profile file. */
export async function createRemoteHost(
  call: Pick<Call, "home" | "environment">,
  { patienceMs = PATIENCE_MS, bytesPerSecond }: HostLimits = {},
): Promise<CommandHost> {
  const { parseS3Address, REAL_SURROUNDINGS, RetryingRemoteStore, S3RemoteStore } =
    await import("@belay/remote");
  const { environment } = call;
  const opened: { readonly requests: number }[] = [];
  const connect = (url: string): RemoteStore => {
    if (!url.startsWith("s3://"))
      throw usageError("Only addresses of S3-compatible servers are known.", "Write s3://<bucket>/<prefix>.");
    const ca = environment["AWS_CA_BUNDLE"];
    const store = new S3RemoteStore(parseS3Address(url), {
      access: accessOf(environment),
      ...(ca !== undefined && ca !== "" && { ca: readFileSync(ca, "utf8") }),
    });
    opened.push(store);
    const { now, sleep } = REAL_SURROUNDINGS;
    return new RetryingRemoteStore(store, { now, sleep, random: Math.random, patienceMs, bytesPerSecond });
  };
  return {
    home: call.home,
    device: plain(hostname(), "machine"),
    user: plain(userName(), "user"),
    around: REAL_SURROUNDINGS,
    connect,
    requests: () => opened.reduce((sum, { requests }) => sum + requests, 0),
  };
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return "";
  }
}

function plain(text: string, otherwise: string): string {
  return text.replaceAll(/[^\w.-]/g, "").slice(0, 40) || otherwise;
}

/** [T17] Access keys are read from where the user keeps them, and kept nowhere else. */
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
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
  const section = text.split(/^\s*\[/m).find((part) => part.startsWith(`${profile}]`)) ?? "";
  const value = (name: string) => new RegExp(`^\\s*${name}\\s*=\\s*(\\S+)`, "m").exec(section)?.[1];
  const [id, secret] = [value("aws_access_key_id"), value("aws_secret_access_key")];
  return id === undefined || secret === undefined
    ? undefined
    : { accessKeyId: id, secretAccessKey: secret, sessionToken: value("aws_session_token") };
}
