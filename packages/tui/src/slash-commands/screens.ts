/** The menu and the timeline: screens where the chat has a terminal for them, text where not. */
import { COMMANDS, MENU } from "../words.ts";
import { printTimeline } from "./list-checkpoints.ts";
import { misused, succeeded, type CommandResult, type CommandScene } from "./scene.ts";

/** The screens that a command can open. */
export type ScreenName = "menu" | "timeline";

/** `/checkpoint`: what can be done. */
export async function openMenu(scene: CommandScene): Promise<CommandResult> {
  if (scene.openScreen !== undefined) {
    await scene.openScreen("menu");
    return succeeded();
  }
  const { client, thread: id } = scene;
  const { changedFiles } = await client.call("GET /api/threads/:id/session", { params: { id } });
  const width = Math.max(...MENU.map(({ command }) => command.length));
  scene.write(
    MENU.map(({ command, text }) => `  ${command.padEnd(width)}  ${text(changedFiles.length)}`).join("\n"),
  );
  return succeeded(COMMANDS.menuHint);
}

/** Carries out `/checkpoint timeline`. */
export async function openTimeline(scene: CommandScene, words: readonly string[]): Promise<CommandResult> {
  if (words.length > 0) return misused(scene, "");
  if (scene.openScreen === undefined) return printTimeline(scene);
  await scene.openScreen("timeline");
  return succeeded();
}
