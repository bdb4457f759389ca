/** JSON that means one thing: no object has a key twice. A merge by lines can make such a text of two good ones. */

/** True when the text is JSON and every key of every object is unique. */
export function isStrictJson(text: string): boolean {
  try {
    JSON.parse(text);
  } catch {
    return false;
  }
  return !hasDuplicateKey(text);
}

/** For a text that is known to be JSON. */
function hasDuplicateKey(text: string): boolean {
  const open: (Set<string> | undefined)[] = [];
  const tokens = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\]]/g;
  for (const [token, colon] of text.matchAll(tokens)) {
    if (token === "{") open.push(new Set());
    else if (token === "[") open.push(undefined);
    else if (token === "}" || token === "]") open.pop();
    else if (colon !== undefined) {
      const keys = open.at(-1)!;
      const key = JSON.parse(token.slice(0, -colon.length)) as string;
      if (keys.has(key)) return true;
      keys.add(key);
    }
  }
  return false;
}
