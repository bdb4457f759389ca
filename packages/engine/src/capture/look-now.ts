/** A look that records nothing, repeated until it has seen everything it is for. */
import { leftBehind } from "./left-behind.ts";
import type { Context } from "./context.ts";
import type { Look, Present } from "./look.ts";

/** The working copy as it is now; nothing is stored. */
export function lookNow(context: Context, look: Look = {}): Present {
  const { workingCopy } = context;
  for (let asked = look; ;) {
    const { present, wider } = widerLook(context, asked, workingCopy.look(asked));
    if (wider === undefined) return present;
    asked = wider;
  }
}

/** The present with what is known to be absent, and the look that has to follow where this one saw too little. */
export function widerLook(
  context: Context,
  look: Look,
  seen: Present,
): { present: Present; wider: Look | undefined } {
  const { included, absent } = leftBehind(context, seen, look.since);
  const present = { ...seen, absent };
  return { present, wider: withMore(look, { included }) ?? withMore(look, look.widen?.(present) ?? {}) };
}

/** undefined when the look has all of these paths already, so that widening comes to an end. */
function withMore(
  look: Look,
  { included = [], unlimited }: Pick<Look, "included" | "unlimited">,
): Look | undefined {
  const known = { included: new Set(look.included), unlimited: look.unlimited ?? new Set() };
  const isNew = included.some((path) => !known.included.has(path));
  if (!isNew && [...(unlimited ?? [])].every((path) => known.unlimited.has(path))) return undefined;
  return {
    ...look,
    included: [...new Set([...known.included, ...included])],
    unlimited: new Set([...known.unlimited, ...(unlimited ?? [])]),
  };
}
