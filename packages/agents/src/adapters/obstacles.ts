/**
 * What prevents installed hooks from running: switches in an agent's own settings, untrusted folders,
 * untrusted hooks. Settings are read, or the agent is asked where there is no other way; nothing is changed.
 */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { askCodex } from "../conversation/codex-app-server.ts";
import { isObject, listOf, objectOf, textOf, type Payload } from "../events/payload.ts";
import { HOOK_MARK, type Place } from "../settings/hook-file.ts";
import { JsoncError, parseJsonc, valueOf } from "../settings/jsonc.ts";
import { readSettings, SettingsRefused } from "../settings/settings-file.ts";

/** Codex silently skips hooks that the user has not trusted. */
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
    return [untrusted(`${waiting.length} of Belay's ${ours.length} hooks`)];
  } catch (error) {
    return [`Codex could not be asked whether it trusts the hooks: ${(error as Error).message}.`];
  }
}

/** The same without starting Codex: what the user trusts is in its `config.toml`, by the path of the hooks' file. */
export function codexTrustObstacles(configFile: string, hooksFile: string): string[] {
  let config = "";
  try {
    config = readFileSync(configFile, "utf8");
  } catch {
    // no configuration: nothing is trusted
  }
  const isTrusted = config.includes("trusted_hash") && config.includes(`${hooksFile}:`);
  return isTrusted ? [] : [untrusted("Belay's hooks")];
}

function untrusted(what: string): string {
  return `Codex skips ${what} because you have not trusted them: start \`codex\`, type /hooks and approve them.`;
}

/** A switch in any of these settings turns every hook of Claude Code off. */
export function claudeObstacles(files: readonly string[]): string[] {
  return files.flatMap((path) =>
    [switchedTo(path, ["disableAllHooks"], true), switchedTo(path, ["allowManagedHooksOnly"], true)].flat(),
  );
}

/** True when Belay's plugin is enabled: the settings then need no hooks. */
export function claudePluginIsOn(files: readonly string[]): boolean {
  return files.some((path) => {
    const plugins = objectOf(readObject(path), "enabledPlugins");
    return Object.keys(plugins).some((name) => name.startsWith("belay@") && plugins[name] === true);
  });
}

/** Gemini CLI's switches for hooks, and its trust in folders. */
export function geminiObstacles(place: Place, files: readonly string[]): string[] {
  const off = files.flatMap((path) => [
    ...switchedTo(path, ["hooksConfig", "enabled"], false),
    ...(listedIn(path, ["hooksConfig", "disabled"], "belay")
      ? [`"hooksConfig.disabled" in ${path} names Belay's hooks.`]
      : []),
  ]);
  return [...off, ...folderTrustObstacles(place, files[0]!)];
}

/** Qwen Code's switches for hooks, and its trust in folders. */
export function qwenObstacles(place: Place, files: readonly string[]): string[] {
  const off = files.flatMap((path) => [
    ...switchedTo(path, ["disableAllHooks"], true),
    ...switchedTo(path, ["hooksConfig", "enabled"], false),
  ]);
  return [...off, ...folderTrustObstacles(place, files[0]!)];
}

/** Copilot CLI runs a repository's own hooks only in folders that the user trusts. */
export function copilotObstacles({ scope, root }: Place, configFile: string): string[] {
  if (scope !== "shared" || root === null) return [];
  const trusted = at(readObject(configFile), ["trusted_folders"]);
  const folders = Array.isArray(trusted) ? trusted : [];
  if (above(root).some((folder) => folders.includes(folder))) return [];
  return [
    `Copilot CLI does not trust ${root} yet (trusted_folders in ${configFile}), and so skips its hooks.`,
  ];
}

/** Where folders must be trusted, a project's own settings are ignored until its folder is. */
function folderTrustObstacles({ scope, root }: Place, userSettings: string): string[] {
  if (scope !== "shared" || root === null) return [];
  if (at(readObject(userSettings), ["security", "folderTrust", "enabled"]) !== true) return [];
  const file = join(dirname(userSettings), "trustedFolders.json");
  const trusted = readObject(file);
  const isTrusted = (folder: string) => /^TRUST_(FOLDER|PARENT)$/.test(String(trusted[folder]));
  return above(root).some(isTrusted)
    ? []
    : [`${root} is not a trusted folder (${file}): hooks in its own settings are passed over.`];
}

function above(directory: string): string[] {
  const parent = dirname(directory);
  return parent === directory ? [directory] : [directory, ...above(parent)];
}

function switchedTo(path: string, keys: readonly string[], value: boolean): string[] {
  if (at(readObject(path), keys) !== value) return [];
  return [`"${keys.join(".")}": ${value} in ${path} keeps hooks from running.`];
}

function listedIn(path: string, keys: readonly string[], name: string): boolean {
  const list = at(readObject(path), keys);
  return Array.isArray(list) && list.includes(name);
}

function at(settings: Payload, keys: readonly string[]): unknown {
  let value: unknown = settings;
  for (const key of keys) value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return value;
}

/** Empty when the file is missing or cannot be parsed. */
function readObject(path: string): Payload {
  try {
    const settings = readSettings(path);
    const value = settings === null ? undefined : valueOf(parseJsonc(settings.text));
    return isObject(value) ? value : {};
  } catch (error) {
    if (error instanceof SettingsRefused || error instanceof JsoncError) return {};
    throw error;
  }
}
