import { annotate } from "../command-parts/annotation.ts";
import { defineCommand } from "../call/command.ts";
import { visible } from "../output/visible.ts";

export default defineCommand({
  usage: "untag <tag>",
  about: "Removes a tag; the checkpoint stays.",
  options: {},
  operands: { min: 1, max: 1 },
  examples: ["belay untag works"],
  run: (call) => {
    const [tag = ""] = call.operands;
    return annotate(
      call,
      (workspace) => workspace.untag(tag),
      () => `no longer tagged ${visible(tag)}`,
    );
  },
});
