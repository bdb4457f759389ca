/** `/checkpoint diff <from> <to>` and `/diff [from] [to]`: what differs, as text. */
import type { CallOutput } from "@belay/protocol";
import { COMMANDS, GOING_BACK } from "../words.ts";
import { count } from "../text/quantity.ts";
import { visibleLine } from "../text/visible.ts";
import { misused, succeeded, type CommandResult, type CommandScene } from "./scene.ts";

type FileDiff = CallOutput<"GET /api/checkpoints/:a/files/:b/diff">;

/** More than this is too long for a chat; the summary counts them all. */
const SHOWN_FILES = 20;

/** Compares two states. With `/diff` the second may be left out, and the first too: then the files on disk are compared. */
export async function compareCheckpoints(
  scene: CommandScene,
  words: readonly string[],
): Promise<CommandResult> {
  const isShort = scene.name === "diff";
  if (words.length > 2 || (!isShort && words.length < 2))
    return misused(scene, isShort ? "[from] [to]" : "<from> <to>");
  const [a = "@", b = "disk"] = words;
  const { client } = scene;
  const workspace = await scene.workspace();
  const { files, filesTotal, summary } = await client.call("GET /api/checkpoints/:a/files/:b", {
    params: { a, b },
    query: { workspace },
  });
  if (filesTotal === 0) return succeeded(COMMANDS.same);
  for (const file of files.slice(0, SHOWN_FILES)) {
    const path = file.pathBase64 === undefined ? { path: file.path } : { pathBase64: file.pathBase64 };
    scene.write(
      fileDiffText(
        await client.call("GET /api/checkpoints/:a/files/:b/diff", {
          params: { a, b },
          query: { workspace, ...path },
        }),
        file,
      ),
    );
  }
  if (filesTotal > SHOWN_FILES) scene.write(GOING_BACK.more(String(filesTotal - SHOWN_FILES)));
  return succeeded(COMMANDS.compared(count(filesTotal, "file"), summary.linesAdded, summary.linesDeleted));
}

/** One file's hunks as unified text. */
export function fileDiffText(
  { hunks, truncated }: Pick<FileDiff, "hunks" | "truncated">,
  file: { readonly path: string; readonly type?: string; readonly binary?: boolean },
): string {
  const name = visibleLine(file.path);
  if (hunks.length === 0)
    return COMMANDS.withoutLines(name, file.binary === true ? "binary" : (file.type ?? "changed"));
  const lines = hunks.flatMap(({ header, lines: changed }) => [
    visibleLine(header),
    ...changed.map(({ type, text }) => `${type}${visibleLine(text)}`),
  ]);
  return [`--- ${name}`, ...lines, ...(truncated ? [COMMANDS.truncated] : [])].join("\n");
}
