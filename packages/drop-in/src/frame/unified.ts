/** A unified diff as programs without git write it. */

/** From the names on, without git's own lines above them; null where no line differs. */
export function fromNames(diff: string | null | undefined): string | null {
  const names = diff?.search(/^--- /m) ?? -1;
  return names < 0 ? null : diff!.slice(names);
}
