/**
 * [R100] How each agent is run: what Belay knows of it, and what the user's settings say. No command comes from
 * anywhere else, and none is a line for a shell.
 */
import { ContractError } from "@belay/protocol/errors";
import { isFields } from "../review/json-output.ts";
import { readAnyFacts, type ReadFacts } from "../run/agent-facts.ts";
import { AGENT_TEMPLATES, type AgentTemplate } from "../run/agent-template.ts";

/** What a user's settings say about one agent. */
export interface AgentSettings {
  /** Instead of the command that Belay knows. */
  readonly command?: readonly string[];
  /** Appended to it. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Instead of a command. It can only be asked, not run. */
  readonly endpoint?: AgentEndpoint;
}

/** An OpenAI-compatible endpoint. */
export interface AgentEndpoint {
  /** Up to `/chat/completions`. */
  readonly url: string;
  readonly model: string;
}

/** An agent that can be run. */
export interface RunnableAgent {
  readonly name: string;
  readonly command: readonly string[];
  /** The command that goes on with a conversation; undefined where there is none. */
  readonly resume: readonly string[] | undefined;
  readonly environment: Readonly<Record<string, string>>;
  readonly trust: readonly string[];
  readonly notice: string | undefined;
  readonly reportsCost: boolean;
  readonly reportsTokens: boolean;
  readonly read: ReadFacts;
}

/** The agents by name. */
export class AgentBook {
  readonly #settings: Readonly<Record<string, AgentSettings>>;
  readonly #roles: Readonly<Record<string, string>>;

  constructor(
    settings: Readonly<Record<string, AgentSettings>> = {},
    roles: Readonly<Record<string, string>> = {},
  ) {
    this.#settings = settings;
    this.#roles = roles;
  }

  /** The names that can be run. */
  get names(): string[] {
    return [...new Set([...Object.keys(AGENT_TEMPLATES), ...Object.keys(this.#settings)])].filter(
      (name) => (this.#settings[name]?.command ?? AGENT_TEMPLATES[name]?.command) !== undefined,
    );
  }

  /** The agent that a user's settings give a role; undefined where they name none. */
  inRole(role: string): string | undefined {
    return Object.hasOwn(this.#roles, role) ? this.#roles[role] : undefined;
  }

  /** The endpoint of an agent that is one; undefined for one that is run. */
  endpoint(name: string): AgentEndpoint | undefined {
    return Object.hasOwn(this.#settings, name) ? this.#settings[name]!.endpoint : undefined;
  }

  /** An agent by name; throws `AGENT_NOT_FOUND`. */
  find(name: string): RunnableAgent {
    const template = Object.hasOwn(AGENT_TEMPLATES, name) ? AGENT_TEMPLATES[name] : undefined;
    const settings = Object.hasOwn(this.#settings, name) ? this.#settings[name]! : {};
    const command = settings.command ?? template?.command;
    if (command === undefined)
      throw new ContractError("AGENT_NOT_FOUND", `There is no agent "${name}". Nothing was started.`, {
        facts: { agent: name, agents: this.names },
        list: this.names,
      });
    // with a command of the user's own, going on with a conversation is the user's own affair too
    return runnable(name, settings.command === undefined ? template : undefined, { ...settings, command });
  }

  /** Any command that the user typed. */
  command(words: readonly string[]): RunnableAgent {
    const name = words[0]?.split("/").at(-1) ?? "command";
    return runnable(name, undefined, { command: words });
  }
}

function runnable(
  name: string,
  template: AgentTemplate | undefined,
  { command, args = [], env = {} }: AgentSettings & { readonly command: readonly string[] },
): RunnableAgent {
  return {
    name,
    command: [...command, ...args],
    resume: template?.resume && [...template.resume, ...args],
    environment: env,
    trust: template?.trust ?? [],
    notice: template?.notice,
    reportsCost: template?.reportsCost ?? false,
    reportsTokens: template?.reportsTokens ?? false,
    read: (template ?? AGENT_TEMPLATES[name])?.read ?? readAnyFacts,
  };
}

/** The agents that settings describe; throws `CONFIG_INVALID` where they describe none. */
export function readAgentBook(agents: unknown): AgentBook {
  if (agents === undefined) return new AgentBook();
  if (!isFields(agents)) throw invalid("agents", "it must be an object");
  const { roles = {}, tellOverlap: _, ...rest } = agents;
  if (!isFields(roles) || !Object.values(roles).every((name) => typeof name === "string"))
    throw invalid("agents.roles", "it must be an object of names of agents");
  const settings = Object.entries(rest).map(([name, value]) => [name, readAgent(name, value)] as const);
  return new AgentBook(Object.fromEntries(settings), roles as Record<string, string>);
}

function readAgent(name: string, value: unknown): AgentSettings {
  if (!isFields(value)) throw invalid(`agents.${name}`, "it must be an object");
  const { command, args, env, endpoint, model } = value;
  if (endpoint !== undefined && !(isAddress(endpoint) && typeof model === "string" && model !== ""))
    throw invalid(`agents.${name}.endpoint`, "it must be an address, beside the name of a model");
  if (command !== undefined && (!isWords(command) || command.length === 0))
    throw invalid(`agents.${name}.command`, 'it must be a list of words such as ["claude", "-p"]');
  if (args !== undefined && !isWords(args))
    throw invalid(`agents.${name}.args`, "it must be a list of words");
  if (env !== undefined && !(isFields(env) && isWords(Object.values(env))))
    throw invalid(`agents.${name}.env`, "it must be an object of texts");
  return {
    ...(command !== undefined && { command }),
    ...(args !== undefined && { args }),
    ...(env !== undefined && { env: env as Record<string, string> }),
    ...(endpoint !== undefined && { endpoint: { url: String(endpoint), model: String(model) } }),
  };
}

function isAddress(value: unknown): boolean {
  return typeof value === "string" && /^https?:\/\/\S+$/.test(value);
}

function isWords(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((word) => typeof word === "string");
}

/** An error about a setting that cannot be used. */
export function invalid(key: string, reason: string): ContractError {
  return new ContractError("CONFIG_INVALID", `Setting ${key}: ${reason}. Nothing was started.`, {
    facts: { key, reason },
  });
}
