/** Diffs: the exact bytes of a patch for programs, coloured and sanitised text for terminals. */
import type { Diff, FileChange } from "@belay/engine";
import type { Output } from "./output.ts";
import type { Paint, Style } from "./style.ts";
import { reasonWords, visibleLines } from "@belay/tui/text";
import { visible, visiblePath } from "./visible.ts";

/**
 * Prints for people on a terminal; elsewhere a patch for `git apply`, with a warning about what it cannot
 * express.
 */
export async function printDiff(diff: Pick<Diff, "files">, output: Output): Promise<void> {
  if (output.isTerminal || output.isColoured) return output.content(colouredDiff(diff.files, output.style));
  for (const { patch } of diff.files) if (patch !== undefined && !(await output.raw(patch()))) return;
  for (const { path, notInPatch } of diff.files)
    if (notInPatch !== undefined)
      output.warn(`warning: not in the patch: ${visiblePath(path)}: ${visible(notInPatch)}`);
}

/** A diff for people, whatever the output is. */
export function diffForPeople(files: readonly FileChange[], { style }: Pick<Output, "style">): string {
  return colouredDiff(files, style);
}

/** A patch of all files as text. */
export function patchText(diff: Diff): string {
  return Buffer.concat(diff.files.map(({ patch }) => patch!())).toString("utf8");
}

function colouredDiff(files: readonly FileChange[], style: Style): string {
  const text = files.map((file) => (file.diff ?? withoutText(file)) + permissions(file)).join("");
  const lines = visibleLines(text).split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.map((line) => paintOf(line, style)(line)).join("\n");
}

/** One line that says why there is no diff. */
function withoutText(file: FileChange): string {
  const path = visiblePath(file.path);
  if (file.gap !== undefined) return `File ${path} was not captured: ${reasonWords(file.gap)}\n`;
  if (file.tooLarge) return `Files a/${path} and b/${path} are too large to compare\n`;
  return `Binary files a/${path} and b/${path} differ\n`;
}

/** Permissions, which a patch leaves out. */
function permissions({ path, notInPatch, gap }: FileChange): string {
  if (notInPatch === undefined || gap !== undefined) return "";
  return `File ${visiblePath(path)}: ${notInPatch}\n`;
}

const HEADER =
  /^(?:diff |index |--- |\+\+\+ |rename |similarity |old mode|new mode|new file|deleted file|Binary files |Files? )/;

function paintOf(line: string, style: Style): Paint {
  if (HEADER.test(line)) return style.bold;
  if (line.startsWith("@@")) return style.cyan;
  if (line.startsWith("+")) return style.green;
  return line.startsWith("-") ? style.red : (text) => text;
}
