/** Files that are never captured and that the reader does not want to hear of again: kept in this browser, as digests. */
const KEY = "belay-unwanted-gaps";
/** The oldest are forgotten. */
const MOST = 500;

/** Whether the reader does not want to hear of this file. */
export function isUnwanted(workspace: string, path: string): boolean {
  return read().includes(digest(workspace, path));
}

/** Keeps that the reader does not want to hear of a file, or does again. */
export function unwant(workspace: string, path: string, isUnwantedNow: boolean): void {
  const name = digest(workspace, path);
  const others = read().filter((each) => each !== name);
  localStorage.setItem(KEY, (isUnwantedNow ? [...others, name].slice(-MOST) : others).join(" "));
}

function read(): string[] {
  return (localStorage.getItem(KEY) ?? "").split(" ").filter(Boolean);
}

/** A name may be a secret, so none is kept; two with one digest are as good as one here. */
function digest(workspace: string, path: string): string {
  let sum = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(`${workspace}\0${path}`))
    sum = BigInt.asUintN(64, (sum ^ BigInt(byte)) * 0x100000001b3n);
  return sum.toString(36);
}
