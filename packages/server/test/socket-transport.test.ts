/** What commands make of the resident process's answers: all of one, or an error. */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createRawServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createSocketTransport } from "@belay/server/resident";

let directory: string;
let socket: string;
let server: Server | undefined;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "belay-socket-"));
  socket = join(directory, "s");
});
afterEach(() => {
  server?.close();
  rmSync(directory, { recursive: true });
});

async function listen(made: Server): Promise<void> {
  server = made;
  await new Promise<void>((done) => made.listen(socket, done));
}

/** A server that says just this and hangs up. */
function saying(text: string): Promise<void> {
  return listen(createRawServer((connection) => connection.on("error", () => undefined).end(text)));
}

const ask = (path = "/") => createSocketTransport(socket, 300)({ method: "GET", path, body: undefined });

test("a real server's answers arrive whole: of known length, in pieces, large, and without a body", async () => {
  const long = "ä€😀".repeat(100_000);
  const made = createServer((request, response) => {
    const heard: Buffer[] = [];
    request.on("data", (piece: Buffer) => heard.push(piece));
    request.on("end", () => {
      if (request.url === "/none") return response.writeHead(204).end();
      if (request.url === "/echo") return response.end(Buffer.concat(heard));
      response.write(long);
      return response.end("end");
    });
  });
  await listen(made);
  expect(await ask("/pieces")).toEqual({ status: 200, body: `${long}end` });
  expect(await ask("/none")).toEqual({ status: 204, body: "" });
  const body = JSON.stringify({ long });
  const echo = await createSocketTransport(socket, 2000)({ method: "POST", path: "/echo", body });
  expect(echo).toEqual({ status: 200, body });
});

test.each([
  ["nothing", ""],
  ["half a head", "HTTP/1.1 200 OK\r\ncontent-le"],
  ["less than it announced", "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{}"],
  ["pieces without the last", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n"],
  ["half a piece", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nff\r\n{}"],
  ["another language", "SSH-2.0-x\r\n\r\n"],
])("[N1] %s is an error", async (_, text) => {
  await saying(text);
  await expect(ask()).rejects.toThrow("broke off");
});

test("an answer that says where it ends is whole before the connection ends; another one is not", async () => {
  const lasting = (text: string) =>
    listen(createRawServer((connection) => void connection.on("error", () => undefined).write(text)));
  await lasting("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}");
  expect(await ask()).toEqual({ status: 200, body: "{}" });
  server?.close();
  await lasting("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n");
  expect(await ask()).toEqual({ status: 200, body: "{}" });
  server?.close();
  await lasting("HTTP/1.1 200 OK\r\n\r\n{");
  await expect(ask()).rejects.toThrow("does not answer");
});

test("silence, no listener, and a path that would be two requests are errors", async () => {
  await expect(ask()).rejects.toThrow("ENOENT");
  await listen(createRawServer(() => undefined));
  await expect(ask()).rejects.toThrow("does not answer");
  await expect(ask("/ HTTP/1.1\r\nx: y")).rejects.toThrow("not the path");
});
