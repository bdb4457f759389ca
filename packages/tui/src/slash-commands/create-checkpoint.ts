/** `/checkpoint create [description]`. */
import { visibleLine } from "../text/visible.ts";
import { COMMANDS } from "../words.ts";
import { succeeded, type CommandResult, type CommandScene } from "./scene.ts";

/** Takes a checkpoint of the files as they are now. */
export async function createCheckpoint(
  { client, thread }: CommandScene,
  words: readonly string[],
): Promise<CommandResult> {
  const name = words.join(" ").trim();
  const { checkpoint, warnings } = await client.call("POST /api/threads/:id/checkpoints", {
    params: { id: thread },
    body: name === "" ? {} : { name },
  });
  const { seq, id } = checkpoint;
  return succeeded(
    [COMMANDS.created(seq, id.slice(0, 8), name === "" ? null : visibleLine(name)), ...warnings].join("\n"),
  );
}
