/**
 * Belay as a plugin of Claude Code: the same hooks, and slash commands that the hook carries out itself, so that
 * they cost no tokens. It is written to a directory that is its own marketplace. With the plugin and the hooks in
 * the settings both in place, every event comes twice and counts once.
 */
import { join } from "node:path";
import { hookEntries } from "../adapters/claude-code.ts";
import { hookCommand, HOOK_MARK, quoteForShell, type JsonValue, type Place } from "../settings/hook-file.ts";
import { writeOwnFile } from "../settings/settings-file.ts";

interface SlashCommand {
  readonly description: string;
  readonly hint?: string;
  /** What the model is told if the hook did not do it. */
  readonly fallback: string;
}

const COMMANDS: Readonly<Record<string, SlashCommand>> = {
  checkpoint: { description: "Take a checkpoint", hint: "[name]", fallback: 'checkpoint -m "$ARGUMENTS"' },
  checkpoints: { description: "List checkpoints", hint: "[text]", fallback: "list --limit 20" },
  show: { description: "Show a checkpoint", hint: "<checkpoint>", fallback: "show $ARGUMENTS" },
  diff: {
    description: "Compare checkpoints, or one with the disk",
    hint: "[a] [b]",
    fallback: "diff $ARGUMENTS",
  },
  restore: {
    description: "Go back to a checkpoint; shows what would change first",
    hint: "<checkpoint> [--yes]",
    fallback: "restore $ARGUMENTS --dry-run",
  },
  undo: { description: "Undo the last turn", hint: "[n]", fallback: "undo --dry-run" },
  redo: { description: "Redo what was undone", hint: "[n]", fallback: "redo --dry-run" },
  timeline: { description: "Show what happened, newest first", fallback: "list --limit 50" },
  status: { description: "Show what Belay protects here", fallback: "status" },
};

/** Writes the plugin's files, if they are not as they should be. */
export function writeClaudePlugin(place: Place, version: string): void {
  for (const [path, text] of claudePlugin(place, version))
    writeOwnFile(join(directoryIn(place), path), text, 0o644);
}

/** The two lines that install it in Claude Code. */
export function claudePluginLines(place: Pick<Place, "belayHome">): string[] {
  return [
    `claude plugin marketplace add ${quoteForShell(directoryIn(place))}`,
    "claude plugin install belay@belay",
  ];
}

function directoryIn({ belayHome }: Pick<Place, "belayHome">): string {
  return join(belayHome, "claude-plugin");
}

/** Its files by their paths. */
function claudePlugin(place: Place, version: string): Map<string, string> {
  const description = "Undo for Claude Code: checkpoints before every prompt and tool.";
  const owner = { name: "Belay" };
  const plugin = { name: "belay", version, description, author: owner, license: "Apache-2.0" };
  const entry = { name: "belay", source: "./", description };
  return new Map([
    [".claude-plugin/plugin.json", asText(plugin)],
    [".claude-plugin/marketplace.json", asText({ name: "belay", owner, description, plugins: [entry] })],
    ["README.md", readme()],
    ["hooks/hooks.json", asText({ description, hooks: pluginHooks(place) })],
    ...Object.entries(COMMANDS).map(
      ([name, command]) => [`commands/${name}.md`, commandFile(place, command)] as const,
    ),
  ]);
}

function readme(): string {
  const commands = Object.entries(COMMANDS).map(
    ([name, { description }]) => `- \`/belay:${name}\`: ${description}.`,
  );
  return `# Belay for Claude Code

Undo for Claude Code. A checkpoint of the whole project is taken before every prompt and before every tool that may
change files, whatever changed them: an edit, a shell command, an MCP tool, a subagent. The commands below run in the
hook itself and cost no tokens. The plugin needs the \`belay\` command, which wrote it and keeps it up to date.

${commands.join("\n")}
`;
}

function pluginHooks(place: Place): JsonValue {
  const hooks: Record<string, JsonValue> = {};
  for (const { at, value } of hookEntries(place)) hooks[at[1]!] = [value];
  const command = hookCommand(place, "claude-code");
  hooks["UserPromptExpansion"] = [
    { matcher: "belay:.*", hooks: [{ type: "command", command, timeout: 60 }] },
  ];
  return hooks;
}

function commandFile({ belayHome }: Place, { description, hint, fallback }: SlashCommand): string {
  const hook = quoteForShell(join(belayHome, HOOK_MARK));
  const head = [`description: ${description}`, ...(hint === undefined ? [] : [`argument-hint: "${hint}"`])];
  return `---
${head.join("\n")}
disable-model-invocation: true
---
Belay's hook should have answered this and did not (does ${hook} exist?).
Tell the user to run this in a terminal, and do nothing else: \`belay ${fallback}\`
`;
}

function asText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
