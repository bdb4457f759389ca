/**
 * For authors of agents: a checkpoint before each tool that may change files, and a way back. Works with
 * tools that have an `execute` (the Vercel AI SDK and many others) and as hooks of the Claude Agent SDK; both
 * are recognised by their shape alone. A checkpoint that fails does not fail the tool unless `required` is
 * set.
 */
import { isAbsolute, relative, sep } from "node:path";
import { describeTool } from "../events/describe.ts";
import { isObject, textOf } from "../events/payload.ts";
import { toolUse } from "../events/tool-use.ts";

/** The part of a workspace that is needed here; the engine's fits. */
export interface Checkpointer<Restored = unknown> {
  /** Its root: paths that a tool names are passed relative to it, and captured even if they are ignored. */
  readonly root?: string;
  checkpoint(request: {
    readonly kind: "tool";
    readonly phase: "before" | "after";
    readonly tool: string;
    readonly toolUseId: string;
    readonly description: string;
    readonly paths: readonly string[];
  }): Promise<{ readonly id: string }>;
  restoreTo(checkpoint: string): Promise<Restored>;
}

/** How checkpoints around tools are taken. */
export interface CheckpointingOptions {
  /** Which tools change files; by default, all that are not known to leave them alone. */
  readonly mutates?: (tool: string, input: unknown) => boolean;
  /** Also after each tool. */
  readonly after?: boolean;
  /** A tool does not run unless its checkpoint was taken. */
  readonly required?: boolean;
  readonly onTrouble?: (error: unknown, tool: string) => void;
}

interface Executable {
  execute?: unknown;
}

/** One hook of the Claude Agent SDK, as its `options.hooks` wants it. */
export interface SdkHook {
  hooks: ((input: unknown, toolUseId: string | undefined) => Promise<Record<string, never>>)[];
}

/** Checkpoints around an agent's tools. */
export interface Checkpointing<Restored> {
  /** The same tools, each taking a checkpoint before it runs. */
  wrapTools<Tools extends Readonly<Record<string, object>>>(tools: Tools): Tools;
  /** For `options.hooks` of the Claude Agent SDK. */
  readonly hooks: { PreToolUse: SdkHook[]; PostToolUse: SdkHook[]; PostToolUseFailure: SdkHook[] };
  /** The checkpoint before a call; without an id, before the last one. */
  checkpointBefore(toolUseId?: string): string | undefined;
  /** Puts the files back to before a call, or before the last one. */
  rollback(toolUseId?: string): Promise<Restored>;
}

/** How many calls are remembered for `rollback`; older ones are found by their tool-use id in the workspace. */
const REMEMBERED = 1000;

/** Takes checkpoints around the tools of an agent of one's own. */
export function checkpointing<Restored>(
  workspace: Checkpointer<Restored>,
  options: CheckpointingOptions = {},
): Checkpointing<Restored> {
  const taker = new Taker(workspace, options);
  const after = options.after === true ? [taker.hook("after")] : [];
  return {
    wrapTools: (tools) =>
      Object.fromEntries(
        Object.entries(tools).map(([name, tool]) => [name, taker.wrap(name, tool)]),
      ) as typeof tools,
    hooks: { PreToolUse: [taker.hook("before")], PostToolUse: after, PostToolUseFailure: after },
    checkpointBefore: (toolUseId) => taker.before(toolUseId),
    async rollback(toolUseId) {
      const checkpoint = taker.before(toolUseId) ?? toolUseId;
      if (checkpoint === undefined) throw new Error("No tool has taken a checkpoint yet.");
      return workspace.restoreTo(checkpoint);
    },
  };
}

type Phase = "before" | "after";

/** Takes the checkpoints and remembers which was before which call. */
class Taker {
  readonly #workspace: Checkpointer;
  readonly #options: CheckpointingOptions;
  readonly #before = new Map<string, string>();
  #unnamed = 0;

  constructor(workspace: Checkpointer, options: CheckpointingOptions) {
    this.#workspace = workspace;
    this.#options = options;
  }

  before(toolUseId: string | undefined): string | undefined {
    return toolUseId === undefined ? [...this.#before.values()].at(-1) : this.#before.get(toolUseId);
  }

  wrap(name: string, tool: object): object {
    const { execute } = tool as Executable;
    if (typeof execute !== "function") return tool;
    const take = async (phase: Phase, call: Call) => this.#take(phase, name, call);
    const nameCall = (context: unknown) => callId(context) ?? this.#inventId(name);
    const isFollowed = this.#options.after === true;
    const wrapped = async function (this: unknown, input: unknown, ...rest: unknown[]): Promise<unknown> {
      const call = { input, id: nameCall(rest[0]) };
      await take("before", call);
      try {
        return (await execute.call(this, input, ...rest)) as unknown;
      } finally {
        if (isFollowed) await take("after", call);
      }
    };
    // Everything else of the tool stays: a class with a prototype, symbols, getters.
    return Object.create(tool, { execute: { value: wrapped, enumerable: true, writable: true } }) as object;
  }

  hook(phase: Phase): SdkHook {
    const take = async (input: unknown, toolUseId: string | undefined): Promise<Record<string, never>> => {
      const payload = isObject(input) ? input : {};
      const tool = textOf(payload, "tool_name") ?? "tool";
      const id = toolUseId ?? textOf(payload, "tool_use_id") ?? this.#inventId(tool);
      await this.#take(phase, tool, { input: payload["tool_input"], id });
      return {};
    };
    return { hooks: [take] };
  }

  async #take(phase: Phase, tool: string, call: Call): Promise<void> {
    const input = isObject(call.input) ? call.input : {};
    const use = toolUse({ tool, input, toolUseId: call.id, cwd: this.#workspace.root ?? null });
    if (!(this.#options.mutates?.(tool, call.input) ?? use.mutates)) return;
    const description = describeTool(phase === "before" ? "Before" : "After", use);
    try {
      const paths = pathsInside(this.#workspace.root, use.paths);
      const request = { kind: "tool", phase, tool, toolUseId: call.id, description, paths } as const;
      const taken = await this.#workspace.checkpoint(request);
      if (phase === "before") this.#remember(call.id, taken.id);
    } catch (error) {
      if (this.#options.required === true && phase === "before") throw error;
      this.#options.onTrouble?.(error, tool);
    }
  }

  #remember(id: string, checkpoint: string): void {
    this.#before.delete(id);
    this.#before.set(id, checkpoint);
    if (this.#before.size > REMEMBERED) this.#before.delete(this.#before.keys().next().value!);
  }

  #inventId(tool: string): string {
    this.#unnamed += 1;
    return `${tool}-${this.#unnamed}`;
  }
}

/** `checkpointing(…).wrapTools(…)`, when nothing else of it is needed. */
export function wrapTools<Tools extends Readonly<Record<string, object>>>(
  tools: Tools,
  workspace: Checkpointer,
  options?: CheckpointingOptions,
): Tools {
  return checkpointing(workspace, options).wrapTools(tools);
}

interface Call {
  readonly input: unknown;
  readonly id: string;
}

/** The AI SDK hands its tools `{ toolCallId, … }` as their second argument. */
function callId(context: unknown): string | null {
  return isObject(context) ? textOf(context, "toolCallId", "toolUseId", "callId") : null;
}

function pathsInside(root: string | undefined, paths: readonly string[]): string[] {
  if (root === undefined) return [];
  return paths
    .map((path) => relative(root, path))
    .filter((path) => path !== "" && path !== ".." && !path.startsWith(`..${sep}`) && !isAbsolute(path));
}
