import { printCheckpoints } from "../command-parts/checkpoint-list.ts";
import { ANY_NUMBER, defineCommand } from "../call/command.ts";
import { usageError } from "@belay/protocol/errors";
import { positiveNumber } from "../call/number-option.ts";
import { withWorkspace } from "../wiring/open-workspace.ts";
import { visible } from "../output/visible.ts";

export default defineCommand({
  usage: "search <text> [--limit n | --all]",
  about:
    "Checkpoints whose name, note, tag, description, prompt or changed paths contain the text, newest first.",
  options: {
    limit: {
      type: "string",
      short: "n",
      value: "n",
      about: "show at most n (default: 20 on a terminal, otherwise all)",
    },
    all: { type: "boolean", about: "show all" },
  },
  operands: { min: 1, max: ANY_NUMBER },
  examples: ["belay search parser", "belay search src/main.ts"],
  run: (call) => {
    const text = call.operands.join(" ");
    if (text.trim() === "") throw usageError("The search text is empty.", "Usage: belay search <text>");
    const given = positiveNumber("--limit", call.options.limit);
    return withWorkspace(call, (workspace) =>
      printCheckpoints(call, workspace, {
        filter: { search: text },
        limit: call.options.all === true ? Number.POSITIVE_INFINITY : given,
        whenEmpty: `Nothing found for "${visible(text)}". \`belay list\` shows all checkpoints.`,
      }),
    );
  },
});
