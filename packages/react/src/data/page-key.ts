/**
 * How the page gets its key. The one-time code comes in the fragment, which no server ever sees, and leaves the address
 * before anything else happens. A new tab asks its siblings. There is no cookie: cookies ignore ports.
 */
import { BelayClient } from "@belay/protocol/client";
import { WORDS } from "../words.ts";

const KEY = "belay-key";
const ASK_MS = 200;

/** The key, or why there is none. */
export type PageKey = { readonly key: string } | { readonly ended: string };

type Word = { readonly ask: true } | { readonly key: string };

/** Takes the code out of the address; call before anything else. */
export function takeCode(): string | undefined {
  const code = location.hash.slice(1);
  if (code === "") return undefined;
  history.replaceState(null, "", location.pathname + location.search);
  return code;
}

/** Finds the key of this page, or asks for one. */
export async function openPage(code: string | undefined): Promise<PageKey> {
  const page = await findKey(code);
  if ("key" in page) {
    sessionStorage.setItem(KEY, page.key);
    answerSiblings(page.key);
  }
  return page;
}

/** Why a key is none any more; what the server says of the process's token does not help with a page. */
export function endedWords({ code, message }: { readonly code: string; readonly message: string }): string {
  return code === "TOKEN_REQUIRED" ? WORDS.startedAgain : message;
}

/** Forgets a key that the server does not know any more. */
export function forgetKey(): void {
  sessionStorage.removeItem(KEY);
}

async function findKey(code: string | undefined): Promise<PageKey> {
  if (code !== undefined) return askServer(code);
  const kept = sessionStorage.getItem(KEY);
  if (kept !== null) return { key: kept };
  const key = await askSiblings();
  return key === undefined ? { ended: "" } : { key };
}

async function askServer(code: string): Promise<PageKey> {
  const client = new BelayClient(async ({ method, path, body }) => {
    const headers = { "content-type": "application/json" };
    const response = await fetch(path, { method, headers, ...(body !== undefined && { body }) });
    return { status: response.status, body: await response.text() };
  });
  try {
    return await client.call("POST /api/pages", { body: { code } });
  } catch (error) {
    return { ended: (error as Error).message };
  }
}

function askSiblings(): Promise<string | undefined> {
  const channel = new BroadcastChannel(KEY);
  return new Promise((done) => {
    const end = (key: string | undefined) => {
      channel.close();
      done(key);
    };
    channel.addEventListener("message", ({ data }: MessageEvent<Word>) => "key" in data && end(data.key));
    channel.postMessage({ ask: true } satisfies Word);
    setTimeout(() => end(undefined), ASK_MS);
  });
}

function answerSiblings(key: string): void {
  const channel = new BroadcastChannel(KEY);
  channel.addEventListener("message", ({ data }: MessageEvent<Word>) => {
    if ("ask" in data && sessionStorage.getItem(KEY) === key) channel.postMessage({ key } satisfies Word);
  });
}
