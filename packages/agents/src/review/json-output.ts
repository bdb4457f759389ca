/** Values in the JSON that tools print. What they print is untrusted: every field may be missing or of another kind. */

/** An object of a JSON document. */
export type Fields = Readonly<Record<string, unknown>>;

/** The JSON document in an output; a package manager may have written lines before it. Undefined where there is none. */
export function jsonIn(output: string): unknown {
  const whole = output.trim();
  const begins = /^[[{]/.test(whole) ? 0 : whole.search(/^[[{]/m);
  if (begins === -1) return undefined;
  try {
    return JSON.parse(whole.slice(begins));
  } catch {
    return undefined;
  }
}

/** The object at a key; one without fields where there is none. */
export function fieldsOf(value: unknown, key: string): Fields {
  const found = isFields(value) ? value[key] : undefined;
  return isFields(found) ? found : {};
}

/** The list at a key; empty where there is none. */
export function listOf(value: unknown, key: string): readonly unknown[] {
  const found = isFields(value) ? value[key] : undefined;
  return Array.isArray(found) ? found : [];
}

/** The text at a key; "" where there is none. */
export function textAt(value: unknown, key: string): string {
  const found = isFields(value) ? value[key] : undefined;
  return typeof found === "string" ? found : "";
}

/** The number of a line at a key; 0 where there is none. */
export function lineAt(value: unknown, key: string): number {
  const found = isFields(value) ? value[key] : undefined;
  return typeof found === "number" && Number.isSafeInteger(found) && found > 0 ? found : 0;
}

/** Whether a value is an object with fields. */
export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
