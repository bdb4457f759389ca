/** The page from another machine: a real ssh server and a real tunnel, both on this machine's loopback. */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { connect, createServer, type AddressInfo } from "node:net";
import { userInfo } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, describe, expect, test } from "vitest";
import { CHROMIUM, closeBrowser, newContext, newPage, shown } from "./support/browser.ts";
import { expectTree, goBack } from "./support/going-back.ts";
import { Hand, row } from "./support/hand.ts";
import { FILES, FIRST, twoTurns } from "./support/work.ts";

afterAll(closeBrowser);

const SSHD = "/usr/sbin/sshd";
const hasSsh = existsSync(SSHD) && spawnSync("ssh", ["-V"], { timeout: 10_000 }).status === 0;
if (!hasSsh) console.log("No ssh server is installed: the page through a tunnel is not tested.");

describe.skipIf(CHROMIUM === undefined || !hasSsh)("through ssh", () => {
  test(
    "[R271] the page works through a tunnel that ends at another port, and only where it was announced",
    shown(
      twoTurns,
      async ({ project }) => {
        await using server = await SshServer.start(join(project.base, "ssh"));
        const port = await freePort();
        const own = Number(new URL(project.url).port);
        await server.forward(port, own);
        // a tunnel that was not announced gets nothing
        expect((await fetch(`http://localhost:${port}/`)).status).toBe(403);
        const ui = [process.execPath, LAUNCHER, "--home", project.home, "-C", project.project, "ui"];
        expect(server.run(...ui).stdout).toContain(`ssh -L ${own}:127.0.0.1:${own}`);
        const { stdout } = server.run(...ui, "--at", `http://localhost:${port}`);
        const address = stdout.split(/\s+/).find((word) => word.startsWith("http"))!;
        expect(new URL(address).origin).toBe(`http://localhost:${port}`);
        const context = await newContext();
        const problems: string[] = [];
        const page = await newPage(context, problems);
        await page.goto(address);
        const hand = new Hand(page, "mouse");
        await hand.select("Use idempotency keys");
        await hand.open("b", /^Restore to before this/);
        await goBack({
          project,
          hand,
          confirm: /^Restore 3 files/,
          says: /^Restored 3 files/,
          check: () => expectTree(project, FIRST),
        });
        // events come through it too
        await row(page, "Restored to before").first().waitFor();
        expect(problems).toEqual([]);
        await context.close();
      },
      { files: FILES },
    ),
  );
});

const LAUNCHER = join(import.meta.dirname, "../../cli/bin/belay.js");
const READY_MS = 20_000;
const OPTIONS = ["StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "BatchMode=yes"];

/** An ssh server for this user alone, with keys of its own. */
class SshServer implements AsyncDisposable {
  readonly #base: string;
  readonly #port: number;
  readonly #children: ChildProcess[] = [];

  private constructor(base: string, port: number) {
    this.#base = base;
    this.#port = port;
  }

  static async start(base: string): Promise<SshServer> {
    mkdirSync(base, { mode: 0o700 });
    for (const name of ["host", "key"])
      spawnSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", join(base, name)], { timeout: 10_000 });
    const server = new SshServer(base, await freePort());
    const config = join(base, "config");
    writeFileSync(
      config,
      [
        "ListenAddress 127.0.0.1",
        `HostKey ${join(base, "host")}`,
        `AuthorizedKeysFile ${join(base, "key.pub")}`,
        `PidFile ${join(base, "pid")}`,
        "StrictModes no",
        "UsePAM no",
        "PasswordAuthentication no",
        "PermitRootLogin prohibit-password",
      ].join("\n"),
    );
    // where the system starts it, the system makes this directory
    if (process.getuid!() === 0) mkdirSync("/run/sshd", { recursive: true });
    server.#children.push(spawn(SSHD, ["-D", "-f", config, "-p", String(server.#port)], { stdio: "ignore" }));
    await answers(server.#port);
    return server;
  }

  /** Forwards a port of this side to one of the other side. */
  async forward(from: number, to: number): Promise<void> {
    const line = ["-N", "-L", `${from}:127.0.0.1:${to}`, "-o", "ExitOnForwardFailure=yes"];
    this.#children.push(spawn("ssh", [...line, ...this.#login], { stdio: "ignore" }));
    await answers(from);
  }

  /** Runs a command on the other side, in an ssh session. */
  run(...command: string[]): { readonly stdout: string } {
    return spawnSync("ssh", [...this.#login, ...command], { encoding: "utf8", timeout: READY_MS });
  }

  get #login(): string[] {
    return [
      "-p",
      String(this.#port),
      "-i",
      join(this.#base, "key"),
      "-F",
      "/dev/null",
      ...OPTIONS.flatMap((option) => ["-o", option]),
      `${userInfo().username}@127.0.0.1`,
    ];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#children.toReversed()) child.kill();
    await Promise.resolve();
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}

/** Waits until something listens at a port. */
async function answers(port: number): Promise<void> {
  const end = performance.now() + READY_MS;
  while (performance.now() < end) {
    const isOpen = await new Promise<boolean>((done) => {
      const socket = connect(port, "127.0.0.1");
      socket.once("connect", () => done(true)).once("error", () => done(false));
      socket.once("connect", () => socket.destroy());
    });
    if (isOpen) return;
    await pause(50);
  }
  throw new Error(`Nothing listens at port ${port}.`);
}
