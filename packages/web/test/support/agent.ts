/** Agents at work, as their hooks report them. */
import type { ServedProject } from "../../../server/test/support/served-project.ts";

let calls = 0;
/** As many as a tool call may name. */
const MOST_PATHS = 1000;

/** An agent in a thread of its own. */
export class Agent {
  readonly #project: ServedProject;
  readonly id: string;

  private constructor(project: ServedProject, id: string) {
    this.#project = project;
    this.id = id;
  }

  static async start(
    project: ServedProject,
    agent = "claude-code",
    title = "Payment retries",
  ): Promise<Agent> {
    const { thread } = await project.ok("POST", "/api/threads", { agent, title });
    return new Agent(project, thread.id);
  }

  async prompt(content: string): Promise<void> {
    await this.#project.ok("POST", `/api/threads/${this.id}/messages`, { content });
  }

  /** One tool call that writes or, with null, deletes files. */
  async writes(files: Readonly<Record<string, string | null>>, tool = "Edit"): Promise<void> {
    const toolUseId = `call-${(calls += 1)}`;
    const at = `/api/threads/${this.id}/tools`;
    const paths = Object.keys(files).slice(0, MOST_PATHS);
    await this.#project.ok("POST", at, { phase: "before", tool, toolUseId, paths, description: paths[0] });
    for (const [path, text] of Object.entries(files)) {
      if (text === null) this.#project.remove(path);
      else this.#project.write(path, text);
    }
    await this.#project.ok("POST", at, { phase: "after", tool, toolUseId });
  }

  async stop(): Promise<void> {
    await this.#project.ok("POST", `/api/threads/${this.id}/stop`, {});
  }

  /** A whole turn. */
  async turn(prompt: string, ...edits: Readonly<Record<string, string | null>>[]): Promise<void> {
    await this.prompt(prompt);
    for (const files of edits) await this.writes(files);
    await this.stop();
  }
}
