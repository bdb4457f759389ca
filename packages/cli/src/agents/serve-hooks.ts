/** Hook events for the resident process: it already knows the files, the threads and the adapters. */
import { once } from "node:events";
import { runHook } from "@belay/agents/hook";
import { answeredAfterAll } from "@belay/agents/late-answer";
import type { Extension, WorkspaceHost } from "@belay/server";
import { EXIT } from "@belay/protocol/errors";
import type { HookEvent } from "./run-hook.ts";
import { createAgentHost, worktreeToProtect, type OpenWorkspace } from "./workspace-agent-host.ts";

export function serveHooks(home: string): Extension {
  return (app, host) => {
    const deliveries = new Deliveries();
    const run = async (event: Omit<HookEvent, "wait"> & Partial<Pick<HookEvent, "wait">>) => {
      const id = event.wait?.id;
      const work = () =>
        runHook({ ...event, input: [event.input], home, host: createAgentHost(opener(host, home), home) });
      if (id === undefined) return work();
      const { answer, isFirst } = deliveries.once(id, work);
      const text = await answer;
      // whoever delivered it again may have left meanwhile, with a note that it is still to be done
      if (!isFirst) answeredAfterAll(home, { ...event, id });
      return text;
    };
    app.post("/api/hooks/:agent", async (context) => {
      const { input, ...rest } = await context.req.json<{
        input: string;
        cwd: string;
        environment: NodeJS.ProcessEnv;
        wait?: HookEvent["wait"];
      }>();
      const agent = context.req.param("agent");
      return context.json({ answer: await run({ ...rest, agent, input: Buffer.from(input, "utf8") }) });
    });
    // the event as the agent gave it, from the hook's script
    app.post("/api/hooks/:agent/event", async (context) => {
      const { req } = context;
      const answer = await run({
        agent: req.param("agent"),
        input: Buffer.from(await req.arrayBuffer()),
        cwd: req.header("x-belay-cwd") ?? "",
        environment: parseVariables(req.header("x-belay-environment") ?? ""),
        ...waitOf(req.header("x-belay-wait") ?? ""),
      });
      return context.body(answer);
    });
  };
}

/** A script that lost patience hands its event to `belay hook`, which delivers it again: it is carried out once. */
class Deliveries {
  readonly #answers = new Map<string, Promise<string>>();

  once(id: string, work: () => Promise<string>): { answer: Promise<string>; isFirst: boolean } {
    const known = this.#answers.get(id);
    if (known !== undefined) return { answer: known, isFirst: false };
    const answer = work();
    this.#answers.set(id, answer);
    setTimeout(() => this.#answers.delete(id), REMEMBERED_MS).unref();
    return { answer, isFirst: true };
  }
}

const REMEMBERED_MS = 60_000;

/** `NAME=value`, with a tab behind each. */
function parseVariables(text: string): NodeJS.ProcessEnv {
  const pairs = text.split("\t").filter((pair) => pair.includes("="));
  return Object.fromEntries(
    pairs.map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]),
  );
}

/** The script names an event by when it began, and does not wait a second for it. */
const WAIT_MS = 850;

function waitOf(id: string): Partial<Pick<HookEvent, "wait">> {
  const began = /^(\d{13})-\d+$/.exec(id)?.[1];
  return began === undefined ? {} : { wait: { id, deadline: Number(began) + WAIT_MS } };
}

function opener(host: WorkspaceHost, home: string): OpenWorkspace {
  return async (directory) => {
    try {
      return await host.find(directory);
    } catch (error) {
      if ((error as { code?: string }).code !== "WORKSPACE_NOT_FOUND") throw error;
      const worktree = await worktreeToProtect(directory, { home, notFound: error });
      if (worktree === undefined) return null;
      await protectInOwnProcess(worktree, home);
      return host.find(worktree);
    }
  };
}

/** A first capture reads everything in one go: in this process everybody else would wait for it. */
async function protectInOwnProcess(directory: string, home: string): Promise<void> {
  const { spawn } = process.getBuiltinModule("node:child_process");
  const command = ["--home", home, "-C", directory, "init", "--nested", "--no-agents", "--yes", "--json"];
  const child = spawn(process.execPath, [process.argv[1]!, ...command], {
    stdio: ["ignore", "ignore", "ignore"],
    env: { ...process.env, BELAY_RESIDENT: "off" },
  });
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== EXIT.done) throw new Error(`${directory} could not be protected (exit ${code})`);
}
