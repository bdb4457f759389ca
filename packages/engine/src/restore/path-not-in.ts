/** The error for a chosen path that going back has nothing for. */
import { displayPath, type BytePath } from "../model/byte-path.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import { EngineError } from "../model/errors.ts";
import { hardExclude } from "../rules/hard-excludes.ts";

/** `why` follows the path in the sentence; what is never captured is said to be that instead. */
export function pathNotIn(
  target: Checkpoint | undefined,
  path: BytePath,
  why: string,
): EngineError<"PATH_NOT_IN_CHECKPOINT"> {
  const names = path.split("/");
  const never = names.findIndex((name) => hardExclude(name) !== undefined);
  const shown = displayPath(path);
  const what =
    never === -1
      ? `${shown} ${why}`
      : `${displayPath(names.slice(0, never + 1).join("/") as BytePath)} is never captured or changed by Belay`;
  return new EngineError("PATH_NOT_IN_CHECKPOINT", `${what}. Nothing was changed.`, {
    path: shown,
    checkpoint: target?.id ?? "",
    ...(never !== -1 && { isNeverIn: true }),
  });
}
