/**
 * A coding agent as Belay sees it: a process of its own that runs the hook command with events in the form that the
 * real agent sends. It can be killed; it can be interrupted, of which Claude Code says nothing, and writes it
 * into its transcript.
 */
import assert from "node:assert/strict";
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

const FIXTURES = join(import.meta.dirname, "../../packages/agents/test/fixtures");
/** Each line of the input is an event, whose hook a shell runs, as in most agents; or about a command of a tool. */
const CLIENT = `while IFS= read -r line; do
  case $line in
    start) sleep 100000 >/dev/null 2>&1 & echo "$!" ;;
    end*) kill -9 "\${line#end }"; wait "\${line#end }" ;;
    *) printf '%s' "$line" | /bin/sh -c "$HOOK"; echo ;;
  esac 2>/dev/null
  echo "$DONE"
done`;
const DONE = "-- the hook has ended --";

export type AgentName = "claude-code" | "codex" | "gemini-cli";

export interface ToolCall {
  readonly id: string;
  readonly command: string;
  /** The path that the input names; undefined for a shell command. */
  readonly path: string | undefined;
  readonly isBackground: boolean;
}

export interface ClientPlace {
  /** A bash by another name: a shell is not taken for an agent. */
  readonly program: string;
  readonly project: string;
  readonly environment: NodeJS.ProcessEnv;
  /** The command line of the hook, without the agent's name. */
  readonly hook: string;
}

type Fields = Readonly<Record<string, unknown>>;

export class AgentClient {
  readonly agent: AgentName;
  readonly session: string;
  readonly #place: ClientPlace;
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;
  readonly #transcript: string;
  /** The processes of shell commands, by the id of their call. */
  readonly #commands = new Map<string, number>();
  #turnId = "";

