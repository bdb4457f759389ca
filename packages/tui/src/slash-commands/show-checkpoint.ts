/** `/checkpoint show <id>`. */
import { count, size } from "../text/quantity.ts";
import { clockSeconds, dayAndTime } from "../text/relative-time.ts";
import { visibleLine } from "../text/visible.ts";
import { COMMANDS, GOING_BACK } from "../words.ts";
import { misused, succeeded, type CommandResult, type CommandScene } from "./scene.ts";

const SHOWN_FILES = 20;
const LETTERS: Readonly<Record<string, string>> = {
  added: "A",
  modified: "M",
  deleted: "D",
  renamed: "R",
  mode: "m",
};

/** Shows one checkpoint: when and why it was taken, what it changed, what it could not capture. */
export async function showCheckpoint(scene: CommandScene, words: readonly string[]): Promise<CommandResult> {
  const [id, ...others] = words;
  if (id === undefined || others.length > 0) return misused(scene, "<id>");
  const query = { workspace: await scene.workspace() };
  const { checkpoint, files, filesTotal } = await scene.client.call("GET /api/checkpoints/:id", {
    params: { id },
    query,
  });
  const { seq, name, note, tags, description, createdAt, gapsTotal } = checkpoint;
  const taken = Date.parse(createdAt);
  const shown = files.slice(0, SHOWN_FILES);
  const width = Math.max(0, ...shown.map(({ path }) => visibleLine(path).length));
  scene.write(
    [
      COMMANDS.checkpoint(seq, checkpoint.id.slice(0, 8)),
      `  ${visibleLine(name ?? description)}`,
      `  taken  ${dayAndTime(taken).slice(0, 10)} ${clockSeconds(taken)}`,
      ...(name === null ? [] : [`  why    ${visibleLine(description)}`]),
      ...(note === null ? [] : [`  note   ${visibleLine(note)}`]),
      ...(tags.length === 0 ? [] : [`  tags   ${tags.map(visibleLine).join(", ")}`]),
      `  holds  ${count(checkpoint.files, "file")}, ${size(checkpoint.bytes)}`,
      ...shown.map((file) =>
        `  ${LETTERS[file.type]} ${visibleLine(file.path).padEnd(width)}  ${lines(file)}`.trimEnd(),
      ),
      ...(filesTotal > shown.length ? [`  ${GOING_BACK.more(String(filesTotal - shown.length))}`] : []),
      ...(gapsTotal > 0 ? [`  ${COMMANDS.notCaptured(gapsTotal)}`] : []),
    ].join("\n"),
  );
  return succeeded();
}

function lines({
  linesAdded,
  linesDeleted,
}: {
  linesAdded: number | null;
  linesDeleted: number | null;
}): string {
  return [linesAdded ? `+${linesAdded}` : "", linesDeleted ? `-${linesDeleted}` : ""]
    .filter(Boolean)
    .join(" ");
}
