/** Unified diffs: the exact bytes for programs, coloured and made harmless for terminals. */
import type { Diff, FileChange } from "@belay/engine";
import type { Paint, Style } from "./style.ts";
import { visibleLines, visiblePath } from "./visible.ts";

/** A patch of all files, byte for byte. */
export function patchBytes(diff: Diff): Buffer {
  return Buffer.concat(diff.files.map((file) => file.patch ?? Buffer.from(withoutText(file))));
}

export function colouredDiff(diff: Diff, style: Style): string {
  const text = diff.files.map((file) => file.diff ?? withoutText(file)).join("");
  const lines = visibleLines(text).split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.map((line) => paintOf(line, style)(line)).join("\n");
}

/** One line that says why there are none. */
function withoutText(file: FileChange): string {
  const path = visiblePath(file.path);
  if (file.tooLarge) return `Files a/${path} and b/${path} are too large to compare\n`;
  return `Binary files a/${path} and b/${path} differ\n`;
}

const HEADER =
  /^(?:diff |index |--- |\+\+\+ |rename |similarity |old mode|new mode|new file|deleted file|Binary files |Files )/;

function paintOf(line: string, style: Style): Paint {
  if (HEADER.test(line)) return style.bold;
  if (line.startsWith("@@")) return style.cyan;
  if (line.startsWith("+")) return style.green;
  return line.startsWith("-") ? style.red : (text) => text;
}
