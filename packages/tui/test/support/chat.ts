/** A chat over a served project: what is typed, what is shown, what is answered. */
import { BelayClient } from "@belay/protocol/client";
import { ServedProject } from "../../../server/test/support/served-project.ts";
import {
  runCheckpointCommand,
  type CommandContext,
  type CommandResult,
} from "../../src/slash-commands/index.ts";

/** A client over HTTP. */
function clientOf(project: ServedProject): BelayClient {
  return new BelayClient(async ({ method, path, body }) => {
    const headers = { authorization: `Bearer ${project.token}`, "content-type": "application/json" };
    const answer = await fetch(project.url + path, { method, headers, ...(body !== undefined && { body }) });
    return { status: answer.status, body: await answer.text() };
  });
}

/** A chat in its own thread. */
export class Chat implements AsyncDisposable {
  readonly project: ServedProject;
  readonly client: BelayClient;
  readonly thread: string;
  /** What was shown, piece by piece. */
  shown: string[] = [];
  /** The questions that were asked. */
  asked: string[] = [];
  readonly #answers: string[] = [];

  static async start(files: Readonly<Record<string, string>>): Promise<Chat> {
    const project = await ServedProject.start(files);
    const { thread } = await project.ok("POST", "/api/threads", { agent: "chat", externalId: "chat-1" });
    return new Chat(project, thread.id);
  }

  private constructor(project: ServedProject, thread: string) {
    this.project = project;
    this.client = clientOf(project);
    this.thread = thread;
  }

  /** A whole turn: a prompt, one tool that does the work, a stop. Returns the checkpoint before it. */
  async turn(
    prompt: string,
    work: () => void,
    agent = "chat",
  ): Promise<{ id: string; seq: number; thread: string }> {
    const { project } = this;
    const { thread } = await project.ok("POST", "/api/threads", { agent, externalId: `${agent}-1` });
    const at = `/api/threads/${thread.id}`;
    const { checkpoint } = await project.ok("POST", `${at}/messages`, { content: prompt });
    const tool = { tool: "Bash", toolUseId: checkpoint.id };
    await project.ok("POST", `${at}/tools`, { phase: "before", ...tool });
    work();
    await project.ok("POST", `${at}/tools`, { phase: "after", ...tool });
    await project.ok("POST", `${at}/stop`, {});
    return { id: checkpoint.id, seq: checkpoint.seq, thread: thread.id };
  }

  /** Types a line; the answers are given to its questions in turn, then Enter alone. */
  async type(
    line: string | string[],
    answers: readonly string[] = [],
    more: Partial<CommandContext> = {},
  ): Promise<CommandResult> {
    this.shown = [];
    this.asked = [];
    this.#answers.splice(0, Infinity, ...answers);
    return runCheckpointCommand(line, {
      client: this.client,
      thread: this.thread,
      write: (text) => void this.shown.push(text),
      ask: (question) => {
        this.asked.push(question);
        return Promise.resolve(this.#answers.shift() ?? "");
      },
      ...more,
    });
  }

  get text(): string {
    return this.shown.join("\n");
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.project[Symbol.asyncDispose]();
  }
}
