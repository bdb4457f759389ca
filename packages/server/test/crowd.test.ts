/** Many connections at once, of readers who do not read and of strangers who say nothing: real sockets, real memory. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { served, type ServedProject } from "./support/served-project.ts";

const MIB = 1024 * 1024;
const READERS = 100;
const MOST_MEMORY = 200 * MIB;

/** Of the whole process, as the system counts it. */
function memoryOf({ pid }: ServedProject): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) * 1024;
}

/** Asks for events and never reads one. */
function neverRead(project: ServedProject): Socket {
  const { url, token } = project;
  const { port, host } = new URL(url);
  const socket = connect(Number(port), "127.0.0.1").pause();
  socket.on("error", () => undefined);
  socket.write(
    `GET /api/events?${here(project)} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${token}\r\n\r\n`,
  );
  return socket;
}

function here({ project }: ServedProject): string {
  return `workspace=${encodeURIComponent(project)}`;
}

/** As commands start it, not in the foreground. */
async function startAlone(project: ServedProject): Promise<void> {
  await project.kill("SIGTERM");
  Object.assign(project, JSON.parse(project.belay("start", "--json").stdout));
}

function bigText(mark: string): string {
  return Array.from({ length: 12_000 }, (_, line) => `line ${line} ${mark} ${"x".repeat(30)}`).join("\n");
}

test.skipIf(process.platform !== "linux")(
  `[R148] ${READERS} readers of events that never read: bounded memory, and they are shown out`,
  { timeout: 180_000 },
  served(async (project) => {
    await startAlone(project);
    const { thread } = await project.ok("POST", `/api/threads?${here(project)}`, {});
    const at = `/api/threads/${thread.id}`;
    const readers = Array.from({ length: READERS }, () => neverRead(project));
    const listening = async () =>
      (await project.ok("GET", "/api/resident")) && readers.filter((socket) => !socket.destroyed).length;
    expect(await listening()).toBe(READERS);
    let most = 0;
    const say = async (content: string) => {
      await project.ok("POST", `${at}/messages`, { role: "user", content });
      most = Math.max(most, memoryOf(project));
    };
    // what the system takes for a reader, it takes: megabytes
    for (let sent = 0; sent < 150; sent += 1) await say(`${sent} ${"y".repeat(60_000)}`);
    // and then large ones, of which each reader waits for one
    for (let turn = 0; turn < 5; turn += 1) {
      project.write("big.txt", bigText(`${turn}a`));
      await say(`${turn} ${"y".repeat(300_000)}`);
      project.write("big.txt", bigText(`${turn}b`));
      await project.ok("POST", `${at}/stop`, {});
      most = Math.max(most, memoryOf(project));
    }
    expect(most).toBeLessThan(MOST_MEMORY);
    // a socket that does not read does not notice its end either: it is noticed by writing
    await expect
      .poll(
        () => {
          for (const socket of readers) if (!socket.destroyed) socket.write("x");
          return readers.filter((socket) => !socket.destroyed).length;
        },
        { timeout: 60_000, interval: 1000 },
      )
      .toBe(0);
    // who reads is told everything meanwhile
    const { told } = await project.listen(`${at}/events`, 3);
    await project.ok("POST", `${at}/messages`, { role: "user", content: "still there?" });
    expect((await told).map(({ data }) => data.type)).toContain("user");
    project.belay("stop");
  }),
);

/** Opens connections that say nothing, and opens each again when it is closed: prints how many it has opened. */
const STRANGER = `
  const net = require("node:net");
  let opened = 0;
  const open = () => {
    const socket = net.connect(Number(process.argv[1]), "127.0.0.1", () => { opened += 1; });
    socket.on("error", () => undefined).on("close", () => setTimeout(open, 50)).resume();
  };
  for (let n = 0; n < 600; n += 1) open();
  setInterval(() => console.log(opened), 50);`;

async function crowdIn(project: ServedProject, uid: number | undefined): Promise<ChildProcess> {
  const child = spawn(process.execPath, ["-e", STRANGER, new URL(project.url).port], {
    stdio: ["ignore", "pipe", "ignore"],
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  const lines = createInterface(child.stdout);
  for await (const line of lines) if (Number(line) > 300) break;
  return child;
}

const isRoot = process.getuid?.() === 0;

test.each([
  ["another user", isRoot ? 54_321 : undefined],
  ["this user", undefined],
])(
  "[R149] hundreds of idle connections of %s keep no client out, whether it comes by TCP or by the socket",
  (_, uid) =>
    served(async (project) => {
      const crowd = await crowdIn(project, uid);
      try {
        for (let request = 0; request < 40; request += 1) {
          const answer = await fetch(`${project.url}/api/workspaces`, {
            headers: { authorization: `Bearer ${project.token}`, connection: "close" },
            signal: AbortSignal.timeout(10_000),
          });
          expect(answer.status).toBe(200);
        }
        const taken = JSON.parse(project.belay("checkpoint", "--json").stdout);
        expect(taken.checkpoint.id).toMatch(/^[k-z]{16}$/);
      } finally {
        const ended = once(crowd, "exit");
        crowd.kill("SIGKILL");
        await ended;
      }
    })(),
);
