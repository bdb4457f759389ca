/** One request to Codex through its app server: JSON-RPC in lines over stdio. */
import { objectOf, parsePayload, textOf, type Payload } from "../events/payload.ts";
import { withProgram } from "./agent-program.ts";

/** One request to `codex app-server`. */
export interface CodexQuestion {
  readonly method: string;
  readonly params: Payload;
  readonly cwd: string;
  readonly environment: NodeJS.ProcessEnv;
}

const DEADLINE_MS = 30_000;
const CLIENT = { name: "belay", title: "Belay", version: "0.1.0" };

/** The result; throws Codex's error, or that it is not installed. */
export async function askCodex({ method, params, cwd, environment }: CodexQuestion): Promise<Payload> {
  const program = { command: ["codex", "app-server"], cwd, environment, deadlineMs: DEADLINE_MS };
  return withProgram(program, async ({ write, lines }) => {
    const send = (message: Payload) => write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    send({ id: 1, method: "initialize", params: { clientInfo: CLIENT } });
    for await (const line of lines) {
      const answer = parsePayload(line) ?? {};
      if (answer["error"] !== undefined) throw new Error(errorText(answer));
      if (answer["id"] === 1) {
        send({ method: "initialized" });
        send({ id: 2, method, params });
      }
      if (answer["id"] === 2) return objectOf(answer, "result");
    }
    throw new Error("codex app-server ended without an answer");
  });
}

function errorText(answer: Payload): string {
  return textOf(objectOf(answer, "error"), "message") ?? "it answered with an error";
}
