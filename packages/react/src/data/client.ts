/** The typed client over `fetch`, with the page's key in a header. */
import { BelayClient, type ClientRequest } from "@belay/protocol/client";

/** Where the server is, and the key that opens it. */
export interface Connection {
  /** Left out: the server that the page came from. */
  readonly url?: string;
  readonly key: string;
}

/** A client whose requests carry the key. */
export function createClient({ url = "", key }: Connection): BelayClient {
  return new BelayClient(async ({ method, path, body }: ClientRequest) => {
    const response = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body }),
    });
    return { status: response.status, body: await response.text() };
  });
}

/** The bytes at an address, for images. */
export async function fetchBytes({ url = "", key }: Connection, path: string): Promise<Blob> {
  const response = await fetch(url + path, { headers: { authorization: `Bearer ${key}` } });
  if (!response.ok) throw new Error(`${response.status}`);
  return response.blob();
}
