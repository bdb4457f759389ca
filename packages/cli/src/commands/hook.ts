import { readSync, writeSync } from "node:fs";
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
    writeSync(1, answer);
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

/**
 * Reads to the end, so that the agent can write it; of a giant only the beginning and the end are kept. In one go and
 * without a stream, which would take longer to set up than the event to read.
 */
async function readAll(): Promise<Buffer> {
  const kept = new KeptInput();
  const piece = Buffer.allocUnsafe(64 * 1024);
  try {
    for (let size = 0; (size = readSync(0, piece)) > 0;) kept.add(piece.subarray(0, size));
  } catch (error) {
    // nobody has written yet, and the input was made not to wait
    if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
    for await (const more of process.stdin as AsyncIterable<Buffer>) kept.add(more);
  }
  return kept.bytes();
}

class KeptInput {
  readonly #pieces: Buffer[] = [];
  #end = Buffer.alloc(0);
  #size = 0;

  add(piece: Buffer): void {
    this.#size += piece.length;
    if (this.#size <= KEPT_BYTES) this.#pieces.push(Buffer.from(piece));
    else this.#end = Buffer.concat([this.#end, piece]).subarray(-KEPT_END_BYTES);
  }

  bytes(): Buffer {
    return Buffer.concat([...this.#pieces, this.#end]);
  }
}

const KEPT_BYTES = 17 * 1024 * 1024;
const KEPT_END_BYTES = 64 * 1024;
