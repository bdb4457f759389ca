/** Stands between a supervisor and the tools that change files. */
import { CheckpointManager, type AboutTool } from "./session-checkpoints.ts";
import { sessionThread, type Session } from "./checkpoint.ts";

const DESTRUCTIVE: ReadonlySet<string> = new Set(["Edit", "Write", "Bash", "NotebookEdit"]);
const LONGEST = 120;

/** Takes a checkpoint before each tool that can change files. */
export class CheckpointInterceptor {
  readonly #manager: CheckpointManager;
  /** The call that runs in each session: a session's tools run one after another. */
  readonly #running = new Map<string, string>();
  #calls = 0;

  constructor(manager: CheckpointManager = new CheckpointManager()) {
    this.#manager = manager;
  }

  /** Call before a tool runs. The checkpoint opens a step, so that `belay undo` takes out what the tool does. */
  async beforeToolExecution(session: Session, tool: string, input: unknown): Promise<void> {
    if (!DESTRUCTIVE.has(tool) || !this.#manager.isAutomatic) return;
    this.#end(session);
    const { affectedPaths, summary } = about(tool, input);
    const { root } = this.#manager;
    const { workspace } = root;
    this.#calls += 1;
    const toolUseId = idIn(input) ?? `${session.id}-${process.pid}-${this.#calls}`;
    const paths = affectedPaths.flatMap((path) => root.inside(path) || []);
    workspace.turns.beginTool(sessionThread(workspace, session.id), {
      tool,
      toolUseId,
      paths,
      nature: tool === "Bash" ? "command" : "edit",
      ...(summary !== undefined && { summary }),
    });
    this.#running.set(session.id, toolUseId);
  }

  /** Call after the tool: what it changed is its own, and what people change later is not. */
  async afterToolExecution(session: Session, tool: string, _input: unknown): Promise<void> {
    if (DESTRUCTIVE.has(tool)) this.#end(session);
  }

  #end(session: Session): void {
    const toolUseId = this.#running.get(session.id);
    if (toolUseId === undefined) return;
    this.#running.delete(session.id);
    const { workspace } = this.#manager.root;
    workspace.turns.endTool(sessionThread(workspace, session.id), { toolUseId });
  }
}

/** What a tool will do, as its input says. What a command changes is captured anyway; its paths only describe it. */
function about(
  tool: string,
  input: unknown,
): Pick<AboutTool, "affectedPaths"> & { summary: string | undefined } {
  const { file_path: file, notebook_path: notebook, command } = (input ?? {}) as Record<string, unknown>;
  const path = tool === "NotebookEdit" ? notebook : file;
  if (tool !== "Bash")
    return { affectedPaths: typeof path === "string" ? [path] : [], summary: asText(path) };
  return { affectedPaths: [], summary: asText(command) };
}

function asText(value: unknown): string | undefined {
  if (typeof value !== "string" || value.trim() === "") return undefined;
  const line = value.trim().replaceAll(/\s+/g, " ");
  return line.length > LONGEST ? `${line.slice(0, LONGEST - 1)}…` : line;
}

function idIn(input: unknown): string | undefined {
  const { tool_use_id: id, toolUseId } = (input ?? {}) as Record<string, unknown>;
  const found = id ?? toolUseId;
  return typeof found === "string" && found !== "" ? found : undefined;
}
