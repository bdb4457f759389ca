import { annotate } from "../command-parts/annotation.ts";
import { defineCommand } from "../call/command.ts";
import { visible } from "../output/visible.ts";

export default defineCommand({
  usage: "tag <checkpoint> <tag>",
  about:
    "Tags a checkpoint: the tag finds it, and tagged checkpoints are never pruned. Each tag is on one checkpoint.",
  options: {},
  operands: { min: 2, max: 2 },
  examples: ["belay tag @ works"],
  run: (call) => {
    const [ref = "", tag = ""] = call.operands;
    return annotate(
      call,
      (workspace) => workspace.tag(ref, tag),
      ({ tags }) => `tagged ${tags.map(visible).join(", ")}`,
    );
  },
});
