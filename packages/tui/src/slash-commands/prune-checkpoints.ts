/** `/checkpoint prune`: drops checkpoints by the policy, after a question. */
import { count } from "../text/quantity.ts";
import { COMMANDS } from "../words.ts";
import {
  askLetter,
  failed,
  misused,
  succeeded,
  unasked,
  type CommandResult,
  type CommandScene,
} from "./scene.ts";

/** Says what would be dropped, asks, and drops it. */
export async function pruneCheckpoints(
  scene: CommandScene,
  words: readonly string[],
): Promise<CommandResult> {
  if (words.length > 0) return misused(scene, "");
  const { client, ask } = scene;
  const query = { workspace: await scene.workspace() };
  const preview = await client.call("POST /api/prune", { query, body: { dryRun: true } });
  if (preview.pruned.length === 0)
    return succeeded(COMMANDS.nothingToPrune(count(preview.kept, "checkpoint")));
  const question = COMMANDS.askPrune(count(preview.pruned.length, "checkpoint"), preview.kept);
  if (ask === null) return unasked(question);
  if ((await askLetter(scene, `${question} [y/N] `, "y")) !== "y") return failed(COMMANDS.nothingChanged);
  const { pruned, kept } = await client.call("POST /api/prune", { query, body: {} });
  return succeeded(COMMANDS.pruned(count(pruned.length, "checkpoint"), kept));
}
