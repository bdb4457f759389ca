/** What keeps installed hooks from running, asked of the agent or read in its settings: for `belay doctor`. */
import { listOf, textOf } from "../payload.ts";
import { askCodex } from "../conversation/codex-app-server.ts";
import { HOOK_MARK, type Place } from "./hook-file.ts";
import { JsoncError, memberOf, parseJsonc } from "./jsonc.ts";
import { readSettings, SettingsRefused } from "./settings-file.ts";

/** Codex skips hooks that the user has not trusted, and says nothing about it. */
export async function codexObstacles({ root, user, environment }: Place): Promise<string[]> {
  const cwd = root ?? user;
  try {
    const result = await askCodex({ method: "hooks/list", params: { cwds: [cwd] }, cwd, environment });
    const hooks = listOf(result, "data").flatMap((entry) => listOf(entry, "hooks"));
    const ours = hooks.filter((hook) => textOf(hook, "command")?.includes(HOOK_MARK));
    const waiting = ours.filter(
      (hook) => hook["trustStatus"] !== "trusted" && hook["trustStatus"] !== "managed",
    );
    if (ours.length === 0) return ["Codex does not see Belay's hooks."];
    if (waiting.length === 0) return [];
    return [
      `Codex skips ${waiting.length} of Belay's ${ours.length} hooks because you have not trusted them: ` +
        "start `codex`, type /hooks and approve them.",
    ];
  } catch (error) {
    return [`Codex could not be asked whether it trusts the hooks: ${(error as Error).message}.`];
  }
}

/** A switch in any of these settings turns every hook of Claude Code off. */
export function claudeObstacles(files: readonly string[]): string[] {
  return files.filter(disablesHooks).map((path) => `"disableAllHooks" in ${path} keeps hooks from running.`);
}

function disablesHooks(path: string): boolean {
  try {
    const settings = readSettings(path);
    const node = settings === null ? undefined : parseJsonc(settings.text);
    const value = node?.kind === "object" ? memberOf(node, "disableAllHooks")?.value : undefined;
    return value?.kind === "scalar" && value.value === true;
  } catch (error) {
    if (error instanceof SettingsRefused || error instanceof JsoncError) return false;
    throw error;
  }
}
