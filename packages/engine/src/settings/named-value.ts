/** Values in a settings file by their names, which are written as objects or with dots: `{"a.b": 1}` is `{"a": {"b": 1}}`. */
import { isObject } from "./home-file.ts";

/** The value of a name, wherever it is cut into objects. */
export function valueAt(value: unknown, name: string): unknown {
  if (!isObject(value)) return undefined;
  if (Object.hasOwn(value, name)) return value[name];
  for (const [first, rest] of cuts(name)) {
    const found = Object.hasOwn(value, first) ? valueAt(value[first], rest) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The same without that name, and without the objects that held nothing else. */
export function withoutValue(fields: Record<string, unknown>, name: string): Record<string, unknown> {
  const { [name]: _, ...rest } = fields;
  for (const [first, inner] of cuts(name)) {
    const held = Object.hasOwn(rest, first) ? rest[first] : undefined;
    if (!isObject(held) || valueAt(held, inner) === undefined) continue;
    const left = withoutValue(held, inner);
    if (Object.keys(left).length === 0) delete rest[first];
    else rest[first] = left;
  }
  return rest;
}

/** Every way to cut a name in two at a dot. */
function cuts(name: string): [first: string, rest: string][] {
  const found: [string, string][] = [];
  for (let dot = name.indexOf("."); dot > 0; dot = name.indexOf(".", dot + 1))
    found.push([name.slice(0, dot), name.slice(dot + 1)]);
  return found;
}
