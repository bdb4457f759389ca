/** Makes foreign text (file names, prompts, notes, error messages) safe to show: without secrets, as what is there. */
import { isUtf8 } from "node:buffer";
import type { BytePath } from "@belay/engine";
import { redact } from "@belay/protocol/redact";
import { spelledOut, visibleLine } from "@belay/tui/text";

/** One line of foreign text without secrets [R167] and without anything a terminal would act on. */
export function visible(text: string): string {
  return visibleLine(redact(text));
}

/** A path as a person sees it; bytes that are not UTF-8 are spelled out, so that no two names look alike. */
export function visiblePath(path: BytePath): string {
  const bytes = Buffer.from(path, "latin1");
  if (isUtf8(bytes)) return visibleLine(bytes.toString("utf8"));
  return path.replace(/[^\x20-\x7e]/g, (character) => spelledOut(character));
}

/** `src/a.ts, README.md and 3 more`: paths inside a sentence. */
export function pathNames(paths: readonly string[]): string {
  const named = paths.slice(0, NAMED_PATHS).map(visibleLine).join(", ");
  return paths.length > NAMED_PATHS ? `${named} and ${paths.length - NAMED_PATHS} more` : named;
}

const NAMED_PATHS = 2;
