/**
 * The pages that are open in browsers. A page gets a key of its own for a one-time code: the process's token never
 * reaches a browser, and every key is dead when the process ends.
 */
import { createHash, randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { ContractError } from "@belay/protocol/errors";

/** A page that is open, or was. */
export interface OpenPage {
  readonly id: string;
  readonly openedAt: number;
  usedAt: number;
  /** Aborted when the key ends: its event streams end with it. */
  readonly ended: AbortSignal;
}

interface Page extends OpenPage {
  readonly end: (reason: string) => void;
}

const CODE_BYTES = 16;
const KEY_BYTES = 32;
const CODE_MS = 60_000;
const TRIES = 10;
const TRIES_MS = 60_000;
/** Codes and keys remembered, so that a code used twice and an ended key can be named. */
const REMEMBERED = 1000;

/** Why a page has no key any more. */
const ENDED = "This page was ended from another page.";
const USED_TWICE =
  "The code that opened this page was used a second time, so another program has seen it. Both pages were ended.";

/** The pages of one process. */
export class PageBook {
  readonly #clock: () => number;
  readonly #codes = new Map<string, { readonly until: number; gave?: Page }>();
  readonly #pages = new Map<string, Page>();
  readonly #reasons = new Map<string, string>();
  readonly #origins = new Set<string>();
  #tries: number[] = [];

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** A code that opens one page within a minute. `origin`: where a tunnel shows this server to the browser. */
  newCode(origin?: string): string {
    if (origin !== undefined) this.#origins.add(origin);
    const code = randomBytes(CODE_BYTES).toString("base64url");
    remember(this.#codes, digest(code), { until: this.#clock() + CODE_MS });
    return code;
  }

  /** Addresses of tunnels, besides the process's own. */
  get origins(): ReadonlySet<string> {
    return this.#origins;
  }

  /** The key of a new page. A code that comes a second time ends the page that it opened. */
  open(code: string): string {
    const now = this.#clock();
    this.#tries = [...this.#tries.filter((at) => now - at < TRIES_MS), now];
    if (this.#tries.length > TRIES)
      throw new ContractError("TOO_MANY_TRIES", "Too many codes were tried. No page was opened.");
    const known = this.#codes.get(digest(code));
    known?.gave?.end(USED_TWICE);
    if (known?.gave !== undefined) throw new ContractError("CODE_REFUSED", USED_TWICE);
    if (known === undefined || known.until < now)
      throw new ContractError(
        "CODE_REFUSED",
        "The code is unknown or older than a minute. No page was opened.",
      );
    const key = randomBytes(KEY_BYTES).toString("base64url");
    known.gave = this.#add(digest(key), now);
    return key;
  }

  #add(keyDigest: string, now: number): Page {
    const ending = new AbortController();
    const page = {
      id: randomBytes(6).toString("base64url"),
      openedAt: now,
      usedAt: now,
      ended: ending.signal,
      end: (reason: string) => {
        if (this.#pages.delete(keyDigest)) remember(this.#reasons, keyDigest, reason);
        ending.abort();
      },
    };
    this.#pages.set(keyDigest, page);
    return page;
  }

  /** The page with this key; throws `PAGE_ENDED` for a key that was one, undefined for any other word. */
  find(key: string): OpenPage | undefined {
    const known = digest(key);
    const reason = this.#reasons.get(known);
    if (reason !== undefined) throw new ContractError("PAGE_ENDED", reason);
    const page = this.#pages.get(known);
    if (page !== undefined) page.usedAt = this.#clock();
    return page;
  }

  /** The open pages, newest first. */
  list(): OpenPage[] {
    return [...this.#pages.values()].toReversed();
  }

  /** Ends the key of a page; false when there is no such page. */
  end(id: string): boolean {
    const page = [...this.#pages.values()].find((each) => each.id === id);
    page?.end(ENDED);
    return page !== undefined;
  }
}

/** Which requests came with a page's key: the guard notes it, handlers ask. */
const CALLERS = new WeakMap<IncomingMessage, OpenPage>();

/** Notes that a request came with a page's key. */
export function notePage(request: IncomingMessage, page: OpenPage): void {
  CALLERS.set(request, page);
}

/** The page that sent a request; undefined for the user's own programs. */
export function pageOf(request: IncomingMessage | undefined): OpenPage | undefined {
  return request === undefined ? undefined : CALLERS.get(request);
}

/** Secrets are looked up by their digest: a comparison tells nothing about how much of a guess was right. */
function digest(secret: string): string {
  return createHash("sha256").update(secret).digest("base64");
}

function remember<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.set(key, value);
  if (map.size > REMEMBERED) map.delete(map.keys().next().value!);
}
