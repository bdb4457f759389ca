/**
 * Requests of the user's own commands, over the private socket. One request a connection, written by hand: a hook
 * runs before every tool call, and loading an HTTP client takes longer than the request.
 */
import { connect } from "node:net";
import type { ClientRequest, ClientResponse, Transport } from "@belay/protocol/client";

/** Rejects when nobody answers within `timeoutMs`: the caller then works alone. */
export function createSocketTransport(socketPath: string, timeoutMs: number): Transport {
  return (request) =>
    new Promise((done, fail) => {
      const pieces: Buffer[] = [];
      const socket = connect(socketPath, () => socket.write(encode(request)));
      socket.setTimeout(timeoutMs, () => socket.destroy(new Error("the resident process does not answer")));
      socket.on("data", (piece) => pieces.push(piece));
      socket.on("error", fail);
      socket.on("end", () => {
        try {
          done(decode(Buffer.concat(pieces)));
        } catch (error) {
          fail(error);
        }
      });
    });
}

function encode({ method, path, body }: ClientRequest): string {
  const content =
    body === undefined
      ? []
      : ["content-type: application/json", `content-length: ${Buffer.byteLength(body)}`];
  return [`${method} ${path} HTTP/1.1`, "host: belay", "connection: close", ...content, "", body ?? ""].join(
    "\r\n",
  );
}

function decode(answer: Buffer): ClientResponse {
  const end = answer.indexOf("\r\n\r\n");
  const head = answer.toString("latin1", 0, Math.max(0, end));
  const status = /^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1];
  if (status === undefined) throw new Error("the resident process broke off");
  const rest = answer.subarray(end + 4);
  const isChunked = /^transfer-encoding: chunked$/im.test(head);
  const length = /^content-length: (\d+)$/im.exec(head)?.[1];
  const body = isChunked ? joinChunks(rest) : rest;
  if (length !== undefined && body.length !== Number(length))
    throw new Error("the resident process broke off");
  return { status: Number(status), body: body.toString("utf8") };
}

function joinChunks(bytes: Buffer): Buffer {
  const chunks: Buffer[] = [];
  for (let at = 0; ;) {
    const end = bytes.indexOf("\r\n", at);
    const size = Number.parseInt(bytes.toString("latin1", at, Math.max(at, end)), 16);
    if (Number.isNaN(size) || end + 2 + size > bytes.length)
      throw new Error("the resident process broke off");
    if (size === 0) return Buffer.concat(chunks);
    chunks.push(bytes.subarray(end + 2, end + 2 + size));
    at = end + 4 + size;
  }
}
