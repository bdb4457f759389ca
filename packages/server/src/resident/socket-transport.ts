/** Requests of the user's own commands, over the private socket. */
import { request } from "node:http";
import type { Transport } from "@belay/protocol/client";

/** Rejects when nobody answers within `timeoutMs`: the caller then works alone. */
export function createSocketTransport(socketPath: string, timeoutMs: number): Transport {
  return ({ method, path, body }) =>
    new Promise((done, fail) => {
      const headers =
        body === undefined
          ? { host: "belay" }
          : { host: "belay", "content-type": "application/json", "content-length": Buffer.byteLength(body) };
      const call = request({ socketPath, method, path, headers, timeout: timeoutMs }, (response) => {
        const pieces: Buffer[] = [];
        response.on("data", (piece: Buffer) => pieces.push(piece));
        response.on("error", fail);
        response.on("end", () =>
          done({ status: response.statusCode ?? 0, body: Buffer.concat(pieces).toString("utf8") }),
        );
      });
      call.on("timeout", () => call.destroy(new Error("the resident process does not answer")));
      call.on("error", fail);
      call.end(body);
    });
}
