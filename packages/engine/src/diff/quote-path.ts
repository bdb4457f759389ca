/** File names as git writes them in patches. */
import { isUtf8Path, type BytePath } from "../model/byte-path.ts";

const ESCAPES: Readonly<Record<string, string>> = {
  "\x07": "\\a",
  "\b": "\\b",
  "\t": "\\t",
  "\n": "\\n",
  "\v": "\\v",
  "\f": "\\f",
  "\r": "\\r",
  '"': '\\"',
  "\\": "\\\\",
};

// oxlint-disable-next-line no-control-regex -- control characters are what has to be quoted
const ODD = /[\x00-\x1f"\\\x7f]/g;
// oxlint-disable-next-line no-control-regex -- as above, and every byte that is not ASCII
const ODD_OR_HIGH = /[\x00-\x1f"\\\x7f-\xff]/g;

/**
 * Quotes a name with control characters, quotes or backslashes. UTF-8 stays readable (core.quotePath=false),
 * other bytes are escaped.
 */
export function quotePath(path: BytePath): string {
  const quoted = path.replace(
    isUtf8Path(path) ? ODD : ODD_OR_HIGH,
    (character) => ESCAPES[character] ?? octal(character),
  );
  return quoted === path ? path : `"${quoted}"`;
}

function octal(character: string): string {
  return `\\${character.charCodeAt(0).toString(8).padStart(3, "0")}`;
}
