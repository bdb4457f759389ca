/**
 * Events of agents' hooks. An agent waits for each of them, so they are served before the application: no
 * framework, and a short answer. The `HookService`, which the process gets at its start, knows what an event
 * means.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { BODY_LIMIT_BYTES } from "./guard.ts";
import type { Listener } from "./listen.ts";

/** One event as a hook delivers it. */
export interface DeliveredEvent {
  /** The agent named in the hook's command line. */
  readonly agent: string;
  /** What the agent wrote to its hook. */
  readonly input: Buffer;
  /** The hook's own directory. */
  readonly cwd: string;
  /** The hook's variables by which agents are told apart. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The hook's name for the event, and when the hook stops waiting; `belay-hook` names its event only. */
  readonly wait?: { readonly id: string; readonly deadline?: number };
}

/** Carries out hook events: what the server knows of agents. */
export interface HookService {
  /** What the hook must print. Never rejects because of anything the agent sent. */
  answer(event: DeliveredEvent): Promise<string>;
}

const PATH = /^\/api\/hooks\/([a-z-]+)(\/event)?$/;

/** A listener that serves hook events itself and passes on everything else. */
export function withHooks(service: HookService, next: Listener): Listener {
  return (request, response) => {
    const [, agent, isPlain] = (request.method === "POST" && PATH.exec(request.url ?? "")) || [];
    if (agent === undefined) return next(request, response);
    void serve(service, { agent, isPlain: isPlain !== undefined, request }, response);
  };
}

interface HookRequest {
  readonly agent: string;
  /** The body is the event itself, as `belay-hook` sends it. */
  readonly isPlain: boolean;
  readonly request: IncomingMessage;
}

async function serve(service: HookService, hook: HookRequest, response: ServerResponse): Promise<void> {
  try {
    const body = await readBody(hook.request);
    const event = hook.isPlain ? plainEvent(hook, body) : packedEvent(hook, body);
    if (event === undefined) return end(response, 400, "");
    const answer = await service.answer(event);
    end(response, 200, hook.isPlain ? answer : JSON.stringify({ answer }));
  } catch {
    // the hook falls back to `belay hook`, which reports what is wrong
    end(response, 500, "");
  }
}

function end(response: ServerResponse, status: number, text: string): void {
  response.sendDate = false;
  response.writeHead(status, { "content-length": Buffer.byteLength(text) }).end(text);
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    size += piece.length;
    if (size > BODY_LIMIT_BYTES) throw new Error("the body is too large");
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/** From `belay-hook`: everything but the event is in headers, so the event is sent as it came. */
function plainEvent({ agent, request }: HookRequest, input: Buffer): DeliveredEvent {
  const header = (name: string) => String(request.headers[name] ?? "");
  const id = header("x-belay-wait");
  return {
    agent,
    input,
    cwd: header("x-belay-cwd"),
    environment: parseVariables(header("x-belay-environment")),
    ...(id !== "" && { wait: { id } }),
  };
}

/** `NAME=value`, each followed by a tab. */
function parseVariables(text: string): Record<string, string> {
  const pairs = text.split("\t").filter((pair) => pair.includes("="));
  return Object.fromEntries(
    pairs.map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]),
  );
}

/** From `belay hook` and opencode's plugin, over the private socket. */
function packedEvent({ agent }: HookRequest, body: Buffer): DeliveredEvent | undefined {
  const { input, ...rest } = JSON.parse(body.toString("utf8")) as Omit<DeliveredEvent, "input" | "agent"> & {
    readonly input: unknown;
  };
  return typeof input === "string" ? { ...rest, agent, input: Buffer.from(input, "utf8") } : undefined;
}
