/** What this machine brings to a remote: its home, its name, and the user's access to the server. */
import { hostname, userInfo } from "node:os";
import type { RemoteHost, RemoteStore } from "@belay/remote";
import type { Call } from "../call/command.ts";
import { boundMemory } from "./bounded-memory.ts";
import { connectStore } from "./connect-remote.ts";

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
  const { readSettings } = await import("@belay/engine");
  const settings = readSettings(call.home);
  const limits = {
    uploadBytesPerSecond: bytesPerSecond ?? settings["sync.uploadBytesPerSecond"],
    downloadBytesPerSecond: bytesPerSecond ?? settings["sync.downloadBytesPerSecond"],
  };
  const engines = await import("@belay/remote");
  const { REAL_SURROUNDINGS, RetryingRemoteStore } = engines;
  const { environment } = call;
  const counted: { readonly requests: number }[] = [];
  const user = plain(userName(), "user");
  const connect = (url: string): RemoteStore => {
    const opened = (one: { readonly requests: number }) => void counted.push(one);
    const store = connectStore(url, { engines, environment, user, opened });
    const { now, sleep } = REAL_SURROUNDINGS;
    return new RetryingRemoteStore(store, { now, sleep, random: Math.random, patienceMs, ...limits });
  };
  return {
    home: call.home,
    device: plain(hostname(), "machine"),
    user,
    around: { ...REAL_SURROUNDINGS, collectGarbage: boundMemory() },
    retryMs: retryOf(environment),
    // [T17] read where the job put it, and kept nowhere
    token: environment["BELAY_TOKEN"] || undefined,
    connect,
    requests: () => counted.reduce((sum, { requests }) => sum + requests, 0),
  };
}

/** The resident process tells what it starts when it would try again. */
function retryOf({ BELAY_SYNC_RETRY_MS: text }: NodeJS.ProcessEnv): number | undefined {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
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
