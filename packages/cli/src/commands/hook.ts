import type { HookEvent } from "../agents/run-hook.ts";
import { defineCommand } from "../command.ts";
import { EXIT } from "../exit-code.ts";

/** More than this goes the slow way: the resident process takes bodies of a mebibyte. */
const MOST_BYTES = 800_000;
/** What adapters look at to tell agents apart. */
const ENVIRONMENT = /^(?:CLAUDE|CODEX|GEMINI|QWEN|CURSOR|COPILOT|OPENCODE|BELAY)/;

export default defineCommand({
  usage: "hook <agent>",
  about: [
    "One event of an agent's hook on standard input; its answer on standard output. Agents call this through",
    "$BELAY_HOME/bin/belay-hook. It never fails: what goes wrong is in `belay doctor`.",
  ].join("\n"),
  options: {},
  operands: { min: 1, max: 1 },
  run: async (call) => {
    const agent = call.operands[0]!;
    const input = await readAll();
    const environment = Object.fromEntries(
      Object.entries(process.env).filter(([name]) => ENVIRONMENT.test(name)),
    );
    const event = { agent, input, cwd: call.directory, environment };
    const answer = (await askResidentHook(call.home, event)) ?? (await alone(call.home, event));
    await call.output.raw(answer);
    return EXIT.done;
  },
});

async function askResidentHook(
  home: string,
  { agent, input, cwd, environment }: HookEvent,
): Promise<string | undefined> {
  if (input.length > MOST_BYTES) return undefined;
  const { askResident } = await import("../resident/ask-resident.ts");
  const body = JSON.stringify({ input: input.toString("utf8"), cwd, environment });
  const path = `/api/hooks/${encodeURIComponent(agent)}`;
  const said = await askResident(home, (client) => client.send({ method: "POST", path, body }));
  return (said as { answer?: string } | undefined)?.answer;
}

async function alone(home: string, event: HookEvent): Promise<string> {
  const { runHookAlone } = await import("../agents/run-hook.ts");
  return runHookAlone(home, event);
}

/** Reads to the end, so that the agent can write it; of a giant only the beginning and the end are kept. */
async function readAll(): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let end = Buffer.alloc(0);
  let size = 0;
  for await (const piece of process.stdin as AsyncIterable<Buffer>) {
    size += piece.length;
    if (size <= KEPT_BYTES) pieces.push(piece);
    else end = Buffer.concat([end, piece]).subarray(-KEPT_END_BYTES);
  }
  return Buffer.concat([...pieces, end]);
}

const KEPT_BYTES = 17 * 1024 * 1024;
const KEPT_END_BYTES = 64 * 1024;
