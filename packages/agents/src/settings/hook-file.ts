/** Which files of which agent hold Belay's hooks, and what is in them. */
import { join } from "node:path";
import type { AgentId } from "../events/agent-id.ts";

/**
 * `local`: the most private file that the agent has for this directory, or else the user's own; the default.
 * `user`: for all of the user's projects. `shared`: a file of the project that is meant to be committed.
 */
export type Scope = "local" | "user" | "shared";

/** Where hooks are installed: for whom, and for which directory. */
export interface Place {
  readonly scope: Scope;
  /** The user's home directory. */
  readonly user: string;
  /** The workspace; null outside of any. */
  readonly root: string | null;
  /** `$BELAY_HOME`. */
  readonly belayHome: string;
  readonly environment: NodeJS.ProcessEnv;
}

/** A value of a settings file. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

/** One element of a list in a settings file. */
export interface HookEntry {
  /** The keys that lead to the list. */
  readonly at: readonly string[];
  readonly value: JsonValue;
}

/** A file that holds hooks. */
export type HookFile =
  /** A file that is also the user's: entries are added to it. */
  | {
      readonly kind: "entries";
      readonly path: string;
      readonly entries: readonly HookEntry[];
      /** Members that a new file needs, and an old one has. */
      readonly defaults: Readonly<Record<string, JsonValue>>;
    }
  /** A file that is Belay's alone. */
  | { readonly kind: "whole"; readonly path: string; readonly text: string };

/** What every command line of ours contains, and no other. */
export const HOOK_MARK = "bin/belay-hook";

/**
 * The command line that an agent runs. Some agents pin their trust to it, so it contains no version and never
 * changes. In a shared file it must do nothing for people without Belay.
 */
export function hookCommand({ scope, belayHome }: Place, agent: AgentId): string {
  if (scope !== "shared") return `${quoteForShell(join(belayHome, HOOK_MARK))} ${agent}`;
  return `h="\${BELAY_HOME:-$HOME/.belay}/${HOOK_MARK}"; [ ! -x "$h" ] || "$h" ${agent}`;
}

/** A text as one word of a shell. */
export function quoteForShell(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A matcher for every tool but these: an unknown tool may change files. */
export function allToolsBut(names: readonly string[]): string {
  return `^(?!(?:${names.join("|")})$)`;
}
