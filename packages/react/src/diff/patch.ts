/** The server's hunks as a patch: what is copied, and what the diff view reads. */
import type { CallOutput } from "@belay/protocol";
import { visible, visibleCode } from "../words.ts";

/** One file of two states, line by line. */
export type FileDiffAnswer = CallOutput<"GET /api/checkpoints/:a/files/:b/diff">;
/** Nearby changes with the lines around them. */
export type DiffHunk = FileDiffAnswer["hunks"][number];

/** One hunk with its header, as `git apply` reads it. */
export function hunkText({ oldStart, oldLines, newStart, newLines, lines }: DiffHunk): string {
  const header = `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`;
  const body = lines.map(
    ({ type, text, noNewline }) => `${type}${text}${noNewline ? "\n\\ No newline at end of file" : ""}`,
  );
  return [header, ...body].join("\n");
}

/**
 * Text with a hunk's header as the diff view draws it. Controls and direction marks of its name and lines are shown
 * instead of obeyed: lines that read otherwise than they run are an old trick.
 */
export function drawnPatch(path: string, hunk: string): string {
  const name = visible(path).replaceAll(/\s/g, " ");
  return `--- a/${name}\n+++ b/${name}\n${visibleCode(hunk)}\n`;
}

/** The file's change as a patch that `git apply` takes. */
export function patchText({ file, before, after, hunks }: FileDiffAnswer): string {
  if (file === null) return "";
  const [from, to] = [file.from ?? file.path, file.path];
  const mode = (value: number | null | undefined) => (value ?? 0o100644).toString(8);
  return [
    `diff --git ${quoted(`a/${from}`)} ${quoted(`b/${to}`)}`,
    ...(before === null ? [`new file mode ${mode(after?.mode)}`] : []),
    ...(after === null ? [`deleted file mode ${mode(before?.mode)}`] : []),
    ...(file.from === undefined ? [] : [`rename from ${quoted(from)}`, `rename to ${quoted(to)}`]),
    ...(hunks.length === 0
      ? []
      : [
          `--- ${before === null ? "/dev/null" : quoted(`a/${from}`)}`,
          `+++ ${after === null ? "/dev/null" : quoted(`b/${to}`)}`,
        ]),
    ...hunks.map(hunkText),
    "",
  ].join("\n");
}

/** Names with unusual characters are quoted as git does. */
function quoted(name: string): string {
  if (!/["\\\p{Cc}]/u.test(name)) return name;
  const escaped = name.replaceAll(/["\\\p{Cc}]/gu, (sign) =>
    sign === '"' || sign === "\\" ? `\\${sign}` : `\\${sign.charCodeAt(0).toString(8).padStart(3, "0")}`,
  );
  return `"${escaped}"`;
}
