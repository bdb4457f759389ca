import { defineCommand } from "../call/command.ts";
import { EXIT } from "@belay/protocol/errors";
import { threadJson } from "@belay/server/json";
import { withWorkspace } from "../wiring/open-workspace.ts";
import { threadTable } from "../output/thread-table.ts";

export default defineCommand({
  usage: "threads",
  about:
    "Threads, which are conversations with agents, newest first: id, agent, last event, open session, title, what they hold.",
  options: {},
  operands: { min: 0, max: 0 },
  examples: ["belay threads"],
  run: (call) =>
    withWorkspace(call, async (workspace) => {
      const threads = await workspace.threads.list();
      if (call.json) call.output.json({ threads: threads.map((thread) => threadJson(thread, workspace.id)) });
      else if (threads.length === 0) call.output.print("No threads yet: `belay run -- <agent>` makes one.");
      else call.output.print(threadTable(threads, call.output));
      return EXIT.done;
    }),
});
