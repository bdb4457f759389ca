/**
 * A real PostgreSQL for tests: a cluster of its own in a temporary directory, on a free loopback port, ready in about a
 * second. The server refuses to run as root, so root gives its rights up for it.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./free-port.ts";

const PROGRAMS = "/usr/lib/postgresql/15/bin";
const STEP_MS = 60_000;
const NOBODY = 65_534;

/** A server that a test started. */
export interface TestDatabase {
  readonly port: number;
  /** Runs statements as the owner of everything. */
  sql(statements: string): string;
  restart(): void;
  stop(): void;
}

/** Why the server cannot be started here; undefined when it can. */
export function missingPostgres(): string | undefined {
  return existsSync(join(PROGRAMS, "initdb"))
    ? undefined
    : `no ${PROGRAMS}/initdb: apt-get install --no-install-recommends postgresql-15`;
}

/** Starts a server with the user `belay`, who owns everything; the caller stops it. */
export async function startPostgres(): Promise<TestDatabase> {
  const directory = mkdtempSync(join(tmpdir(), "belay-postgres-"));
  chmodSync(directory, 0o755);
  if (process.getuid?.() === 0) chownSync(directory, NOBODY, NOBODY);
  const data = join(directory, "data");
  const port = await freePort();
  const control = (...words: string[]) => run(directory, "pg_ctl", "-D", data, "-w", ...words);
  const settings = [
    `-c listen_addresses=127.0.0.1 -c port=${port} -c unix_socket_directories=${directory}`,
    "-c fsync=off -c shared_buffers=16MB -c max_connections=40",
  ].join(" ");
  const start = () => control("-l", join(directory, "log"), "-o", settings, "start");
  run(directory, "initdb", "-D", data, "-A", "trust", "--no-sync", "-U", "belay", "-E", "UTF8", "--locale=C");
  start();
  return {
    port,
    sql: (statements) =>
      run(
        directory,
        "psql",
        "-h",
        "127.0.0.1",
        "-p",
        String(port),
        "-U",
        "belay",
        "-d",
        "postgres",
        "-Atc",
        statements,
      ),
    restart: () => {
      control("-m", "immediate", "stop");
      start();
    },
    stop: () => {
      control("-m", "immediate", "stop");
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function run(directory: string, program: string, ...words: string[]): string {
  const isRoot = process.getuid?.() === 0;
  const as = isRoot ? ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"] : [];
  const [command = "", ...rest] = [...as, join(PROGRAMS, program), ...words];
  // a server that inherited these pipes would keep them open
  const stdio = program === "pg_ctl" ? "ignore" : "pipe";
  const out = execFileSync(command, rest, { cwd: directory, timeout: STEP_MS, stdio, encoding: "utf8" }) as
    | string
    | null;
  return (out ?? "").trim();
}
