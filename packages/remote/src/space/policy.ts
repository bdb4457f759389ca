/** What an admin decided for a space: how long lines keep checkpoints, and how much may be stored. It is part of the roster. */

/** How long a line keeps checkpoints, by the server's clock. */
export interface Retention {
  /** Everything. */
  readonly allDays: number;
  /** Turns and messages. */
  readonly turnDays: number;
}

/** The policy of a space. */
export interface Policy extends Retention {
  /** [R1816] What the whole space may hold, and what one member may; null without a quota. A push that does not fit is refused [R2026]. */
  readonly quotaBytes: number | null;
  readonly memberQuotaBytes: number | null;
}

/** As long as the store keeps them, unless it is told otherwise. */
const DEFAULT_POLICY: Policy = { allDays: 7, turnDays: 30, quotaBytes: null, memberQuotaBytes: null };

/** A space, as far as its policy is concerned. */
interface Ruled {
  readonly roster: { readonly roster: { readonly policy?: Partial<Policy> } };
}

/** The policy that the roster of a space has. */
export function policyOf({ roster }: Ruled): Policy {
  return { ...DEFAULT_POLICY, ...roster.roster.policy };
}

/** How long lines of a space keep checkpoints. */
export function retentionOf(space: Ruled): Retention {
  const { allDays, turnDays } = policyOf(space);
  return { allDays, turnDays };
}

/** Whether this is the policy part of a roster. */
export function isPolicy(value: unknown): value is Partial<Policy> {
  if (typeof value !== "object" || value === null) return false;
  const { allDays, turnDays, quotaBytes, memberQuotaBytes } = value as Record<string, unknown>;
  const isNumber = (each: unknown) => typeof each === "number" && Number.isFinite(each) && each > 0;
  return (
    [allDays, turnDays].every((each) => each === undefined || isNumber(each)) &&
    [quotaBytes, memberQuotaBytes].every((each) => each === undefined || each === null || isNumber(each))
  );
}
