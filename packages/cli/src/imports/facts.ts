/** Facts in JSON that another program wrote: each is what it should be, or left out. */

/** An object; an empty one where there is none. */
export function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}

/** A list; an empty one where there is none. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}

/** Of foreign data, a text that is not empty. */
export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Of foreign data, the texts of a list. */
export function textsOf(value: unknown): string[] {
  return listOf(value).flatMap((each) => textOf(each) ?? []);
}

/** Of foreign data, a number that is finite. */
export function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** A time, as a text or as milliseconds. */
export function timeOf(value: unknown): number | undefined {
  if (typeof value === "number") return numberOf(value);
  const time = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}
