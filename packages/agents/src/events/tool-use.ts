/**
 * What a tool call is about, from its name and input: whether it changes files, which ones, and a short
 * description.
 */
import { isAbsolute, resolve } from "node:path";
import type { ToolUse } from "./agent-event.ts";
import { digest, listOf, textOf, type Payload } from "./payload.ts";
import { words } from "./word-list.ts";

const PATHS_LIMIT = 200;
const LONGEST_PATH = 4096;
const PATH_KEYS = ["file_path", "filePath", "path", "notebook_path", "absolute_path", "target_file"];
const SUBJECT_KEYS = ["command", "cmd", "description", "prompt", "query", "url", "pattern"];

/**
 * Tools of any agent that are known to leave files alone. All others are presumed to change them: a
 * checkpoint too many costs milliseconds, one too few costs work. The last three start agents, which have
 * events of their own.
 */
const HARMLESS = new Set(
  words(`
  read view grep glob ls list search codebase_search file_search read_file
  read_many_files list_directory search_file_content grep_search web_search webfetch web_fetch
  websearch google_web_search todowrite todoread todo_write write_todos update_plan
  update_todo askuserquestion ask_user question exitplanmode enterplanmode bashoutput
  killshell taskoutput taskstop sleep think view_image read_bash stop_bash report_intent
  listmcpresources readmcpresource toolsearch structuredoutput delete_todo lsp read_mcp_resource
  list_mcp_resources
  wait_agent send_input send_message resume_agent close_agent list_agents
  agent task spawn_agent
`),
);

/** Belay's own MCP tools, however the agent spells them: a restore makes its own checkpoints. */
const OWN_TOOL =
  /(?:^|[:_./-])(?:checkpoint_(?:create|list|show|diff|search|preview|restore)|project_find|history_search|branch_list|merge_preview|conflict_(?:list|show))$/;

/** A tool call as an adapter reads it from a payload. */
export interface ToolFacts {
  readonly tool: string;
  readonly input: Payload;
  readonly toolUseId: string | null;
  readonly cwd: string | null;
}

/** What a tool call is about: whether it changes files, and which ones. */
export function toolUse({ tool, input, toolUseId, cwd }: ToolFacts): ToolUse {
  const paths = affectedPaths(tool, input, cwd);
  const subject = tool === "apply_patch" ? null : textOf(input, ...SUBJECT_KEYS);
  return {
    tool,
    toolUseId,
    match: toolUseId ?? `call-${digest(tool, input)}`,
    mutates: !HARMLESS.has(tool.toLowerCase()) && !OWN_TOOL.test(tool),
    paths,
    nature: natureOf(tool, paths),
    background: isBackground(input),
    subject: textOf(input, ...PATH_KEYS) ?? subject ?? paths.join(", "),
  };
}

const COMMAND = /^(bash|shell|run_shell_command|powershell|exec_command|local_shell)$/i;
/** Tools of any agent that are known to write only what their input names. */
const EDIT =
  /^(edit|write|multiedit|notebookedit|write_file|replace|create|str_replace|str_replace_editor|patch|apply_patch|edit_file|insert|delete)$/i;

function natureOf(tool: string, paths: readonly string[]): ToolUse["nature"] {
  if (COMMAND.test(tool)) return "command";
  return EDIT.test(tool) && paths.length > 0 ? "edit" : null;
}

/** The forms of Claude Code, of Gemini CLI and Qwen Code, and of Copilot CLI. */
function isBackground(input: Payload): boolean {
  const mode = textOf(input, "mode");
  return (
    input["run_in_background"] === true ||
    input["is_background"] === true ||
    mode === "async" ||
    mode === "detached"
  );
}

/** Paths that the input names on purpose. What a shell command will touch is not guessed. */
function affectedPaths(tool: string, input: Payload, cwd: string | null): string[] {
  if (COMMAND.test(tool)) return [];
  const named = [input, ...listOf(input, "edits"), ...listOf(input, "files")].flatMap((part) =>
    PATH_KEYS.map((key) => textOf(part, key)),
  );
  const patch = textOf(input, "command", "patch", "input", "patchText");
  const patched = patch !== null && patch.includes("*** Begin Patch") ? patchedPaths(patch) : [];
  const usable = [...named, ...patched].filter(
    (path) => path !== null && path.length <= LONGEST_PATH && !path.includes("\0"),
  );
  const absolute = usable.map((path) => (cwd === null || !isAbsolute(cwd) ? path! : resolve(cwd, path!)));
  return [...new Set(absolute)].slice(0, PATHS_LIMIT);
}

function patchedPaths(patch: string): string[] {
  const lines = patch.matchAll(/^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$/gm);
  return [...lines].map((match) => match[1]!.trim());
}
