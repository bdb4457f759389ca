/**
 * Requests of the user's own commands over the private socket. Written by hand, because loading `node:http`
 * takes longer than everything else a hook does. One request per connection.
 */
import type { Transport } from "@belay/protocol/client";

/** Rejects when there is no answer within `timeoutMs`: the caller then works alone. */
export function createSocketTransport(socketPath: string, timeoutMs: number): Transport {
  return (request) =>
    new Promise((done, fail) => {
      const pieces: Buffer[] = [];
      const text = requestText(request);
      // loaded here: a command without a resident process does not wait for it
      const socket = process.getBuiltinModule("node:net").connect(socketPath);
      socket.setTimeout(timeoutMs, () => socket.destroy(new Error("the resident process does not answer")));
      socket.on("data", (piece) => {
        pieces.push(piece);
        // most answers are one piece, and their command need not wait until the connection is taken down
        const answer = pieces.length === 1 ? parseAnswer(piece, { isOver: false }) : undefined;
        if (answer === undefined) return;
        done(answer);
        socket.destroy();
      });
      socket.on("error", fail);
      socket.on("end", () => {
        const answer = parseAnswer(Buffer.concat(pieces), { isOver: true });
        if (answer === undefined) fail(new Error("the resident process broke off its answer"));
        else done(answer);
      });
      socket.write(text);
    });
}

function requestText({ method, path, body }: Parameters<Transport>[0]): string {
  if (/[^\x21-\x7e]/.test(method + path)) throw new Error(`${path} is not the path of a request`);
  const about =
    body === undefined
      ? []
      : ["content-type: application/json", `content-length: ${Buffer.byteLength(body)}`];
  return [`${method} ${path} HTTP/1.1`, "host: belay", "connection: close", ...about, "", body ?? ""].join(
    "\r\n",
  );
}

/** Undefined when it is not a whole answer. Without a length or pieces, it is whole when the connection is over. */
function parseAnswer(
  bytes: Buffer,
  { isOver }: { readonly isOver: boolean },
): { status: number; body: string } | undefined {
  const end = Math.max(bytes.indexOf("\r\n\r\n"), 0);
  const head = bytes.toString("latin1", 0, end);
  const status = /^HTTP\/1\.1 (\d{3})/.exec(head)?.[1];
  const length = /^content-length: *(\d+)$/im.exec(head)?.[1];
  const rest = bytes.subarray(end + 4);
  const isChunked = /^transfer-encoding: *chunked$/im.test(head);
  const body = isChunked ? joinChunks(rest) : rest;
  if (status === undefined || body === undefined) return undefined;
  if (length === undefined ? !isChunked && !isOver : Number(length) !== body.length) return undefined;
  return { status: Number(status), body: body.toString("utf8") };
}

/** Undefined when the last chunk, which is empty, is not there. */
function joinChunks(bytes: Buffer): Buffer | undefined {
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const line = bytes.indexOf("\r\n", at);
    const size = line < 0 ? Number.NaN : Number.parseInt(bytes.toString("latin1", at, line), 16);
    if (size === 0) return Buffer.concat(chunks);
    if (Number.isNaN(size)) return undefined;
    chunks.push(bytes.subarray(line + 2, line + 2 + size));
    at = line + 2 + size + 2;
  }
  return undefined;
}
