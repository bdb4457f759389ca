/**
 * The settings of a repository that decide how it is read. Includes and per-user settings are not followed.
 */
import { below, type AbsolutePath } from "../fs/absolute-path.ts";
import { readGitFile } from "./git-file.ts";

/** Values by `section.key` in lower case; the last one wins. A key without a value is "true". */
export type GitConfig = ReadonlyMap<string, string>;

const CONFIG_LIMIT = 1024 * 1024;

/** Reads the settings from a repository's own files. */
export function readGitConfig(gitDir: AbsolutePath, commonDir: AbsolutePath): GitConfig {
  const shared = parseConfig(below(commonDir, "config"));
  if (!isTrue(shared.get("extensions.worktreeconfig"))) return shared;
  return new Map([...shared, ...parseConfig(below(gitDir, "config.worktree"))]);
}

/** True for a value that git reads as true. */
export function isTrue(value: string | undefined): boolean {
  return value !== undefined && /^(?:true|yes|on|[1-9]\d*)$/i.test(value);
}

function parseConfig(path: AbsolutePath): Map<string, string> {
  const text = readGitFile(path, CONFIG_LIMIT)?.toString("latin1") ?? "";
  const values = new Map<string, string>();
  let section = "";
  for (const line of text.replaceAll(/\\\r?\n/g, "").split("\n")) {
    const header = /^\s*\[([^\]"\s]+)(?:\s+"([^"]*)")?\s*\]/.exec(line);
    if (header !== null) section = header[2] === undefined ? header[1]!.toLowerCase() : "";
    const setting = line.slice(header?.[0].length ?? 0).trim();
    if (section === "" || setting === "" || /^[#;]/.test(setting)) continue;
    const equals = setting.indexOf("=");
    const key = (equals < 0 ? setting : setting.slice(0, equals)).trim().toLowerCase();
    values.set(`${section}.${key}`, equals < 0 ? "true" : readValue(setting.slice(equals + 1).trim()));
  }
  return values;
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", b: "\b" };

/** Strips quotes, escapes and a trailing comment. */
function readValue(text: string): string {
  let value = "";
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at]!;
    if (char === '"') quoted = !quoted;
    else if (char === "\\") value += ESCAPES[text[(at += 1)] ?? ""] ?? text[at] ?? "";
    else if (!quoted && (char === "#" || char === ";")) break;
    else value += char;
  }
  return value.trimEnd();
}
