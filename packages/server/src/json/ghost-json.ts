/** Ghosts in the contract's shape. */
import type { Ghost, MissingGhost } from "@belay/engine";
import type { Json, shapes } from "@belay/protocol";
import { ContractError } from "@belay/protocol/errors";

/** A ghost as the contract shows it. */
export function ghostJson({ createdAt, ...ghost }: Ghost): Json<typeof shapes.ghost> {
  return { ...ghost, createdAt: new Date(createdAt).toISOString() };
}

/** What there is of ghosts; throws `GHOST_IMPOSSIBLE` with the reason where there can be none. */
export function possible<Result extends Ghost | readonly Ghost[] | number>(
  result: Result | MissingGhost,
): Result {
  if (typeof result !== "object" || !("missing" in result)) return result;
  throw new ContractError(
    "GHOST_IMPOSSIBLE",
    `No ghost can be here: ${result.missing}. Nothing was changed in the git repository.`,
  );
}
