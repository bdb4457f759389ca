/** A host that writes down what it is asked, and the surroundings of one test. */
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { AgentHost } from "../src/handling/agent-host.ts";
import { runHook } from "../src/handling/run-hook.ts";

export interface Recorded {
  readonly call: string;
  readonly [fact: string]: unknown;
}

export class RecordingHost implements AgentHost<string> {
  readonly calls: Recorded[] = [];
  /** What the next message will be told. */
  notices: readonly string[] = [];
  isProtected = true;

  async openThread(request: { agent: string; externalId: string; cwd: string }): Promise<string | null> {
    if (!this.isProtected) return null;
    this.calls.push({ call: "openThread", ...request });
    return `${request.agent}/${request.externalId}`;
  }

  async message(message: object): Promise<{ notices: readonly string[] }> {
    this.calls.push({ call: "message", ...message });
    const notices = this.notices;
    this.notices = [];
    return { notices };
  }

  toolBefore = this.#record("toolBefore");
  toolAfter = this.#record("toolAfter");
  interrupted = this.#record("interrupted");
  agentStart = this.#record("agentStart");
  agentEnd = this.#record("agentEnd");
  turnEnd = this.#record("turnEnd");
  sessionEnd = async (thread: string): Promise<void> => {
    this.calls.push({ call: "sessionEnd", thread });
  };
  conversationRewound = this.#record("conversationRewound");
  trouble = this.#record("trouble");

  async command({ name, args }: { name: string; args: string }): Promise<string> {
    this.calls.push({ call: "command", name, args });
    return `did ${name} ${args}`;
  }

  /** The calls besides opening and closing threads, in short. */
  get story(): string[] {
    return this.calls.filter(({ call }) => call !== "openThread" && call !== "sessionEnd").map(tellCall);
  }

  #record(call: string) {
    return async (facts: object): Promise<void> => {
      this.calls.push({ call, ...facts });
    };
  }
}

function tellCall(recorded: Recorded): string {
  const { call, description, status, problem, toolUseId, name, args, messageId } = recorded;
  const about =
    description ?? problem ?? (call === "command" ? [name, args].join(" ") : (messageId ?? toolUseId));
  return [call, about, status].filter((part) => part !== undefined && part !== null).join(" | ");
}

export interface Stage {
  readonly home: string;
  readonly host: RecordingHost;
  /** Sends one event to `belay hook <agent>`; what it printed. */
  send(agent: string, payload: unknown, environment?: NodeJS.ProcessEnv): Promise<Record<string, unknown>>;
  /** What time it is, when that matters. */
  now: () => number;
}

export function setUpStage(): Stage {
  const home = temporaryDirectory();
  const host = new RecordingHost();
  const stage: Stage = {
    home,
    host,
    now: Date.now,
    async send(agent, payload, environment = {}) {
      const text = typeof payload === "string" ? payload : JSON.stringify(payload);
      const printed = await runHook({
        agent,
        input: [Buffer.from(text)],
        host,
        home,
        cwd: "/elsewhere",
        environment,
        now: stage.now,
      });
      return JSON.parse(printed) as Record<string, unknown>;
    },
  };
  return stage;
}

export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "belay-agents-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

type Fixture = Record<string, unknown>;

export function fixture(agent: string, name: string): Fixture {
  return JSON.parse(
    readFileSync(join(import.meta.dirname, "fixtures", agent, `${name}.json`), "utf8"),
  ) as Fixture;
}

export function fixtureNames(agent: string): string[] {
  return readdirSync(join(import.meta.dirname, "fixtures", agent)).map((name) => name.replace(/\.json$/, ""));
}

/** An opencode fixture as the plugin would send it. */
export function fromOpencode(name: string, directory = "/home/you/project"): Fixture {
  const recorded = fixture("opencode", name);
  if (name.startsWith("event-")) {
    const { type, properties, id } = recorded;
    return { belay_event: type, directory, input: properties, id };
  }
  const [event] = /^[a-z]+\.[a-z]+(\.before|\.after)?/.exec(name)!;
  return { belay_event: event, directory, input: recorded["i"], output: recorded["o"] };
}
