import { annotate } from "../command-parts/annotation.ts";
import { defineCommand } from "../call/command.ts";
import { visible } from "../output/visible.ts";

export default defineCommand({
  usage: "rename <checkpoint> <name>",
  about: [
    "Names a checkpoint, so that it is found by that name and never pruned. A name does not start with @,",
    "is not all digits and does not look like an id. An empty name takes the name away.",
  ].join("\n"),
  options: {},
  operands: { min: 2, max: 2 },
  examples: ["belay rename 12 before-refactoring"],
  run: (call) => {
    const [ref = "", name = ""] = call.operands;
    return annotate(
      call,
      (workspace) => workspace.rename(ref, name),
      ({ name: given }) => (given === null ? "has no name any more" : `is now called "${visible(given)}"`),
    );
  },
});
