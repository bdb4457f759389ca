/**
 * A link to a share: a pre-signed request for its manifest, and behind `#`, where no server sees it, the share's id and
 * key. Who has the link reads the share until it expires; the server reads nothing.
 */
import { ContractError } from "@belay/protocol/errors";
import type { SpaceSecret } from "../parcel/parcel.ts";

/** What opens a share. */
export interface ShareKey {
  readonly id: string;
  /** 32 bytes. */
  readonly key: Buffer;
}

const FRAGMENT = /^belay-link-1\.([0-9a-f]{32})\.([\w-]{43})$/;

/** The link to a share. */
export function formatLink(manifestUrl: string, { id, key }: ShareKey): string {
  return `${manifestUrl}#belay-link-1.${id}.${key.toString("base64url")}`;
}

/** Whether a text is meant to be a link to a share. */
export function looksLikeLink(text: string): boolean {
  return text.includes("#belay-link-");
}

/** The parts of a link. What is wrong with it is said without repeating it [T17]. */
export function parseLink(text: string): { readonly url: string; readonly share: ShareKey } {
  const at = text.indexOf("#");
  const [, id, key] = FRAGMENT.exec(text.slice(at + 1).trim()) ?? [];
  if (at < 0 || id === undefined || key === undefined)
    throw new ContractError("USAGE", "That is not a whole link to a share. Nothing was changed.", {
      hint: "Put it between quotes: a shell takes & and # for something else.",
    });
  return { url: text.slice(0, at).trim(), share: { id, key: Buffer.from(key, "base64url") } };
}

/** The secret that the parcels of a share are sealed with: no generation of the space's. */
export function shareSecret({ id, key }: ShareKey): SpaceSecret {
  return { space: `share ${id}`, generation: 0, secret: key };
}

/** The name of a part of a share, as it is sealed. A reader knows no more of where it lies. */
export function sharePart(id: string, n: number): string {
  return `x/${id}/${n}`;
}
