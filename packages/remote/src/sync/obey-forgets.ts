/**
 * [R2027] What admins asked every machine to forget is forgotten here too, before anything else is sent. The roster has the
 * requests: only an admin can sign one. Files on disk stay as they are.
 */
import type { Exchange } from "@belay/engine";
import type { ForgetEverywhere } from "../space/roster.ts";
import type { Space } from "../space/space.ts";

/** What was forgotten because an admin asked for it. */
export interface ObeyedForgets {
  /** Who asked, as the roster calls them. */
  readonly by: readonly string[];
  /** The checkpoints here that had it. */
  readonly checkpoints: readonly string[];
}

/** Follows the requests that this store has not followed yet; undefined when nothing here had what they name. */
export function obeyForgets(exchange: Exchange, space: Space, remote: string): ObeyedForgets | undefined {
  const after = exchange.obeyedForgets(remote);
  const requests = requestsIn(space).filter(({ request }) => request.number > after);
  if (requests.length === 0) return undefined;
  const until = Math.max(...requests.map(({ request }) => request.number));
  const checkpoints = exchange.obeyForgets(
    remote,
    until,
    requests.map(({ request }) => request),
  );
  if (checkpoints.length === 0) return undefined;
  return { by: [...new Set(requests.map(({ by }) => by))], checkpoints };
}

function requestsIn({
  rosters,
  members,
}: Space): { readonly request: ForgetEverywhere; readonly by: string }[] {
  return rosters.flatMap(({ roster: { number, forgets, signer } }) =>
    forgets?.number === number
      ? [{ request: forgets, by: members.get(signer)?.name ?? signer.slice(0, 8) }]
      : [],
  );
}
