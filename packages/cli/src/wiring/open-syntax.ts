/** What knows the languages of files, where it is installed: its parsers are larger than Belay, so it comes apart. */
import type { Syntax } from "@belay/engine";

/** Undefined where it is not installed: merges then go by lines alone, and say so. */
export async function openSyntax(): Promise<Syntax | undefined> {
  try {
    const { createSyntax } = await import("@belay/syntax");
    return createSyntax();
  } catch {
    return undefined;
  }
}
