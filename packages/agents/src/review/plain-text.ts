/** What tools print for terminals, without colours. */
import { stripVTControlCharacters } from "node:util";

/** The text with one kind of line end and without escape sequences. */
export function plainText(output: string): string {
  return stripVTControlCharacters(output).replaceAll("\r\n", "\n");
}
