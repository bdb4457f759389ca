/** Durations as people write them: 45s, 30m, 2h, 1h30m, 1d. */
import { usageError } from "@belay/protocol/errors";

const UNITS_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Parses a duration into milliseconds. */
export function parseDuration(text: string): number {
  const parts = [...text.matchAll(/(\d+)([smhd])/gy)];
  const ms = parts.reduce((sum, [, count, unit]) => sum + Number(count) * UNITS_MS[unit!]!, 0);
  if (parts.length > 0 && parts.map(([part]) => part).join("") === text && ms > 0) return ms;
  throw usageError(`"${text}" is not a duration. Nothing was changed.`, "For example: 30m, 2h, 1h30m or 1d");
}
