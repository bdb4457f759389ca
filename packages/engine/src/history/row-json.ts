/** JSON in a column. */

/** Parses JSON from a row; null when it is damaged. The seal reports the damage when the value matters. */
export function parseJson(value: unknown): unknown {
  try {
    return value === null ? null : JSON.parse(String(value));
  } catch {
    return null;
  }
}
