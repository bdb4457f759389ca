/** The typed client over `fetch`, with the page's key in a header. */
import { BelayClient } from "@belay/protocol/client";
import { WORDS } from "../words.ts";

/** Where the server is, and the key that opens it. */
export interface Connection {
  /** Left out: the server that the page came from. */
  readonly url?: string;
  readonly key: string;
}

type Sent = Omit<RequestInit, "headers"> & { readonly headers?: Readonly<Record<string, string>> };

/** A request that the page began before this script was read; its host leaves it in `belayEarly`. */
interface EarlyRequest {
  readonly path: string;
  readonly key: string;
  readonly answer: Promise<Response>;
}

/** [R1933] The answer to a request that was begun early, once. */
function takeEarly(path: string, key: string): Promise<Response> | undefined {
  const place = globalThis as { belayEarly?: EarlyRequest };
  const early = place.belayEarly;
  if (early?.path !== path || early.key !== key) return undefined;
  delete place.belayEarly;
  return early.answer;
}

/** The server could not be reached, or something else answered for it. */
export class NoAnswer extends Error {
  constructor(options?: ErrorOptions) {
    super(WORDS.noAnswer, options);
    this.name = "NoAnswer";
  }
}

/** A client that also reaches what is not JSON: bytes and streams. */
export class BrowserClient extends BelayClient {
  readonly connection: Connection;

  constructor(connection: Connection) {
    super(async ({ method, path, body, signal }) => {
      const json = body === undefined ? {} : { "content-type": "application/json" };
      const response = await this.open(path, {
        method,
        headers: json,
        ...(body !== undefined && { body }),
        ...(signal && { signal }),
      });
      const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
      // a server between here and Belay answers for it where Belay does not run
      if (!isJson) throw new NoAnswer();
      return { status: response.status, body: await response.text() };
    });
    this.connection = connection;
  }

  /** Sends a request with the key. */
  async open(path: string, request: Sent = {}): Promise<Response> {
    const { url = "", key } = this.connection;
    const headers = { ...request.headers, authorization: `Bearer ${key}` };
    try {
      return await (takeEarly(url + path, key) ?? fetch(url + path, { ...request, headers }));
    } catch (cause) {
      if (request.signal?.aborted) throw cause;
      throw new NoAnswer({ cause });
    }
  }

  /** The bytes at an address, for images and archives. */
  async bytes(path: string): Promise<Blob> {
    const response = await this.open(path);
    if (response.ok) return response.blob();
    const { error } = (await response.json().catch(() => ({}))) as { readonly error?: Error };
    throw new Error(error?.message ?? `The server answered ${response.status}.`);
  }
}

/** A client whose requests carry the key. Make it once, outside of the component that uses it. */
export function createClient(connection: Connection): BrowserClient {
  return new BrowserClient(connection);
}
