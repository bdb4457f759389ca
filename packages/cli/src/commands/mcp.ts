import { once } from "node:events";
import type { Workspace } from "@belay/engine";
import { ProtectedPlace } from "../agents/protected-place.ts";
import { defineCommand } from "../call/command.ts";
import { ContractError, EXIT, usageError } from "@belay/protocol/errors";
import { readVersion } from "../version.ts";

export default defineCommand({
  usage: "mcp",
  about: [
    "Serves checkpoints to programs that speak the Model Context Protocol, on standard input and output.",
    "They can inspect and take checkpoints, and propose to go back, which you confirm.",
  ].join("\n"),
  options: {},
  operands: { min: 0, max: 0 },
  examples: ["claude mcp add belay -- belay mcp"],
  run: async (call) => {
    if (process.stdin.isTTY)
      throw usageError(
        "`belay mcp` is for agents: it speaks the Model Context Protocol on its standard input, and this is a terminal.",
        "Name it in your agent's settings, for example: `claude mcp add belay -- belay mcp`",
      );
    const { serveMcp } = await import("@belay/agents/mcp");
    const { createMcpHost, createMcpPlans } = await import("../mcp/mcp-workspace.ts");
    const onError = (error: Error) => call.output.warn(error.message);
    const plans = createMcpPlans();
    await using place = new ProtectedPlace(call.home, call.directory, plans);
    const host = createMcpHost((work) => whereProtected(place, call.directory, work), plans, call.home);
    const server = serveMcp(host, { version: readVersion(), onError });
    await once(process.stdin, "end");
    await server.close();
    return EXIT.done;
  },
});

/**
 * [R155] In an unprotected directory the model is told what the user can do, and the server keeps running.
 */
async function whereProtected<Result>(
  place: ProtectedPlace,
  directory: string,
  work: (workspace: Workspace) => Promise<Result>,
): Promise<Result> {
  try {
    return await place.with(work);
  } catch (error) {
    if ((error as { code?: string }).code !== "WORKSPACE_NOT_FOUND") throw error;
    throw new ContractError(
      "WORKSPACE_NOT_FOUND",
      `${directory} is not protected, so there are no checkpoints. Nothing was changed.`,
      {
        hint: "The user can protect it with `belay init` in a terminal there; these tools work from then on, without a restart.",
      },
    );
  }
}
