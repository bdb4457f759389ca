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

/** The change back: what was added is removed. */
export function inverseOf(answer: FileDiffAnswer): FileDiffAnswer {
  const { file, before, after, hunks } = answer;
  const types = { added: "deleted", deleted: "added" } as const;
  const type = file?.type === "added" || file?.type === "deleted" ? types[file.type] : file?.type;
  const signs = { "+": "-", "-": "+", " ": " " } as const;
  return {
    ...answer,
    file: file && {
      ...file,
      type: type!,
      ...(file.from !== undefined && { path: file.from, from: file.path }),
    },
    before: after,
    after: before,
    hunks: hunks.map((hunk) => ({
      ...hunk,
      oldStart: hunk.newStart,
      oldLines: hunk.newLines,
      newStart: hunk.oldStart,
      newLines: hunk.oldLines,
      lines: ordered(
        hunk.lines.map((line) => ({ ...line, type: signs[line.type], old: line.new, new: line.old })),
      ),
    })),
  };
}

/** Of neighbouring changed lines, those that go stand before those that come. */
function ordered(lines: DiffHunk["lines"]): DiffHunk["lines"] {
  const sorted: DiffHunk["lines"][number][] = [];
  let added: DiffHunk["lines"][number][] = [];
  for (const line of lines) {
    if (line.type === "+") added.push(line);
    else {
      if (line.type === " ") {
        sorted.push(...added);
        added = [];
      }
      sorted.push(line);
    }
  }
  return [...sorted, ...added];
}

/** The file's change as a patch that `git apply` takes. */
export function patchText({ file, before, after, hunks }: FileDiffAnswer): string {
  if (file === null) return "";
  const [from, to] = [file.from ?? file.path, file.path];
  return [
    `diff --git ${quoted(`a/${from}`)} ${quoted(`b/${to}`)}`,
    ...(before === null ? [`new file mode ${gitMode(after)}`] : []),
    ...(after === null ? [`deleted file mode ${gitMode(before)}`] : []),
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

/** The mode as git writes it: it knows links, and whether a file may be executed. */
function gitMode(side: FileDiffAnswer["after"]): string {
  if (side?.kind === "symlink") return "120000";
  return ((side?.mode ?? 0) & 0o100) === 0 ? "100644" : "100755";
}

/** Names with unusual characters are quoted as git does. */
function quoted(name: string): string {
  if (!/["\\\p{Cc}]/u.test(name)) return name;
  const escaped = name.replaceAll(/["\\\p{Cc}]/gu, (sign) =>
    sign === '"' || sign === "\\" ? `\\${sign}` : `\\${sign.charCodeAt(0).toString(8).padStart(3, "0")}`,
  );
  return `"${escaped}"`;
}
