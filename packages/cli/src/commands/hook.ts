import { fstatSync, readSync, writeSync } from "node:fs";
import { isAnswer, NEUTRAL_ANSWER } from "@belay/agents/answer-form";
import { CLIENT_VARIABLE, findClient } from "@belay/agents/client";
import { answerInTime } from "../agents/answer-in-time.ts";
import { HOOK_ENVIRONMENT } from "../agents/hook-environment.ts";
import { defineCommand } from "../call/command.ts";
import { EXIT, usageError } from "@belay/protocol/errors";
import { startAwaitedResident } from "../resident/ask-resident.ts";

export default defineCommand({
  usage: "hook <agent>",
  about: [
    "Handles one event of an agent's hook: event on standard input, answer on standard output. Agents call this through",
    "$BELAY_HOME/bin/belay-hook. It never fails: what goes wrong is in `belay doctor`.",
  ].join("\n"),
  options: {},
  operands: { min: 0, max: 1 },
  exits: {
    0: "whatever happened: what goes wrong is in `belay doctor`",
    1: null,
    2: "no agent was named",
    4: null,
    5: null,
    7: null,
  },
  run: async (call) => {
    if (isTerminal()) {
      call.output.warn(FOR_AGENTS);
      return EXIT.done;
    }
    const [agent] = call.operands;
    if (agent === undefined) throw usageError("Missing argument.", "Usage: belay hook <agent>");
    const input = await readAll();
    const environment = Object.fromEntries(
      Object.entries(process.env).filter(([name]) =>
        HOOK_ENVIRONMENT.some((beginning) => name.startsWith(beginning)),
      ),
    );
    // belay-hook has found it already, where it could
    environment[CLIENT_VARIABLE] ||= findClient(process.ppid);
    const event = { agent, input, cwd: call.directory, environment };
    const { text, isLeft } = await answerInTime(call.home, event);
    writeSync(1, isAnswer(text) ? text : NEUTRAL_ANSWER);
    if (isLeft) {
      startAwaitedResident();
      process.exit(EXIT.done);
    }
    return EXIT.done;
  },
});

const FOR_AGENTS = [
  "belay: This command is for agents: it reads one event of theirs on its standard input, and this is a terminal.",
  "→ `belay init` puts it into their settings; `belay doctor` says whether it is called.",
].join("\n");

/** Only a device can be a terminal; to load what knows for sure would hold up every hook. */
function isTerminal(): boolean {
  return fstatSync(0).isCharacterDevice() && process.stdin.isTTY;
}

/**
 * Reads standard input to its end, so that the agent can finish writing. Of a giant event only the beginning
 * and the end are kept. Synchronous, because setting up a stream would take longer than reading.
 */
async function readAll(): Promise<Buffer> {
  const kept = new KeptInput();
  const piece = Buffer.allocUnsafe(64 * 1024);
  try {
    for (let size = 0; (size = readSync(0, piece)) > 0;) kept.add(piece.subarray(0, size));
  } catch (error) {
    // the agent has not written yet, and the input is non-blocking
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
