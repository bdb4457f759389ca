/** The events of the resident process over its private socket. */

/** The pieces of an answer as they come, until the process or the reader ends it. */
export async function* streamFromSocket(
  socketPath: string,
  path: string,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  // loaded here: only what stays needs it
  const { get } = process.getBuiltinModule("node:http");
  const { promise, resolve, reject } = Promise.withResolvers<AsyncIterable<Uint8Array>>();
  const request = get({ socketPath, path, signal, headers: { host: "belay" } }, (response) => {
    if (response.statusCode === 200) resolve(response);
    else reject(new Error(`the resident process answered ${response.statusCode}`));
  });
  request.on("error", reject);
  yield* await promise;
}
