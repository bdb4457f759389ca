import { once } from "node:events";
import { defineCommand } from "../command.ts";
import { EXIT } from "../exit-code.ts";
import { withWorkspace } from "../open-workspace.ts";
import { readVersion } from "../version.ts";

export default defineCommand({
  usage: "mcp",
  about: [
    "Serves checkpoints to programs that speak the Model Context Protocol, on standard input and output.",
    "They can look, take checkpoints and propose to go back, which you are asked about.",
  ].join("\n"),
  options: {},
  operands: { min: 0, max: 0 },
  run: (call) =>
    withWorkspace(call, async (workspace) => {
      const { serveMcp } = await import("@belay/agents/mcp");
      const { createMcpHost } = await import("../agents/mcp-workspace.ts");
      const onError = (error: Error) => call.output.warn(error.message);
      const server = serveMcp(createMcpHost(workspace), { version: readVersion(), onError });
      await once(process.stdin, "end");
      await server.close();
      return EXIT.done;
    }),
});