  constructor(agent: AgentName, session: string, place: ClientPlace) {
    [this.agent, this.session, this.#place] = [agent, session, place];
    this.#transcript = `${place.project}.${session}.jsonl`;
    this.#process = spawn(place.program, ["--norc", "-c", CLIENT], {
      cwd: place.project,
      env: { ...place.environment, ...OWN_ENVIRONMENT[agent], HOOK: `${place.hook} ${agent}`, DONE },
    });
    this.#process.stderr.pipe(process.stderr, { end: false });
    this.#lines = createInterface(this.#process.stdout)[Symbol.asyncIterator]();
  }

  async start(): Promise<void> {
    await this.#send("SessionStart.startup", {});
  }

  async prompt(text: string, id: string): Promise<void> {
    this.#turnId = id;
    await this.#send("UserPromptSubmit", { prompt: text });
  }

  /** A tool begins: a shell command is a process that runs until its end is reported, or Esc. */
  async before(call: ToolCall): Promise<void> {
    await this.#send(this.#toolEvent("PreToolUse", call), this.#toolFields(call));
    if (call.path === undefined) this.#commands.set(call.id, Number(await this.#tell("start")));
  }

  async after(call: ToolCall): Promise<void> {
    if (!call.isBackground) await this.endCommand(call);
    const name = this.#toolEvent("PostToolUse", call);
    await this.#send(name, this.#toolFields(call), (recorded) =>
      call.isBackground
        ? { tool_response: { ...(recorded["tool_response"] as Fields), backgroundTaskId: `b-${call.id}` } }
        : {},
    );
  }

  /** The command of a tool ends, and no event reports it. */
  async endCommand({ id }: ToolCall): Promise<void> {
    const command = this.#commands.get(id);
    if (command === undefined) return;
    this.#commands.delete(id);
    await this.#tell(`end ${command}`);
  }

  async stop(text: string, background: readonly ToolCall[]): Promise<void> {
    const tasks = background.map(({ id, command }) => ({
      id: `b-${id}`,
      type: "shell",
      status: "running",
      description: command,
      command,
    }));
    await this.#send("Stop", {
      last_assistant_message: text,
      prompt_response: text,
      ...(this.agent === "claude-code" && { background_tasks: tasks }),
    });
  }

  /** Esc: the foreground command ends. Codex reports that; Claude Code only records it. */
  async interrupt(calls: readonly ToolCall[]): Promise<void> {
    for (const call of calls) await this.endCommand(call);
    if (this.agent === "codex") await this.#send("Stop", { hook_event_name: "Interrupt" });
    if (this.agent !== "claude-code") return;
    const entry = {
      type: "user",
      uuid: `u-${Date.now()}-${Math.random()}`,
      sessionId: this.session,
      promptId: this.#turnId,
      timestamp: new Date().toISOString(),
      cwd: this.#place.project,
      message: {
        role: "user",
        content: [{ type: "text", text: "[Request interrupted by user for tool use]" }],
      },
    };
    appendFileSync(this.#transcript, `${JSON.stringify(entry)}\n`);
  }

  async end(): Promise<void> {
    await this.#send("SessionEnd", {});
    await this.kill();
  }

  /** Kills the client, as closing the terminal or running out of memory would. */
  async kill(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.#gone();
    for (const command of this.#commands.values()) process.kill(command, "SIGKILL");
    this.#commands.clear();
  }

  async #gone(): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null)
      await once(this.#process, "exit");
  }

  #toolEvent(name: string, { path }: ToolCall): string {
    return `${name}.${path === undefined ? SHELL[this.agent] : EDITOR[this.agent]}`;
  }

  #toolFields({ id, command, path, isBackground }: ToolCall): Fields {
    return {
      ...(this.agent !== "gemini-cli" && { tool_use_id: id }),
      tool_input:
        path === undefined
          ? { command, description: command, ...(isBackground && { run_in_background: true }) }
          : this.agent === "codex"
            ? { command: `*** Begin Patch\n*** Update File: ${path}\n+${command}\n*** End Patch` }
            : { file_path: join(this.#place.project, path), content: command },
    };
  }

  async #send(name: string, fields: Fields, more: (recorded: Fields) => Fields = () => ({})): Promise<void> {
    const recorded = recordedEvent(this.agent, name);
    const event = {
      ...recorded,
      ...("timestamp" in recorded && { timestamp: new Date().toISOString() }),
      session_id: this.session,
      transcript_path: this.#transcript,
      cwd: this.#place.project,
      ...("prompt_id" in recorded && { prompt_id: this.#turnId }),
      ...("turn_id" in recorded && { turn_id: this.#turnId }),
      ...known(fields, recorded),
      ...more(recorded),
    };
    await this.#tell(JSON.stringify(event));
  }

  /** Sends one line and returns what the client prints for it. */
  async #tell(text: string): Promise<string> {
    this.#process.stdin.write(`${text}\n`);
    for (let said = ""; ;) {
      const line = await this.#lines.next();
      assert.ok(line.done !== true, "the client ended at its work");
      if (line.value === DONE) return said;
      said += line.value;
    }
  }
}

const SHELL = { "claude-code": "Bash", codex: "Bash", "gemini-cli": "run_shell_command" } as const;
const EDITOR = { "claude-code": "Write", codex: "apply_patch", "gemini-cli": "write_file" } as const;
const OWN_ENVIRONMENT = {
  "claude-code": { CLAUDECODE: "1" },
  codex: {},
  "gemini-cli": { GEMINI_SESSION_ID: "stub" },
} as const;
/** Its names for the same events. */
const GEMINI: Readonly<Record<string, string>> = {
  UserPromptSubmit: "BeforeAgent",
  PreToolUse: "BeforeTool",
  PostToolUse: "AfterTool",
  Stop: "AfterAgent",
};

const recordings = new Map<string, Fields>();

function recordedEvent(agent: AgentName, name: string): Fields {
  const [event, ...rest] = name.split(".");
  const own = agent === "gemini-cli" ? [GEMINI[event!] ?? event, ...rest].join(".") : name;
  const file = agent === "codex" && event === "SessionStart" ? event : own;
  const path = join(FIXTURES, agent, `${file}.json`);
  const recorded = recordings.get(path) ?? (JSON.parse(readFileSync(path, "utf8")) as Fields);
  recordings.set(path, recorded);
  return recorded;
}

/** Fields that this agent does not have are left out. */
function known(fields: Fields, recorded: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => name in recorded));
}
