/**
 * A real S3 server for tests: Ceph's monitor, one OSD in memory and the RADOS gateway, on free loopback ports and in a
 * temporary directory, ready in a few seconds. The programs detach and leave pid files; they are ended by those.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "./free-port.ts";

const PROGRAMS = ["ceph-mon", "ceph-osd", "radosgw", "radosgw-admin", "monmaptool", "ceph"];
const READY_MS = 60_000;
const STEP_MS = 60_000;

/** Access to a server that a test started. */
export interface TestServer {
  readonly endpoint: string;
  readonly access: { readonly accessKeyId: string; readonly secretAccessKey: string };
  /** Another account, which owns nothing. */
  readonly stranger: { readonly accessKeyId: string; readonly secretAccessKey: string };
  stop(): Promise<void>;
}

/** Why the server cannot be started here; undefined when it can. */
export function missingCeph(): string | undefined {
  const missing = PROGRAMS.filter((name) => spawnSync("which", [name], { timeout: 10_000 }).status !== 0);
  return missing.length === 0
    ? undefined
    : `no ${missing.join(", ")}: apt-get install --no-install-recommends ceph-mon ceph-osd radosgw`;
}

/** Starts a server; the caller stops it. */
export async function startCeph(): Promise<TestServer> {
  const directory = mkdtempSync(join(tmpdir(), "belay-ceph-"));
  const stop = () => stopAll(directory);
  try {
    return { ...(await start(directory)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function start(directory: string): Promise<Omit<TestServer, "stop">> {
  const [monitor, gateway] = [await freePort(), await freePort()];
  const [cluster, osd] = [randomUUID(), randomUUID()];
  const config = join(directory, "ceph.conf");
  for (const name of ["mon", "osd", "rgw"]) mkdirSync(join(directory, name));
  writeFileSync(config, configuration({ directory, cluster, monitor, gateway }));
  const run = (program: string, ...words: string[]) =>
    execFileSync(program, words, { timeout: STEP_MS, stdio: ["ignore", "pipe", "pipe"], cwd: directory });
  const map = join(directory, "monmap");
  run("monmaptool", "--create", "--fsid", cluster, "--addv", "a", `[v1:127.0.0.1:${monitor}]`, map);
  run("ceph-mon", "-c", config, "--mkfs", "-i", "a", "--monmap", map);
  run("ceph-mon", "-c", config, "-i", "a");
  run("ceph-osd", "-c", config, "--mkfs", "-i", "0", "--osd-uuid", osd);
  // what is quicker than the monitor's map ends with "wrong fsid", or with EPERM
  await severalTimes(() => run("ceph", "-c", config, "--connect-timeout", "20", "osd", "new", osd, "0"));
  await severalTimes(() => run("ceph-osd", "-c", config, "-i", "0"));
  const accounts = ["owner", "stranger"].map((name) => ({
    name,
    accessKeyId: `${name}key`,
    secretAccessKey: `${name}-secret-value`,
  }));
  for (const { name, accessKeyId, secretAccessKey } of accounts)
    await severalTimes(() =>
      run(
        "radosgw-admin",
        "-c",
        config,
        "user",
        "create",
        "--uid",
        name,
        "--display-name",
        name,
        "--access-key",
        accessKeyId,
        "--secret-key",
        secretAccessKey,
      ),
    );
  run("radosgw", "-c", config, "-n", "client.rgw");
  const endpoint = `http://127.0.0.1:${gateway}`;
  await answers(endpoint);
  const [access, stranger] = accounts;
  return { endpoint, access: access!, stranger: stranger! };
}

function configuration(at: {
  readonly directory: string;
  readonly cluster: string;
  readonly monitor: number;
  readonly gateway: number;
}): string {
  const { directory } = at;
  return `[global]
fsid = ${at.cluster}
mon host = [v1:127.0.0.1:${at.monitor}]
auth cluster required = none
auth service required = none
auth client required = none
ms bind msgr2 = false
osd objectstore = memstore
memstore device bytes = 1073741824
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
osd pool default pgp num = 1
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
mon allow pool size one = true
mon data avail warn = 1
mon data avail crit = 0
osd class load list = *
osd class default list = *
admin socket =
run dir = ${directory}
pid file = ${directory}/$type.$id.pid
log file = ${directory}/$type.$id.log
mon cluster log file = ${directory}/cluster.log
mon data = ${directory}/mon
osd data = ${directory}/osd
osd journal = ${directory}/osd/journal
keyring = ${directory}/keyring
paxos propose interval = 0.02
paxos min wait = 0.01
rgw data = ${directory}/rgw
rgw frontends = beast endpoint=127.0.0.1:${at.gateway}
rgw enable gc threads = false
rgw enable lc threads = false
rgw enable quota threads = false
rgw run sync thread = false
rgw override bucket index max shards = 1
`;
}

async function severalTimes(work: () => unknown): Promise<void> {
  for (let left = 10; ; left--) {
    try {
      return void work();
    } catch (error) {
      if (left === 0) throw error;
      await sleep(300);
    }
  }
}

async function answers(endpoint: string): Promise<void> {
  const deadline = Date.now() + READY_MS;
  for (;;) {
    try {
      await fetch(endpoint, { signal: AbortSignal.timeout(5_000) });
      return;
    } catch (cause) {
      if (Date.now() > deadline)
        throw new Error(`${endpoint} did not answer in ${READY_MS / 1000} s`, { cause });
      await sleep(50);
    }
  }
}

async function stopAll(directory: string): Promise<void> {
  const pids = existsSync(directory)
    ? readdirSync(directory)
        .filter((name) => name.endsWith(".pid"))
        .map((name) => Number(readFileSync(join(directory, name), "utf8")))
        .filter((pid) => pid > 0)
    : [];
  for (const pid of pids) signal(pid, "SIGKILL");
  for (let waited = 0; pids.some((pid) => signal(pid, 0)) && waited < 5_000; waited += 50) await sleep(50);
  rmSync(directory, { recursive: true, force: true });
}

function signal(pid: number, name: "SIGKILL" | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}
